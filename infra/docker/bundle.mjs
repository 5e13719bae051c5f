// Bundles every command of the image with all that it imports, from the TypeScript sources, into dist/main.js and
// chunks beside it: a process that reads thirty files instead of two thousand starts in half of the CPU time.
// Containers, the local stack and tests run the result. `npm run build` makes it, so does the image, and so do tests
// after an edit (packages/testing/src/stack/image.ts).
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';

const root = path.join(import.meta.dirname, '../..');
const dist = path.join(import.meta.dirname, 'dist');
/** Processes that run may still load chunks of earlier builds. */
const KEPT_MS = 24 * 60 * 60 * 1_000;

/** A module of ours finds what lies beside its source: seen from the bundle, that is elsewhere. */
const places = {
  name: 'places',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.ts$/ }, async ({ path: file }) => {
      const text = await readFile(file, 'utf8');
      const from = path.relative(dist, file);
      const contents = text
        .replaceAll('import.meta.url', `new URL(${JSON.stringify(from)}, import.meta.url).href`)
        .replaceAll('import.meta.dirname', `(import.meta.dirname + ${JSON.stringify(`/${path.dirname(from)}`)})`);
      return { contents, loader: 'ts' };
    }),
};

/** Whole or not at all: another process may read it. */
async function write(name, contents) {
  const file = path.join(dist, name);
  await writeFile(`${file}.${process.pid}`, contents);
  await rename(`${file}.${process.pid}`, file);
}

const began = new Date();
const { outputFiles, metafile } = await build({
  absWorkingDir: root,
  entryPoints: ['infra/docker/src/main.ts'],
  outdir: dist,
  bundle: true,
  // Each command loads what it needs, and no more.
  splitting: true,
  chunkNames: '[name]-[hash]',
  format: 'esm',
  platform: 'node',
  target: 'node24',
  conditions: ['source'],
  // Native code, and CommonJS that is loaded on demand.
  external: ['@duckdb/node-api', '@aws-sdk/*', '@smithy/*'],
  // Stack traces name the lines that were written.
  sourcemap: 'linked',
  sourcesContent: false,
  // With it CommonJS modules load those of Node.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
  },
  plugins: [places],
  metafile: true,
  write: false,
  logLevel: 'warning',
});

// Of CommonJS that a chunk loads on demand esbuild offers no export by its name.
const nameless = Object.entries(metafile.inputs).flatMap(([file, { imports }]) =>
  imports
    .filter(({ kind, path: to }) => kind === 'dynamic-import' && metafile.inputs[to]?.format === 'cjs')
    .map(({ path: to }) => `${file} imports ${to}`),
);
if (nameless.length > 0) throw new Error(`Leave outside what loads CommonJS on demand:\n${nameless.join('\n')}`);

await mkdir(dist, { recursive: true });
const files = outputFiles.map(({ path: file, contents }) => ({ name: path.basename(file), contents }));
const isEntry = ({ name }) => name === 'main.js';
await Promise.all(files.filter((file) => !isEntry(file)).map(({ name, contents }) => write(name, contents)));
// What it loads is there.
for (const { name, contents } of files.filter(isEntry)) await write(name, contents);
const sources = Object.keys(metafile.inputs).filter((file) => !file.includes('node_modules/'));
await write('sources.json', JSON.stringify(sources));
await utimes(path.join(dist, 'sources.json'), began, began);

const written = new Set(files.map(({ name }) => name));
for (const name of (await readdir(dist)).filter((name) => name.includes('.js') && !written.has(name))) {
  const file = path.join(dist, name);
  // Null: another build has just given it its name.
  const found = await stat(file).catch(() => null);
  if (found && began - found.mtimeMs > KEPT_MS) await rm(file, { force: true });
}
