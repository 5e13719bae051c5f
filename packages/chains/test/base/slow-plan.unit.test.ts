import { beforeEach, describe, expect, it } from '@jest/globals';
import type { IntentId, Reference, TransactionHash, Transfer } from '@pf/domain';
import type { RpcNode, RpcPool } from '@pf/rpc';
import type { Scan } from '../../src/base/observe/context.ts';
import { Memory } from '../../src/base/observe/memory.ts';
import { duePendingOutcomes } from '../../src/base/observe/pending-outcomes.ts';
import type { Seen } from '../../src/base/observe/position.ts';
import { confirm, finalize } from '../../src/base/observe/settlements.ts';
import { networkOf } from '../../src/index.ts';
import { Watched } from '../conformance/watching.ts';
import { CHAIN, fulfiller, terms } from './payments.ts';

const INTENTS = 5;
const ALLOWED = 2;
const NOW = 10_000;
const word = (number: bigint): string => `0x${number.toString(16).padStart(64, '0')}`;

/** A node whose rate allows two calls of a kind in a step, and which has every block. */
const slow: RpcNode = {
  name: 'slow',
  plan: {},
  callsIn: () => ALLOWED,
  call: () => Promise.reject(new Error('only batches')),
  batch: (calls) => {
    expect(calls.length).toBeLessThanOrEqual(ALLOWED);
    const blocks = calls.map(({ params: [number] }) => ({
      number: BigInt(String(number)),
      hash: word(BigInt(String(number))),
    }));
    return Promise.resolve(blocks) as never;
  },
};

describe('a step on a plan of few calls a second', () => {
  let watch: Watched;
  let context: Scan;
  const idOf = (place: number): IntentId => `pi_${place}` as IntentId;
  const hashOf = (place: number): TransactionHash => word(BigInt(place)) as TransactionHash;
  const termsOf = (place: number): typeof terms => ({ ...terms, reference: word(BigInt(place)) as Reference });
  const transferOf = (place: number): Transfer => ({
    tokenAddress: terms.tokenAddress,
    from: fulfiller,
    to: terms.requestor,
    amount: terms.amount,
    reference: termsOf(place).reference,
    block: BigInt(100 + place),
    blockHash: word(BigInt(100 + place)),
    index: '0',
  });
  const all = Array.from({ length: INTENTS }, (_, place) => place);

  beforeEach(() => {
    watch = new Watched();
    for (const place of all) watch.add(idOf(place), termsOf(place));
    context = {
      pool: { size: 1 } as RpcPool,
      node: slow,
      network: networkOf(CHAIN),
      watch,
      memory: new Memory(),
      now: NOW,
      waitsSince: () => undefined,
    };
  });

  it('confirms as many landings as its rate allows, and keeps the others', async () => {
    let seen: readonly Seen[] = all.map((place) => ({
      kind: 'landed',
      intentId: idOf(place),
      hash: hashOf(place),
      transfer: { ...transferOf(place) },
      seenAt: 0,
      reported: false,
    }));
    const confirmed: number[] = [];
    for (const _step of [1, 2, 3]) {
      const found = await confirm(context, seen);
      confirmed.push(found.observations.length);
      seen = found.seen;
    }
    expect(confirmed).toEqual([2, 2, 1]);
    expect(seen).toHaveLength(INTENTS);
  });

  it('finalizes as many settlements as its rate allows, and goes on', async () => {
    for (const place of all)
      watch.apply({
        kind: 'observation',
        type: 'landed',
        intentId: idOf(place),
        data: { hash: hashOf(place), level: 'confirmed', transfer: transferOf(place) },
      });
    const steps: [number, boolean][] = [];
    for (const _step of [1, 2, 3]) {
      const { observations, hasMore } = await finalize(context, 1_000n);
      steps.push([observations.length, hasMore]);
    }
    expect(steps).toEqual([
      [2, true],
      [2, true],
      [1, false],
    ]);
  });

  it('reads as many receipts as its rate allows', () => {
    for (const place of all)
      watch.submit(
        {
          hash: hashOf(place),
          sender: fulfiller,
          nonce: String(place),
          lifetime: { kind: 'unlimited' },
          terms: termsOf(place),
        },
        0,
      );
    expect(duePendingOutcomes(context)).toHaveLength(ALLOWED);
  });
});
