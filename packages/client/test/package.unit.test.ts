import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { describe, expect, it } from '@jest/globals';
import { soundScript } from '../scripts/sound-script.ts';

const at = (file: string): string => new URL(file, import.meta.url).pathname;

/** With the platform "browser", an import of a Node module fails to resolve. */
async function bundled(file: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [at(file)],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    conditions: ['source'],
  });
  return outputFiles[0]?.text ?? '';
}

describe('@pf/client', () => {
  it('bundles for browsers to less than 16 KB with its dependencies, without sounds', async () => {
    const client = await bundled('../src/index.ts');
    expect(gzipSync(client).length).toBeLessThan(16_000);
    expect(client).not.toContain('AudioContext');
  });

  it('adds less than 5 KB for sounds, and a script of less than 70 KB that is loaded when they are used', async () => {
    expect(gzipSync(await bundled('../src/sound/index.ts')).length).toBeLessThan(5_000);
    expect(gzipSync(await soundScript()).length).toBeLessThan(70_000);
  });
});
