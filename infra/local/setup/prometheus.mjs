// Prometheus and its promtool from the PATH, else unpacked from Debian's package into .tools/prometheus, else (promtool
// alone) installed with Go: what `npm run test:alerts` tries the alerts with.
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { debian, hasDebian } from './debian.mjs';
import { isThere, run } from './run.mjs';
import { SetupError, step } from './say.mjs';

/** The oldest that Prometheus 3 is; needs Go 1.24. */
const MODULE = 'github.com/prometheus/prometheus/cmd/promtool@v0.305.0';
const WAYS_OUT =
  'The alerts are tried with promtool. Install Prometheus (`apt-get install prometheus`, `brew install ' +
  'prometheus`), or Go 1.24 or newer.';

/**
 * @param {string} tools
 * @returns {Promise<string | null>} the folder of promtool; null: it is on the PATH
 */
export async function prometheus(tools) {
  if (await isThere('promtool')) return null;
  const folder = path.join(tools, 'prometheus');
  const bin = path.join(folder, 'usr', 'bin');
  if (existsSync(path.join(bin, 'promtool'))) return bin;
  if (await hasDebian()) await step("Prometheus from Debian's package", () => debian(['prometheus'], folder));
  else if (await isThere('go', ['version'])) await step('promtool with Go, once; some minutes', () => install(bin));
  else
    throw new SetupError(
      `No promtool: it is not on the PATH, and this machine has neither Debian's packages nor Go. ${WAYS_OUT}`,
    );
  return bin;
}

async function install(bin) {
  mkdirSync(bin, { recursive: true });
  await run('go', ['install', MODULE], { env: { ...process.env, GOBIN: bin } });
}
