// Dependencies, the Prisma client, our own packages compiled; services, web applications and the script for sounds
// bundled; the client packed.
import { existsSync, readdirSync, renameSync } from 'node:fs';
import path from 'node:path';
import { run } from './run.mjs';
import { NODE } from './programs.mjs';
import { allOf, SetupError, step } from './say.mjs';
import { contentsOf, digest, timesOf, unlessDone } from './stamps.mjs';

/** More than one of either does the same work twice: a third more CPU time, and on two cores nothing is gained. */
const ALONE = ['--builders', '1', '--checkers', '1'];

/** @param {string} root */
function packageFolders(root) {
  const below = (folder) => readdirSync(path.join(root, folder)).map((name) => path.join(root, folder, name));
  const services = below('services');
  const folders = [...below('packages'), ...services, ...services.map((folder) => path.join(folder, 'web'))];
  return [...folders, ...below('infra')].filter((folder) => existsSync(path.join(folder, 'package.json')));
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

/** All packages: checks their types. @param {Place & { typescript: string }} place */
export const compile = (place) =>
  compileFolders(place, { name: 'compile', label: 'Compiled', folders: packageFolders(place.root), only: [] });

/** What programs of its users load: compiled, and as the package that a gateway serves. @param {PackPlace} place */
export async function buildClient(place) {
  const client = path.join(place.root, 'packages', 'client');
  await allOf([
    compileFolders(place, { name: 'compile-client', label: 'The client', folders: [client], only: [client] }),
    bundleSoundScript(place),
  ]);
  await packClient(place);
}

/** @typedef {Place & { pnpm: string, typescript: string }} PackPlace */

/** With the versions of the catalog in its package.json, so that any package manager installs it. */
const packClient = ({ root, tools, node, pnpm, environment }) => {
  const client = path.join(root, 'packages', 'client');
  const result = path.join(client, 'dist', 'client.tgz');
  return unlessDone({
    tools,
    name: 'pack-client',
    input: () =>
      digest(
        timesOf([path.join(client, 'dist')]),
        contentsOf([
          path.join(client, 'package.json'),
          path.join(client, 'README.md'),
          path.join(root, 'pnpm-workspace.yaml'),
        ]),
      ),
    result,
    work: () =>
      step("The client's package", async () => {
        // Whole or not at all: a gateway may be serving it.
        await run(node, [pnpm, 'pack', '--out', `${result}.new`], { cwd: client, env: environment });
        renameSync(`${result}.new`, result);
      }),
  });
};

const compileFolders = ({ root, tools, node, typescript, environment }, { name, label, folders, only }) =>
  unlessDone({
    tools,
    name,
    // tsc -b looks at every file too, in a second; this takes a few milliseconds, which `pf` is glad of.
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
    result: path.join(root, 'packages', 'client', 'dist', 'index.js'),
    work: () => step(label, () => run(node, [typescript, '-b', ...ALONE, ...only], { cwd: root, env: environment })),
  });

const SOUND_SCRIPTS = ['packages/client/scripts/sound-plugin.ts', 'packages/client/scripts/sound-script.ts'];
/** What a browser loads: where its build runs, what it reads, and what it writes last. */
const APPLICATIONS = [
  {
    name: 'bundle',
    label: 'The web application',
    folder: 'services/dashboard',
    sources: ['services/dashboard/web', 'packages/client/src/sound'],
    others: SOUND_SCRIPTS,
    result: 'services/dashboard/dist/web/index.html',
  },
  {
    name: 'bundle-checkout',
    label: 'The page on which people pay',
    folder: 'services/checkout/web',
    sources: ['services/checkout/web/src', 'packages/client/src/sound'],
    others: ['services/checkout/web/index.html', ...SOUND_SCRIPTS],
    result: 'services/checkout/web/dist/index.html',
  },
];

/** @param {Place} place with the Prisma client */
export const bundle = (place) => allOf([bundleImage(place), ...bundleApplications(place)]);

/** What containers run, and the local stack, and `pf`. @param {Place} place */
const bundleImage = ({ root, tools, node, environment }) => {
  const image = path.join(root, 'infra', 'docker');
  const script = path.join(image, 'bundle.mjs');
  return unlessDone({
    tools,
    name: 'bundle-image',
    input: () =>
      digest(
        timesOf(
          packageFolders(root)
            .filter((folder) => folder === image || !folder.startsWith(path.join(root, 'infra')))
            .map((folder) => path.join(folder, 'src')),
        ),
        contentsOf([script, path.join(root, 'pnpm-lock.yaml')]),
      ),
    result: path.join(image, 'dist', 'sources.json'),
    work: () => step('The services and pf', () => run(node, [script], { cwd: root, env: environment })),
  });
};

/** @param {Place} place */
const bundleApplications = ({ root, tools, node, environment }) =>
  APPLICATIONS.map(({ name, label, folder, sources, others, result }) => {
    const at = path.join(root, folder);
    return unlessDone({
      tools,
      name,
      input: () =>
        digest(
          timesOf(sources.map((source) => path.join(root, source))),
          contentsOf([
            path.join(at, 'vite.config.mjs'),
            path.join(root, 'packages/http/compressed.mjs'),
            path.join(root, 'packages/chains/src/networks.ts'),
            path.join(root, 'packages/contracts/src/unseen.ts'),
            path.join(root, 'pnpm-lock.yaml'),
            ...others.map((file) => path.join(root, file)),
          ]),
        ),
      result: path.join(root, result),
      work: () =>
        step(label, () =>
          run(node, [path.join(at, 'node_modules', 'vite', 'bin', 'vite.js'), 'build', '--logLevel=warn'], {
            cwd: at,
            env: environment,
          }),
        ),
    });
  });

/** @param {Place} place */
const bundleSoundScript = ({ root, tools, node, environment }) => {
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
