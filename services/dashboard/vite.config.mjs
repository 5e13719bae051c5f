// Builds the web application into dist/web: `npm run build` does, and so does the image.
import path from 'node:path';
import { compressed } from '@pf/http/compressed';
import { defineConfig } from 'vite';
import { sound } from '../../packages/client/scripts/sound-plugin.ts';

const here = import.meta.dirname;
const outDir = path.join(here, 'dist', 'web');

export default defineConfig({
  root: path.join(here, 'web'),
  plugins: [sound(), compressed(outDir)],
  resolve: {
    // From its sources: the build needs no compiled packages. Beside sounds these are the only modules of ours that
    // are bundled; all other imports from packages are types.
    alias: {
      '@pf/chains/networks': path.join(here, '../../packages/chains/src/networks.ts'),
      '@pf/contracts/unseen': path.join(here, '../../packages/contracts/src/unseen.ts'),
    },
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
