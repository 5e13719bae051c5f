// For the Vite builds of our own pages: `@pf/client/sound` from its sources, so that they need no compiled packages.
import path from 'node:path';
import { soundScript } from './sound-script.ts';

/** A name for which servers have a policy of its own. */
const SCRIPT = 'pf-sound.js';
const folder = path.join(import.meta.dirname, '../src/sound');

/** What the plugin uses of Vite's. */
interface Output {
  emitFile(file: { readonly type: 'asset'; readonly fileName: string; readonly source: string }): void;
}

/** A plugin of Vite that writes the script for sounds to `/pf-sound.js`, where the module then looks for it. */
export const sound = () => ({
  name: 'sound',
  enforce: 'pre' as const,
  config: () => ({ resolve: { alias: { '@pf/client/sound': path.join(folder, 'index.ts') } } }),
  // Beside the client's sources there is none.
  transform: (code: string, id: string): string | null =>
    id === path.join(folder, 'worker.ts')
      ? code.replace(`new URL('./${SCRIPT}', import.meta.url)`, `new URL('/${SCRIPT}', location.href)`)
      : null,
  async generateBundle(this: Output): Promise<void> {
    this.emitFile({ type: 'asset', fileName: SCRIPT, source: await soundScript() });
  },
});
