// Bundles the page into dist: `npm run build` does, and so does the image.
import path from 'node:path';
import { compressed } from '@pf/http/compressed';
import { defineConfig } from 'vite';
import { sound } from '../../../packages/client/scripts/sound-plugin.ts';

const here = import.meta.dirname;
const outDir = path.join(here, 'dist');

export default defineConfig({
  root: here,
  plugins: [sound(), compressed(outDir)],
  resolve: {
    // From its sources: the build needs no compiled packages. Beside sounds it is the only module of ours that is
    // bundled.
    alias: { '@pf/chains/networks': path.join(here, '../../../packages/chains/src/networks.ts') },
  },
  build: {
    outDir,
    emptyOutDir: true,
    // A test adds up what a visit loads.
    manifest: true,
    // The first versions with light-dark().
    target: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
    // The CSP allows data: URLs for images only, and files are cached for ever.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
