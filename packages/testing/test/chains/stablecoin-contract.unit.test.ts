import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';

const folder = path.join(import.meta.dirname, '../../contracts');

describe('contracts/Stablecoin.json', () => {
  it('equals the compiled contracts/Stablecoin.sol (else run pnpm --filter @pf/testing contracts)', async () => {
    const { compile } = (await import(path.join(folder, 'compile.mjs'))) as { compile: () => unknown };
    expect(JSON.parse(await readFile(path.join(folder, 'Stablecoin.json'), 'utf8'))).toEqual(compile());
  });
});
