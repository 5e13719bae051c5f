// Builds the web application into dist/web: `npm run build` does, and so does the image.
import path from 'node:path';
import { compressed } from '@pf/http/compressed';
import { defineConfig } from 'vite';
import { soundScript } from '../../packages/client/scripts/sound-script.ts';

const here = import.meta.dirname;
const outDir = path.join(here, 'dist', 'web');

/** The client's script for sounds, under a name for which the server has a policy of its own. */
const SOUND_SCRIPT = 'pf-sound.js';
const sound = () => ({
  name: 'sound',
  enforce: 'pre',
  // Beside the client's sources there is none.
  transform: (code, id) =>
    id.endsWith('/client/src/sound/worker.ts')
      ? code.replace(`new URL('./${SOUND_SCRIPT}', import.meta.url)`, `new URL('/${SOUND_SCRIPT}', location.href)`)
      : null,
  async generateBundle() {
    this.emitFile({ type: 'asset', fileName: SOUND_SCRIPT, source: await soundScript() });
  },
});

export default defineConfig({
  root: path.join(here, 'web'),
  plugins: [sound(), compressed(outDir)],
  resolve: {
    // From their sources: the build needs no compiled packages. These are the only modules of ours that are bundled;
    // all other imports from packages are types.
    alias: {
      '@pf/chains/networks': path.join(here, '../../packages/chains/src/networks.ts'),
      '@pf/client/sound': path.join(here, '../../packages/client/src/sound/index.ts'),
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
