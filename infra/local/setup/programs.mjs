// Node 24 and pnpm, in .tools/programs: nothing on the machine is changed.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { run } from './run.mjs';
import { SetupError, step } from './say.mjs';
import { digest, unlessDone } from './stamps.mjs';

const NODE = '24';
const PNPM = '10.34.9';

/**
 * @param {string} tools
 * @returns {Promise<{ node: string, pnpm: string, path: string }>} the programs, and a PATH on which they come first
 */
export async function programs(tools) {
  const folder = path.join(tools, 'programs');
  const modules = path.join(folder, 'node_modules');
  const newEnough = Number(process.versions.node.split('.')[0]) >= Number(NODE);
  // The package `node` would fetch this one in an install script, which newer npm does not run.
  const platform = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const packages = [`pnpm@${PNPM}`, ...(newEnough ? [] : [`${platform}@${NODE}`])];
  const node = newEnough ? process.execPath : path.join(modules, platform, 'bin', 'node');

  await unlessDone({
    tools,
    name: 'programs',
    input: () => digest(...packages, process.arch),
    result: newEnough ? path.join(modules, 'pnpm') : node,
    work: () =>
      step(`pnpm ${PNPM}${newEnough ? '' : ` and Node ${NODE}, as this machine has ${process.versions.node}`}`, async () => {
        mkdirSync(folder, { recursive: true });
        await run('npm', ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', '--loglevel=error', ...packages], { cwd: folder }).catch((error) => {
          throw new SetupError(`${error.message}\n\nIs the npm registry reachable? With Node ${NODE} or newer on the PATH only pnpm is needed from it.`);
        });
      }),
  });
  const entry = JSON.parse(readFileSync(path.join(modules, 'pnpm', 'package.json'), 'utf8')).bin.pnpm;
  const bin = [path.dirname(node), path.join(modules, '.bin')];
  if (!existsSync(node)) throw new SetupError(`${node} is missing. Remove ${tools} and try again.`);
  return { node, pnpm: path.join(modules, 'pnpm', entry), path: [...bin, process.env.PATH].join(path.delimiter) };
}
