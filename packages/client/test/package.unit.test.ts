import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { describe, expect, it } from '@jest/globals';

const at = (file: string): string => new URL(file, import.meta.url).pathname;

describe('@pf/client', () => {
  it('bundles for browsers to less than 15 KB with its dependencies', async () => {
    // With the platform "browser", an import of a Node module fails to resolve.
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
