import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { networks } from '@pf/chains';
import { describe, expect, it } from '@jest/globals';
import { CHAIN_NAMES, CHAINS } from '../../src/chains/chains.ts';
import { TOKENS_OF } from '../../src/chains/local-chains.ts';

describe('the token contract of the local chains', () => {
  it('is committed as its source compiles', async () => {
    const compiler = path.join(import.meta.dirname, '../../contracts/compile.mjs');
    const { compile } = (await import(compiler)) as { compile: () => unknown };
    expect(JSON.parse(await readFile(new URL('../../contracts/Stablecoin.json', import.meta.url), 'utf8'))).toEqual(
      compile(),
    );
  }, 30_000);
});

describe('the local chains', () => {
  it.each(CHAIN_NAMES)('have every token that the service knows, at its address: %s', (name) => {
    const known = networks
      .find(({ chain }) => chain === CHAINS[name].caip2)
      ?.tokens.map(({ symbol, address }) => [symbol, address]);
    expect(TOKENS_OF[name]).toEqual(Object.fromEntries(known ?? []));
  });
});
