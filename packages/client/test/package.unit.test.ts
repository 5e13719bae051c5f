import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { describe, expect, it } from '@jest/globals';

const at = (file: string): string => new URL(file, import.meta.url).pathname;

describe('the package', () => {
  it('runs in a browser: nothing of Node is imported, and with its dependencies it is below 15 KB', async () => {
    // With platform "browser" an import of a Node module does not resolve.
    const { outputFiles } = await build({
      entryPoints: [at('../src/index.ts')],
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
      platform: 'browser',
      conditions: ['source'],
    });
    expect(gzipSync(outputFiles[0]?.contents ?? '').length).toBeLessThan(15_000);
  });
});
