// npm run test:k8s -- [OVERLAY …]: validates every overlay for the oldest Kubernetes, compares the Helm chart with it,
// then upgrades it and takes it back on a real API server. `chart` names the chart, `gitops` the examples for Argo CD
// and Flux.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { commandLine } from '@pf/local/command';
import { checkChart, checkRotation, tryChart } from './chart-checks.ts';
import { tryExamples } from './gitops-checks.ts';
import { tryPages } from './runbooks/checks.ts';
import { findPrograms } from './tools.ts';
import { releasedManifests, type Site, tryUpgrades } from './upgrades.ts';
import { OLDEST_KUBERNETES, validate } from './validation.ts';

const root = path.resolve(import.meta.dirname, '../../..');
/** Of the repository, and with components that none of its overlays has. */
const FOLDERS = [path.join(root, 'k8s', 'overlays'), path.join(root, 'infra', 'k8s-checks', 'variants')];
/** Differ from others in names and values only: they are validated and compared with the chart, but not upgraded. */
const NOT_UPGRADED = ['amazon-msk', 'kafka-oauth'];
/** Control planes at once: each takes half a gigabyte. */
const AT_ONCE = 2;
const print = (text: string): void => void process.stdout.write(`${text}\n`);

async function check(chosen: readonly string[], folder: string): Promise<readonly string[]> {
  const overlays: string[] = [];
  for (const place of FOLDERS)
    for (const name of (await readdir(place)).sort())
      if (chosen.length === 0 || chosen.includes(name)) overlays.push(path.join(place, name));
  const others = ['chart', 'gitops'].filter((name) => chosen.length === 0 || chosen.includes(name));
  if (overlays.length + others.length === 0) return [`There is no overlay ${chosen.join(', ')}.`];
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
  const place = { root, folder, programs: await findPrograms(path.join(root, '.tools', 'kubernetes'), print) };
  if (others.includes('chart')) {
    await attempt('chart', () => checkChart(place));
    await attempt('rotation', () => checkRotation(place));
  }
  const release = await releasedManifests(place);
  if (release === null) print('  Version 1.0.0 is not in the history of git: no upgrade from it was tried.');
  // The longest first.
  const waiting = overlays
    .filter((overlay) => !NOT_UPGRADED.includes(path.basename(overlay)))
    .sort((one) => (path.basename(one) === 'production' ? -1 : 1))
    .map((overlay) => ({
      overlay,
      work: () => {
        const name = path.basename(overlay);
        const afterwards = name === 'production' ? (site: Site) => tryPages(place, site) : undefined;
        return tryUpgrades(place, overlay, release, name === 'local', afterwards);
      },
    }));
  if (others.includes('chart')) waiting.push({ overlay: 'chart', work: () => tryChart(place) });
  if (others.includes('gitops')) waiting.push({ overlay: 'gitops', work: () => tryExamples(place) });
  const next = async (): Promise<void> => {
    for (let current = waiting.shift(); current !== undefined; current = waiting.shift())
      await attempt(current.overlay, current.work);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
  return problems;
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130));
const { operands } = commandLine({
  name: 'npm run test:k8s',
  about: 'Upgrades the Kubernetes manifests on an API server, and takes them back.',
  operands: { takes: '[OVERLAY …]', about: 'Only these, or `chart` or `gitops`', most: 100 },
});
const folder = await mkdtemp(path.join(os.tmpdir(), 'pf-k8s-'));
const problems = await check(operands, folder)
  .catch((error: unknown) => [error instanceof Error ? error.message : String(error)])
  .finally(() => rm(folder, { recursive: true, force: true }));
for (const problem of problems) process.stderr.write(`  ✗ ${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
