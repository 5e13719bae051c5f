import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { networks } from '@pf/chains';
import { describe, expect, it } from '@jest/globals';
import { CHAINS } from '../src/backing.ts';
import { TOKENS } from '../src/tokens.ts';

describe('the token contract of the local chains', () => {
  it('is committed as its source compiles', async () => {
    const compiler = path.join(import.meta.dirname, '../contracts/compile.mjs');
    const { compile } = (await import(compiler)) as { compile: () => unknown };
    expect(JSON.parse(await readFile(new URL('../contracts/Stablecoin.json', import.meta.url), 'utf8'))).toEqual(compile());
  }, 30_000);

  it.each(CHAINS)('lies at the addresses of every token the service knows on $label', ({ name, chainId }) => {
    const known = networks.find(({ chain }) => chain === `eip155:${chainId}`)?.tokens.map(({ symbol, address }) => [symbol, address]);
    expect(TOKENS[name].map(({ symbol, address }) => [symbol, address])).toEqual(known);
  });
});
