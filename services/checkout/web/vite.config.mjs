// Builds the page into dist: `npm run build` does, and so does the image.
import path from 'node:path';
import { compressed } from '@pf/http/compressed';
import { defineConfig } from 'vite';

const outDir = path.join(import.meta.dirname, 'dist');

export default defineConfig({
  root: import.meta.dirname,
  plugins: [compressed(outDir)],
  build: {
    outDir,
    emptyOutDir: true,
    // The CSP allows no data: URL but for images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
