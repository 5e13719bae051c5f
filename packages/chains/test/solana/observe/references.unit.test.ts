import { beforeEach, describe, expect, it } from '@jest/globals';
import type { PaymentTerms, TransactionHash } from '@pf/domain';
import { type RpcCall, type RpcNode, RpcUpstreamError } from '@pf/rpc';
import { Memory } from '../../../src/solana/observe/memory.ts';
import { dueReferences } from '../../../src/solana/observe/references.ts';
import { Watched } from '../../conformance/watching.ts';
import { termsIn } from '../payments.ts';

const HEAD = 10_000n;
const MANY = 100;
const terms = termsIn('USDC');

/** A node at this slot, which lists one payment. */
const nodeAt = (head: number): RpcNode => ({
  name: 'node',
  plan: {},
  callsIn: () => Number.POSITIVE_INFINITY,
  call: () => Promise.reject(new Error('only batches')),
  batch: (calls: readonly RpcCall<unknown>[]) =>
    calls.some(({ params: [, config] }) => (config as { minContextSlot: number }).minContextSlot > head)
      ? Promise.reject(new RpcUpstreamError('Minimum context slot has not been reached', 'no'))
      : (Promise.resolve(
          calls.map(() => [{ signature: 'paid' as TransactionHash, slot: 9_990n, err: null }]),
        ) as never),
});

describe('the last look at the reference of an intent that has expired', () => {
  let memory: Memory;
  let watched: Watched;
  beforeEach(() => {
    memory = new Memory();
    watched = new Watched();
    watched.add('pi_test', terms);
    watched.expire(terms);
  });
  async function look(node: RpcNode): Promise<void> {
    const references = dueReferences(memory, watched, HEAD, 0, MANY);
    references.read([], await references.lookLast(node), HEAD, 0)();
  }

  it('counts at a node that has the newest slot', async () => {
    await look(nodeAt(10_000));
    expect([...memory.unseen.keys()]).toEqual(['paid']);
    expect(memory.lookedLast.has(terms.reference)).toBe(true);
  });

  it('is repeated where the node is behind: it may not have the payment of the last minute', async () => {
    await look(nodeAt(9_999));
    expect(memory.unseen.size).toBe(0);
    expect(memory.lookedLast.has(terms.reference)).toBe(false);
    await look(nodeAt(10_000));
    expect(memory.lookedLast.has(terms.reference)).toBe(true);
  });

  it('is also that of an intent whose payment was expected', async () => {
    watched = new Watched();
    watched.add('pi_test', terms);
    watched.detect(terms);
    const references = dueReferences(memory, watched, HEAD, 0, MANY);
    expect(references.calls).toMatchObject([{ params: [terms.reference, { minContextSlot: 9_850 }] }]);
    references.read([[]], null, HEAD, 0)();
    watched = new Watched();
    await look(nodeAt(9_999));
    expect(memory.expected.has(terms.reference)).toBe(true);
    await look(nodeAt(10_000));
    expect(memory.expected.has(terms.reference)).toBe(false);
    expect(memory.lookedLast.has(terms.reference)).toBe(true);
  });
});

describe('the references of intents that are about to be paid', () => {
  let memory: Memory;
  let watched: Watched;
  beforeEach(() => {
    [memory, watched] = [new Memory(), new Watched()];
  });
  function add(id: string, requestor: PaymentTerms['requestor']): string {
    const made = { ...termsIn('USDC'), requestor };
    watched.add(id, made);
    watched.detect(made);
    return made.reference;
  }
  function look(now: number): readonly unknown[] {
    const references = dueReferences(memory, watched, HEAD, now, MANY);
    references.read(
      references.calls.map(() => []),
      null,
      HEAD,
      now,
    )();
    return references.calls.map(({ params: [reference] }) => reference);
  }

  it('are looked up by turns of the accounts that own them, however many recipients one has', () => {
    for (let n = 0; n < 100; n += 1) {
      const { requestor } = termsIn('USDC');
      add(`pi_${n}`, requestor);
      watched.own(requestor, 'acc_busy');
    }
    const { requestor } = termsIn('USDC');
    const late = add('pi_late', requestor);
    watched.own(requestor, 'acc_late');
    expect(look(0)).toContain(late);
  });

  it('are looked up by turns of their recipients, however many one has', () => {
    const busy = [termsIn('USDC').requestor, termsIn('USDC').requestor];
    for (let n = 0; n < 100; n += 1) for (const requestor of busy) add(`pi_${n}`, requestor);
    look(0);
    const late = add('pi_late', termsIn('USDC').requestor);
    expect(look(0)).toContain(late);
  });
});
