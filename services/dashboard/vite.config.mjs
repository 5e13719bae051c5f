// Builds the web application into dist/web: `npm run build` does, and so does the image.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { defineConfig } from 'vite';

const here = import.meta.dirname;
const outDir = path.join(here, 'dist', 'web');

/** Below this many bytes, what compression saves is not worth a file. */
const COMPRESSED_FROM = 1_024;

/** Writes `.br` and `.gz` beside each file, so that no request waits for compression. */
const compressed = () => ({
  name: 'compressed',
  async closeBundle() {
    const entries = await readdir(outDir, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => path.join(parentPath, name));
    await Promise.all(
      files.map(async (file) => {
        const content = await readFile(file);
        if (content.length < COMPRESSED_FROM) return;
        await writeFile(`${file}.br`, await promisify(brotliCompress)(content));
        await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }));
      }),
    );
  },
});

export default defineConfig({
  root: path.join(here, 'web'),
  plugins: [compressed()],
  resolve: {
    // From its sources: the build needs no compiled packages. It is the only module of ours that is bundled; all other
    // imports from packages are types.
    alias: { '@pf/chains/networks': path.join(here, '../../packages/chains/src/networks.ts') },
  },
  build: {
    outDir,
    emptyOutDir: true,
    // A test adds up what each page loads.
    manifest: true,
    // The first versions with light-dark().
    target: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
    // The CSP allows no data: URL but for images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // Directives for frameworks that also render on the server mean nothing here.
      onLog: (level, log, handle) => log.code === 'MODULE_LEVEL_DIRECTIVE' || handle(level, log),
    },
  },
});
