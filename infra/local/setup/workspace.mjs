// Dependencies, the Prisma client, our own packages compiled, the web application and the script for sounds bundled.
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { run } from './run.mjs';
import { NODE } from './programs.mjs';
import { SetupError, step } from './say.mjs';
import { contentsOf, digest, timesOf, unlessDone } from './stamps.mjs';

/** @param {string} root */
function packageFolders(root) {
  const below = (folder) => readdirSync(path.join(root, folder)).map((name) => path.join(root, folder, name));
  return [...below('packages'), ...below('services'), ...below('infra')].filter((folder) =>
    existsSync(path.join(folder, 'package.json')),
  );
}

/**
 * Any Node from 18 on will do for pnpm, so it does not wait for ours.
 * @param {{ root: string, tools: string, pnpm: string }} place
 */
export const install = ({ root, tools, pnpm }) =>
  unlessDone({
    tools,
    name: 'install',
    input: () =>
      contentsOf(
        [root, ...packageFolders(root)]
          .map((folder) => path.join(folder, 'package.json'))
          .concat(['pnpm-lock.yaml', 'pnpm-workspace.yaml'].map((name) => path.join(root, name))),
      ),
    result: path.join(root, 'node_modules'),
    work: () =>
      step('Dependencies from the lockfile', async () => {
        const flags = [
          '--frozen-lockfile',
          // 735 packages, most of them small: more of them at once than the usual 16 halves the time.
          '--network-concurrency=64',
          // What they run on, whatever Node pnpm runs on: it leaves optional packages out that its own is too old for.
          `--config.node-version=${NODE}.0.0`,
          '--reporter=append-only',
          '--loglevel=info',
        ];
        await run(process.execPath, [pnpm, 'install', ...flags], { cwd: root }).catch((error) => {
          throw new SetupError(
            `${error.message}\n\nThe dependencies could not be installed. Is the npm registry reachable?`,
          );
        });
      }),
  });

/** @typedef {{ root: string, tools: string, node: string, environment: NodeJS.ProcessEnv }} Place */

/** @param {Place & { pnpm: string }} place */
export const generate = ({ root, tools, node, pnpm, environment }) => {
  const database = path.join(root, 'packages', 'database');
  return unlessDone({
    tools,
    name: 'generate',
    input: () =>
      contentsOf([
        path.join(database, 'prisma', 'schema.prisma'),
        path.join(database, 'package.json'),
        path.join(root, 'pnpm-lock.yaml'),
      ]),
    result: path.join(database, 'src', 'generated'),
    work: () =>
      step('The Prisma client', () =>
        run(node, [pnpm, '--filter', '@pf/database', 'generate'], { cwd: root, env: environment }),
      ),
  });
};

/** @param {Place} place */
export const compile = ({ root, tools, node, environment }) => {
  const folders = packageFolders(root);
  return unlessDone({
    tools,
    name: 'compile',
    // tsc -b looks at every file too, in two seconds; this takes a few milliseconds, which `pf` is glad of.
    input: () =>
      digest(
        timesOf(folders.map((folder) => path.join(folder, 'src'))),
        contentsOf(
          folders
            .map((folder) => path.join(folder, 'tsconfig.json'))
            .concat(path.join(root, 'tsconfig.base.json'), path.join(root, 'pnpm-lock.yaml')),
        ),
        // A missing result must not pass for a finished one.
        ...folders.map((folder) => String(existsSync(path.join(folder, 'dist')))),
      ),
    result: path.join(root, 'packages', 'database', 'dist'),
    work: () =>
      step('Compiled', () =>
        run(node, [path.join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-b'], { cwd: root, env: environment }),
      ),
  });
};

/** @param {Place} place */
export const bundle = ({ root, tools, node, environment }) => {
  const dashboard = path.join(root, 'services', 'dashboard');
  return unlessDone({
    tools,
    name: 'bundle',
    input: () =>
      digest(
        timesOf([path.join(dashboard, 'web'), path.join(root, 'packages/client/src/sound')]),
        contentsOf([
          path.join(dashboard, 'vite.config.mjs'),
          path.join(root, 'packages/chains/src/networks.ts'),
          path.join(root, 'packages/client/scripts/sound-script.ts'),
          path.join(root, 'pnpm-lock.yaml'),
        ]),
      ),
    result: path.join(dashboard, 'dist', 'web', 'index.html'),
    work: () =>
      step('The web application', () =>
        run(node, [path.join(dashboard, 'node_modules', 'vite', 'bin', 'vite.js'), 'build', '--logLevel=warn'], {
          cwd: dashboard,
          env: environment,
        }),
      ),
  });
};

/** @param {Place} place */
export const bundleSoundScript = ({ root, tools, node, environment }) => {
  const client = path.join(root, 'packages', 'client');
  const script = path.join(client, 'scripts', 'sound-script.ts');
  return unlessDone({
    tools,
    name: 'sound-script',
    input: () =>
      digest(
        timesOf([path.join(client, 'src', 'sound')]),
        contentsOf([script, path.join(client, 'package.json'), path.join(root, 'pnpm-lock.yaml')]),
      ),
    result: path.join(client, 'dist', 'sound', 'pf-sound.js'),
    work: () => step("The client's script for sounds", () => run(node, [script], { cwd: root, env: environment })),
  });
};
