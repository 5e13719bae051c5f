import { describe, expect, it } from '@jest/globals';
import { type RpcCall, type RpcNode, RpcUpstreamError } from '@pf/rpc';
import { rulesOf, UNTOLD_RULES, warningOfRules } from '../src/rules.ts';
import { solana } from '../src/solana/family.ts';
import { tempo } from '../src/tempo/family.ts';

/** A node that answers this to each call; an error: it does not respond so. */
const nodeOf = (answer: unknown): RpcNode => ({
  name: 'node',
  plan: {},
  callsIn: () => Number.POSITIVE_INFINITY,
  call: <T>(call: RpcCall<T>): Promise<T> => {
    if (answer instanceof Error) return Promise.reject(answer);
    return Promise.resolve(answer === 'unsupported' ? (null as T) : call.parse(answer));
  },
  batch: () => Promise.reject(new Error('only single calls')),
});
const FAILED = new RpcUpstreamError('it broke off', 'maybe');

describe('the rules of Solana', () => {
  it.each([
    ['a certificate', { block: { slot: 459_652_999, blockId: [] }, signature: {} }, 'Alpenglow'],
    ['no certificate', null, 'TowerBFT'],
    ['no such method, as before Agave 4.3', 'unsupported', null],
    ['no response', FAILED, null],
  ])('are told by %s', async (_what, answer, name) => {
    expect(await rulesOf(solana, nodeOf(answer))).toEqual({ name, unknown: [] });
  });
});

describe('the rules of Tempo', () => {
  const fork = (name: string, active = true, activationTime = 1_791_900_000) => ({ name, active, activationTime });
  const said = (...schedule: readonly object[]) => ({ active: 'T12', schedule: [fork('T1A'), ...schedule] });

  it.each([
    ['all of which are known', said(fork('T12')), []],
    ['of which one is active and unknown', said(fork('T13')), ['T13']],
    ['of which one is scheduled', said(fork('T13', false, 1_796_000_000)), ['T13 from 2026-11-30T00:53:20.000Z on']],
    ['of which one has no date', said(fork('T14', false, 2 ** 64)), []],
  ])('are told by a schedule %s', async (_what, answer, unknown) => {
    expect(await rulesOf(tempo, nodeOf(answer))).toEqual({ name: 'T12', unknown });
  });

  it('are not told by a node that fails', async () => {
    expect(await rulesOf(tempo, nodeOf(FAILED))).toBe(UNTOLD_RULES);
  });

  it('are warned of at the start, once, where they are unknown, and keep no upstream from being used', async () => {
    const warned: object[] = [];
    const log = { warn: (what: object) => void warned.push(what) };
    const identify = warningOfRules(() => Promise.resolve(null), tempo, 'tempo', log);
    expect(await identify(nodeOf(said(fork('T13'))))).toBeNull();
    expect(await identify(nodeOf(said(fork('T13'))))).toBeNull();
    expect(warned).toEqual([{ network: 'tempo', upstream: 'node', unknown: ['T13'] }]);
  });
});
