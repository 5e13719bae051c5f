import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Address, IntentId } from '@pf/domain';
import type { RpcNode, RpcPool } from '@pf/rpc';
import type { Scan } from '../../../src/base/observe/context.ts';
import { Memory } from '../../../src/base/observe/memory.ts';
import type { Seen } from '../../../src/base/observe/position.ts';
import { scanAgain } from '../../../src/base/observe/scan.ts';
import type { Sighting } from '../../../src/base/observe/sighting.ts';
import { FIRST_MAX, Sightings, WAITING_MAX } from '../../../src/base/observe/sightings.ts';
import type { Log } from '../../../src/evm/calls.ts';
import { networkOf } from '../../../src/index.ts';
import { Watched } from '../../conformance/watching.ts';
import { CHAIN, fulfiller, terms } from '../payments.ts';
import { blockHashOf, depositOf, logAt, sighting } from './arriving.ts';

const many = (count: number, from = 0): Sighting[] =>
  Array.from({ length: count }, (_, place) => sighting(from + place));
const OTHER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC' as Address;

let watch: Watched;
beforeEach(() => {
  watch = new Watched();
  watch.add('pi_1', terms);
  watch.own(terms.requestor, 'acc_1');
});

describe('Sightings', () => {
  it('take no more than there is room for, and then what waits already', () => {
    const sightings = new Sightings(watch, []);
    expect(many(WAITING_MAX).every(sightings.take)).toBe(true);
    expect(sightings.take(sighting(WAITING_MAX))).toBe(false);
    expect(sightings.take(sighting(0))).toBe(true);
    expect(sightings.all([])).toHaveLength(WAITING_MAX);
  });

  it('take without room what the ledger has, and forget it', () => {
    const known = sighting(WAITING_MAX);
    const deposit = depositOf(known);
    watch.deposits.set(deposit.id, deposit);
    const sightings = new Sightings(watch, [known, ...many(WAITING_MAX)]);
    expect(sightings.take(known)).toBe(true);
    expect(sightings.all([])).toHaveLength(WAITING_MAX);
  });

  it('leave more of a first reading to the second, and keep what waited', () => {
    const sightings = new Sightings(watch, []);
    for (const one of many(2 * FIRST_MAX)) sightings.note(one);
    expect(sightings.all([])).toHaveLength(FIRST_MAX);
    expect(new Sightings(watch, many(WAITING_MAX)).all([])).toHaveLength(WAITING_MAX);
  });

  it('keep what came first to one account, however much waits of another', () => {
    watch.add('pi_2', { ...terms, requestor: OTHER });
    watch.own(OTHER, 'acc_2');
    const sightings = new Sightings(watch, many(WAITING_MAX));
    sightings.note(sighting(WAITING_MAX, { to: OTHER }));
    const all = sightings.all([]);
    expect(all).toHaveLength(WAITING_MAX + 1);
    expect(all.slice(0, 2).map(({ to }) => to)).toContain(OTHER);
  });

  it('are none where deposits are not asked for', () => {
    watch.own(terms.requestor);
    const sightings = new Sightings(watch, many(3));
    sightings.note(sighting(4));
    expect(many(2 * WAITING_MAX).every(sightings.take)).toBe(true);
    expect(sightings.all([])).toEqual([]);
  });

  it('are none that pay an intent, as was seen or as the ledger has it', () => {
    const [seen, settled, none] = [sighting(1), sighting(2), sighting(3)];
    const transferOf = ({ from, ...one }: Sighting) => ({
      ...one,
      from: from ?? fulfiller,
      reference: terms.reference,
    });
    watch.apply({
      kind: 'observation',
      type: 'landed',
      intentId: 'pi_1' as IntentId,
      data: { hash: settled.hash, level: 'confirmed', transfer: transferOf(settled) },
    });
    const landing: Seen = {
      kind: 'landed',
      intentId: 'pi_1' as IntentId,
      hash: seen.hash,
      transfer: transferOf(seen),
      seenAt: 0,
      reported: false,
    };
    expect(new Sightings(watch, [seen, settled, none]).all([landing])).toEqual([none]);
  });
});

describe('The second reading', () => {
  const logs: readonly Log[] = [logAt(101n, 0n), logAt(101n, 1n), logAt(101n, 2n), logAt(102n, 0n)];
  const node = {
    name: 'node.example',
    plan: {},
    callsIn: () => Number.POSITIVE_INFINITY,
    batch: async (calls: readonly { readonly params: readonly unknown[] }[]) =>
      calls.map(({ params: [hash] }) => ({ hash, from: fulfiller, nonce: 1n, to: terms.tokenAddress, input: '0x' })),
  } as unknown as RpcNode;

  const read = async (room: number, from: bigint, after = -1n) => {
    const memory = Object.assign(new Memory(), {
      logs: {
        read: async (_node: RpcNode, _wanted: unknown, first: bigint, last: bigint) => ({
          logs: logs.filter(({ blockNumber }) => blockNumber >= first && blockNumber <= last),
          end: { number: last, hash: blockHashOf(last) },
        }),
      },
    }) as unknown as Memory;
    const taken: string[] = [];
    const context: Scan = {
      pool: { size: 1 } as RpcPool,
      node,
      network: networkOf(CHAIN),
      watch,
      memory,
      now: 0,
      waitsSince: () => undefined,
      takeSighting: ({ block, index }) => taken.length < room && taken.push(`${block}/${index}`) > 0,
    };
    const { end, within } = await scanAgain(context, from, 102n, null, after);
    return { end: end.number, within, taken };
  };

  it('ends before the first transfer for which there is no room, also within a block, and goes on there', async () => {
    expect(await read(2, 101n)).toEqual({ end: 100n, within: 1n, taken: ['101/0', '101/1'] });
    expect(await read(2, 101n, 1n)).toEqual({ end: 102n, within: undefined, taken: ['101/2', '102/0'] });
  });

  it('ends where it was while there is no room, and with a block that was the last to have some', async () => {
    expect(await read(0, 101n, 1n)).toEqual({ end: 100n, within: 1n, taken: [] });
    expect(await read(3, 101n)).toEqual({ end: 101n, within: undefined, taken: ['101/0', '101/1', '101/2'] });
  });
});
