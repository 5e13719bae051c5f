// npm run test:k8s -- [--compiled] [OVERLAY …]: validates every overlay for the oldest Kubernetes, then upgrades it and
// takes it back on a real API server; with --compiled only where that has been compiled before.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { findCluster } from './tools.ts';
import { releasedManifests, tryUpgrades } from './upgrades.ts';
import { OLDEST_KUBERNETES, validate } from './validation.ts';

const root = path.resolve(import.meta.dirname, '../../..');
/** Of the repository, and with components that none of its overlays has. */
const FOLDERS = [path.join(root, 'k8s', 'overlays'), path.join(root, 'infra', 'k8s-checks', 'variants')];
/** Control planes at once: each takes half a gigabyte. */
const AT_ONCE = 2;
const print = (text: string): void => void process.stdout.write(`${text}\n`);

async function check(chosen: readonly string[], isCompiling: boolean, folder: string): Promise<readonly string[]> {
  const overlays: string[] = [];
  for (const place of FOLDERS)
    for (const name of (await readdir(place)).sort())
      if (chosen.length === 0 || chosen.includes(name)) overlays.push(path.join(place, name));
  if (overlays.length === 0) return [`There is no overlay ${chosen.join(', ')}.`];
  const problems: string[] = [];
  const attempt = async (overlay: string, work: () => Promise<string>): Promise<void> => {
    const began = performance.now();
    await work().then(
      (proven) => print(`  ✓ ${proven} (${((performance.now() - began) / 1_000).toFixed(0)} s)`),
      (error: Error) => void problems.push(`${path.basename(overlay)}:\n${error.message.trim()}`),
    );
  };
  for (const overlay of overlays)
    await attempt(overlay, async () => {
      await validate(overlay, { root, folder: path.join(folder, 'built'), print });
      return `${path.basename(overlay)}: valid for Kubernetes ${OLDEST_KUBERNETES}`;
    });
  const cluster = await findCluster(path.join(root, '.tools', 'kubernetes'), isCompiling, print);
  if (cluster === null) {
    print('  No API server has been compiled here: no upgrade was tried. `npm run test:k8s` compiles one and does.');
    return problems;
  }
  const place = { root, folder, cluster };
  const release = await releasedManifests(place);
  if (release === null) print('  Version 1.0.0 is not in the history of git: no upgrade from it was tried.');
  // The longest first.
  const waiting = [...overlays].sort((one) => (path.basename(one) === 'production' ? -1 : 1));
  const next = async (): Promise<void> => {
    for (let overlay = waiting.shift(); overlay !== undefined; overlay = waiting.shift()) {
      const current = overlay;
      await attempt(current, () => tryUpgrades(place, current, release, path.basename(current) === 'local'));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
  return problems;
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130));
const { values, positionals } = parseArgs({
  options: { compiled: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const folder = await mkdtemp(path.join(os.tmpdir(), 'pf-k8s-'));
const problems = await check(positionals, !values.compiled, folder)
  .catch((error: unknown) => [error instanceof Error ? error.message : String(error)])
  .finally(() => rm(folder, { recursive: true, force: true }));
for (const problem of problems) process.stderr.write(`  ✗ ${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
