// Bundles the script beside a page, with ggwave inside: the build writes it to dist, tests make it as they need it.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const folder = path.join(import.meta.dirname, '..');
const { version } = JSON.parse(readFileSync(path.join(folder, 'node_modules/ggwave/package.json'), 'utf8')) as {
  readonly version: string;
};

export async function soundScript(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [path.join(folder, 'src/sound/script.ts')],
    bundle: true,
    minify: true,
    write: false,
    outfile: 'pf-sound.js',
    format: 'iife',
    target: 'es2022',
    // ggwave asks whether it runs in Node, and would then read files.
    external: ['fs', 'path'],
    define: { process: 'undefined' },
    banner: { js: `/* With ggwave ${version}, Copyright (c) Georgi Gerganov, MIT license */` },
  });
  return outputFiles[0]?.text ?? '';
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  mkdirSync(path.join(folder, 'dist/sound'), { recursive: true });
  writeFileSync(path.join(folder, 'dist/sound/pf-sound.js'), await soundScript());
}
