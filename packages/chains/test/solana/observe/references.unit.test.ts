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

describe('a list of a reference that strangers have made long', () => {
  const LONG = 1_500;
  const newestFirst = Array.from({ length: LONG }, (_, at) => `spam ${at}` as TransactionHash);
  const PAID = 'paid' as TransactionHash;
  const pageOf = (list: readonly TransactionHash[], { params }: RpcCall<unknown>) => {
    const { limit, before } = params[1] as { readonly limit: number; readonly before?: TransactionHash };
    const from = before === undefined ? 0 : list.indexOf(before) + 1;
    return list.slice(from, from + limit).map((signature) => ({ signature, slot: 9_990n, err: null }));
  };
  const shows = (list: readonly TransactionHash[]): RpcNode =>
    ({
      ...nodeAt(10_000),
      batch: (calls: readonly RpcCall<unknown>[]) => Promise.resolve(calls.map((call) => pageOf(list, call))),
    }) as unknown as RpcNode;
  let memory: Memory;
  let watched: Watched;
  beforeEach(() => {
    [memory, watched] = [new Memory(), new Watched()];
    watched.add('pi_test', terms);
  });
  /** One step. @returns where its page begins, of each list that is asked for */
  async function look(list: readonly TransactionHash[], now: number): Promise<readonly unknown[]> {
    const references = dueReferences(memory, watched, HEAD, now, MANY);
    const begins: unknown[] = [];
    const by = shows(list);
    const noting: RpcNode = {
      ...by,
      batch: (calls) => {
        begins.push(...calls.map(({ params: [, config] }) => (config as { before?: string }).before ?? null));
        return by.batch(calls);
      },
    };
    const answers = await noting.batch(references.calls);
    references.read(answers, await references.lookLast(noting), HEAD, now)();
    return begins;
  }

  it('is read page by page, one in a step, until the payment is found behind all of them', async () => {
    watched.detect(terms);
    const list = [...newestFirst, PAID];
    expect(await look(list, 0)).toEqual([null]);
    expect(await look(list, 1)).toEqual(['spam 23']);
    expect(memory.unseen.has(PAID)).toBe(false);
    expect(await look(list, 2)).toEqual(['spam 1022']);
    expect(memory.unseen.get(PAID)).toMatchObject({ of: terms.requestor, reference: terms.reference });
    expect(await look(list, 3)).toEqual(['spam 1499']);
    expect(await look(list, 4)).toEqual([]);
  });

  it('is read down to what was read before the next time', async () => {
    watched.detect(terms);
    for (let now = 0; now < 5; now += 1) await look(newestFirst, now);
    const more = Array.from({ length: 30 }, (_, at) => `more ${at}` as TransactionHash);
    const list = [...more, ...newestFirst];
    expect(await look(list, 10_000)).toEqual([null]);
    expect(await look(list, 10_001)).toEqual(['more 23']);
    expect(memory.unseen.has('more 29' as TransactionHash)).toBe(true);
    expect(await look(list, 10_002)).toEqual([]);
  });

  it('is read from its newest again at a node that does not know where the page begins', async () => {
    watched.detect(terms);
    const list = [...newestFirst, PAID];
    await look(list, 0);
    expect(await look([], 1)).toEqual(['spam 23']);
    expect(await look(list, 10_000)).toEqual([null]);
  });

  it('is read to its end in the last look of an intent that has expired', async () => {
    watched.expire(terms);
    const list = [...newestFirst, PAID];
    for (const begin of [null, 'spam 23', 'spam 1022', 'spam 1499']) {
      expect(memory.lookedLast.has(terms.reference)).toBe(false);
      expect(await look(list, 0)).toEqual([begin]);
    }
    expect([memory.unseen.has(PAID), memory.lookedLast.has(terms.reference)]).toEqual([true, true]);
    expect(memory.expected.size).toBe(0);
  });

  it('is read from its newest once more in the last look, however far it was read before', async () => {
    watched.detect(terms);
    const list = [...newestFirst, PAID];
    await look(list, 0);
    watched.expire(terms);
    expect(await look([PAID, ...list], 1)).toEqual([null]);
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
