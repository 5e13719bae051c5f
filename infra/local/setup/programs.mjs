// Node 24, pnpm, the compiler and what lists dependencies, in .tools: nothing on the machine is changed.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { run } from './run.mjs';
import { SetupError, step } from './say.mjs';
import { unlessDone } from './stamps.mjs';

/** The major version that everything of ours runs on. */
export const NODE = '24';
const PNPM = '10.34.9';
const TYPESCRIPT = '7.0.2';
const CDXGEN = '12.8.4';

/**
 * One package from the npm registry in a folder of its own.
 * @param {{ tools: string, name: string, spec: string, label: string, result: string, hint: string, flags?: string[] }}
 *   wanted
 */
async function fetchPackage({ tools, name, spec, label, result, hint, flags = [] }) {
  await unlessDone({
    tools,
    name,
    input: () => spec,
    result,
    work: () =>
      step(label, async () => {
        const folder = path.join(tools, name);
        mkdirSync(folder, { recursive: true });
        await run(
          'npm',
          ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', '--loglevel=error', ...flags, spec],
          { cwd: folder },
        ).catch((error) => {
          throw new SetupError(`${error.message}\n\n${hint}`);
        });
      }),
  });
  if (!existsSync(result)) throw new SetupError(`${result} is missing. Remove ${tools} and try again.`);
}

/**
 * @param {string} tools
 * @returns {Promise<string>} pnpm's program, to be run with Node
 */
export async function pnpm(tools) {
  const folder = path.join(tools, 'pnpm', 'node_modules', 'pnpm');
  await fetchPackage({
    tools,
    name: 'pnpm',
    spec: `pnpm@${PNPM}`,
    label: `pnpm ${PNPM}`,
    result: folder,
    hint: 'pnpm could not be fetched. Is the npm registry reachable?',
  });
  return path.join(folder, JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')).bin.pnpm);
}

/**
 * The compiler, in a third of the time of the version that ESLint's rules need. Beside that one in the lockfile, every
 * package with TypeScript as a peer would get this one.
 * @param {string} tools
 * @returns {Promise<string>} its program, to be run with Node
 */
export async function typescript(tools) {
  const result = path.join(tools, 'typescript', 'node_modules', 'typescript', 'bin', 'tsc');
  await fetchPackage({
    tools,
    name: 'typescript',
    spec: `typescript@${TYPESCRIPT}`,
    label: `TypeScript ${TYPESCRIPT}`,
    result,
    hint: 'TypeScript could not be fetched. Is the npm registry reachable?',
  });
  return result;
}

/**
 * What writes the list of what a release contains (SBOM). Its optional packages, for languages that are not used here,
 * are four times its size.
 * @param {string} tools
 * @returns {Promise<string>} its program, to be run with Node
 */
export async function cdxgen(tools) {
  const result = path.join(tools, 'cdxgen', 'node_modules', '@cyclonedx', 'cdxgen', 'bin', 'cdxgen.js');
  await fetchPackage({
    tools,
    name: 'cdxgen',
    spec: `@cyclonedx/cdxgen@${CDXGEN}`,
    label: `cdxgen ${CDXGEN}`,
    result,
    hint: 'cdxgen could not be fetched. Is the npm registry reachable?',
    flags: ['--omit=optional', '--ignore-scripts'],
  });
  return result;
}

/**
 * @param {string} tools
 * @returns {Promise<string>} the program of a Node that is new enough: the machine's own, or one of ours
 */
export async function node(tools) {
  if (Number(process.versions.node.split('.')[0]) >= Number(NODE)) return process.execPath;
  // The package `node` would fetch this one in an install script, which newer npm does not run.
  const platform = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const result = path.join(tools, 'node', 'node_modules', platform, 'bin', 'node');
  const hint =
    `Node ${NODE} could not be fetched. Is the npm registry reachable? With Node ${NODE} or newer on the PATH none ` +
    'is fetched.';
  await fetchPackage({
    tools,
    name: 'node',
    spec: `${platform}@${NODE}`,
    label: `Node ${NODE}, as this machine has ${process.versions.node}`,
    result,
    hint,
  });
  return result;
}
