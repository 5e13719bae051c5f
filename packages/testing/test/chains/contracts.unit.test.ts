import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';

const folder = path.join(import.meta.dirname, '../../contracts');

describe.each(['Stablecoin', 'Delegate', 'Puppet'])('contracts/%s.json', (name) => {
  it('equals the compiled source (else run pnpm --filter @pf/testing contracts)', async () => {
    const { compile } = (await import(path.join(folder, 'compile.mjs'))) as { compile: (name: string) => unknown };
    expect(JSON.parse(await readFile(path.join(folder, `${name}.json`), 'utf8'))).toEqual(compile(name));
  });
});
