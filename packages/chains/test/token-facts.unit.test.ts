import { describe, expect, it } from '@jest/globals';
import { getAddressEncoder } from '@solana/kit';
import { networkNamed, resolveToken } from '../src/index.ts';
import { factsIn } from '../src/solana/mint-facts.ts';
import { SYSTEM_PROGRAM_ADDRESS, TOKEN_2022_PROGRAM_ADDRESS, TOKEN_PROGRAM_ADDRESS } from '../src/solana/programs.ts';
import { differencesOf, type TokenFacts } from '../src/token-facts.ts';

const tempo = networkNamed('tempo');
const usdc = resolveToken(tempo, 'USDC.e');
if (usdc === null) throw new Error('Tempo has no USDC.e');
const good: TokenFacts = {
  symbol: 'USDC.e',
  decimals: 6,
  currency: 'USD',
  isPaused: false,
  program: null,
  blocklist: 'TIP-403 policy 7',
  obstacle: null,
};

describe('differencesOf', () => {
  it('finds none where the chain says what the registry has', () => {
    expect(differencesOf(tempo, usdc, good)).toEqual([]);
  });

  it.each<[string, Partial<TokenFacts>, string, string]>([
    ['symbol', { symbol: 'USDC' }, 'USDC.e', 'USDC'],
    ['decimals', { decimals: 18 }, '6', '18'],
    ['decimals', { decimals: null }, '6', 'none'],
    ['currency', { currency: 'EUR' }, 'USD', 'EUR'],
    ['currency', { currency: null }, 'USD', 'none'],
    ['program', { program: 'token-2022' }, 'token', 'token-2022'],
    ['pause', { isPaused: true }, 'not paused', 'paused'],
    ['transfers', { obstacle: 'a hook' }, 'open to every account', 'a hook'],
  ])('names a wrong %s: %j', (fact, change, expected, found) => {
    const remedy = expect.stringMatching(/\.$/);
    expect(differencesOf(tempo, usdc, { ...good, ...change })).toEqual([{ fact, expected, found, remedy }]);
  });

  it('names a token that a live network lacks, and takes a testnet without it as it is', () => {
    expect(differencesOf(tempo, usdc, null)).toMatchObject([{ fact: 'existence', found: 'none' }]);
    expect(differencesOf(networkNamed('tempo-moderato'), usdc, null)).toEqual([]);
  });

  it('takes any name of a token for its symbol on testnets only', () => {
    const facts = { ...good, symbol: 'usdc' };
    expect(differencesOf(networkNamed('tempo-moderato'), usdc, facts)).toEqual([]);
    expect(differencesOf(tempo, usdc, facts)).toMatchObject([{ fact: 'symbol' }]);
  });

  it('asks no currency of a contract that has none, except on Tempo', () => {
    const base = networkNamed('base');
    const [token] = base.tokens;
    expect(token && differencesOf(base, token, { ...good, symbol: 'USDC', currency: null })).toEqual([]);
  });
});

const HOOK = 'ousd2mJsPEckLHcSCDxyKD7NDGARZcfLbDZkKiatYHB';
const key = (address: string): Uint8Array => new Uint8Array(getAddressEncoder().encode(address as never));
const u16 = (value: number): Uint8Array => Uint8Array.of(value & 255, value >> 8);
const text = (value: string): Uint8Array => Buffer.concat([u16(value.length), u16(0), Buffer.from(value)]);
const extension = (type: number, ...parts: Uint8Array[]): Uint8Array =>
  Buffer.concat([u16(type), u16(Buffer.concat(parts).length), ...parts]);
const metadata = extension(19, key(HOOK), key(HOOK), text('Open USD'), text('OUSD'), text('https://x.example'));
const account = (owner: string, data: Uint8Array) => ({ lamports: 1n, owner: owner as never, executable: false, data });

/** A mint's account of 6 decimals with a freeze authority. */
function mintData(extensions: readonly Uint8Array[] = []): Uint8Array {
  const base = Buffer.alloc(extensions.length === 0 ? 82 : 166);
  base.set([6, 1, 1, 0, 0, 0, ...key(HOOK)], 44);
  if (extensions.length > 0) base[165] = 1;
  return Buffer.concat([base, ...extensions]);
}
const of2022 = (...extensions: readonly Uint8Array[]): TokenFacts | null =>
  factsIn(account(TOKEN_2022_PROGRAM_ADDRESS, mintData(extensions)));

describe('factsIn', () => {
  it('reads decimals and freeze authority of the original program, which tells no symbol', () => {
    expect(factsIn(account(TOKEN_PROGRAM_ADDRESS, mintData()))).toEqual({
      symbol: null,
      decimals: 6,
      currency: null,
      isPaused: null,
      program: 'token',
      blocklist: `freeze authority ${HOOK}`,
      obstacle: null,
    });
  });

  it('reads the symbol, the pause and harmless extensions of Token-2022', () => {
    const quiet = [extension(6, Uint8Array.of(1)), extension(14, key(HOOK), key(SYSTEM_PROGRAM_ADDRESS))];
    const paused = (flag: number): Uint8Array => extension(26, key(HOOK), Uint8Array.of(flag));
    expect(of2022(...quiet, paused(0), metadata)).toMatchObject({
      symbol: 'OUSD',
      isPaused: false,
      program: 'token-2022',
      obstacle: null,
    });
    expect(of2022(metadata, paused(1))).toMatchObject({ symbol: 'OUSD', isPaused: true });
  });

  it('names what keeps accounts from being paid: accounts that are frozen from the start, a transfer hook', () => {
    expect(of2022(extension(6, Uint8Array.of(2)))?.obstacle).toMatch(/frozen/);
    expect(of2022(extension(14, key(HOOK), key(HOOK)))?.obstacle).toMatch(HOOK);
  });

  it('reads no further than the bytes of an account that is cut off anywhere', () => {
    const { data } = account(TOKEN_2022_PROGRAM_ADDRESS, mintData([extension(26, key(HOOK), u16(1)), metadata]));
    for (let length = 0; length <= data.length; length++) {
      const facts = factsIn(account(TOKEN_2022_PROGRAM_ADDRESS, data.subarray(0, length)));
      expect(facts === null).toBe(length < 82);
      expect(facts?.symbol ?? 'OUSD').toBe('OUSD');
    }
  });

  it('finds no mint in an account that is missing, or of another program', () => {
    expect(factsIn(null)).toBeNull();
    expect(factsIn(account(SYSTEM_PROGRAM_ADDRESS, mintData()))).toBeNull();
  });
});
