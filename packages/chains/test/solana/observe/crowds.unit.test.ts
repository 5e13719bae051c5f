import { beforeEach, describe, expect, it } from '@jest/globals';
import type { TransactionHash } from '@pf/domain';
import type { RpcNode, RpcPool } from '@pf/rpc';
import { networkOf } from '../../../src/index.ts';
import { readUnseen } from '../../../src/solana/observe/lookups.ts';
import { Memory } from '../../../src/solana/observe/memory.ts';
import { dueReferences } from '../../../src/solana/observe/references.ts';
import { Watched } from '../../conformance/watching.ts';
import { noneLate } from '../late.ts';
import { blobFor, DEVNET, shownAs, signedBy, termsIn } from '../payments.ts';

const network = networkOf(DEVNET);
const terms = termsIn('USDC');
const raw = signedBy(await blobFor(terms));
const SPAM = 1_000;
const MANY = 100;
const HEAD = 20n;
const NOW = 10_000;
const alone = { onAnother: () => Promise.resolve(null) } as unknown as RpcPool;

/** Spam has moved nothing. */
const shownOf = (number: number, isSpam: boolean) => shownAs(raw, terms, { number, slot: 9, hasMoved: !isSpam });
const spam = await Promise.all(Array.from({ length: SPAM }, (_, at) => shownOf(at, true)));
const [payment, shown] = await shownOf(SPAM, false);
const chain = new Map([...spam, [payment, shown] as const]);
const node: RpcNode = {
  name: 'node',
  plan: {},
  callsIn: () => Number.POSITIVE_INFINITY,
  call: () => Promise.reject(new Error('only batches')),
  batch: (calls) =>
    Promise.resolve(calls.map(({ params: [hash] }) => chain.get(hash as TransactionHash) ?? null)) as never,
};

describe(`a payment among ${SPAM} transactions of strangers that name the same account`, () => {
  let memory: Memory;
  let watch: Watched;
  beforeEach(() => {
    [memory, watch] = [new Memory(), new Watched()];
    watch.add('pi_mine', terms);
    for (const [at, [hash]] of spam.entries()) list(hash, BigInt(at < SPAM / 2 ? 5 : 15));
  });
  const list = (hash: TransactionHash, slot: bigint): void =>
    void memory.unseen.set(hash, { slot, since: 0, dueAt: 0, of: terms.requestor });
  /** What the first step observes that looks at transactions. */
  async function observed(): Promise<readonly TransactionHash[]> {
    const look = await readUnseen(alone, node, memory, network, watch, NOW, MANY, noneLate());
    look.commit();
    return look.observations.map(({ data: { hash } }) => hash);
  }

  it.each([
    ['before', 1n],
    ['after', 19n],
  ])('is observed at once where it came %s them', async (_when, slot) => {
    list(payment, slot);
    expect(await observed()).toEqual([payment]);
  });

  it('is observed at once where it was announced, and its reference shows it in the midst of them', async () => {
    list(payment, 10n);
    watch.detect(terms);
    const references = dueReferences(memory, watch, HEAD, NOW, MANY);
    references.read([[{ signature: payment, slot: 10n, err: null }]], null, HEAD, NOW)();
    expect(await observed()).toEqual([payment]);
  });
});

describe('deposits of more accounts than one step has room for', () => {
  it('are told of a step later where there is no room for them, and none is lost', async () => {
    const [transactions, accounts] = [40, 30];
    const memory = new Memory();
    const watch = new Watched();
    // The transactions carry the reference of no watched intent.
    watch.add('pi_other', { ...termsIn('USDC'), requestor: terms.requestor });
    watch.own(terms.requestor, ...Array.from({ length: accounts }, (_, at) => `acc_${at}`));
    for (let at = 1; at <= transactions; at += 1) {
      const [hash, shown] = await shownOf(SPAM + at, false);
      chain.set(hash, shown);
      memory.unseen.set(hash, { slot: 9n, since: 0, dueAt: 0, of: terms.requestor });
    }
    const steps: number[] = [];
    const ids = new Set<string>();
    for (let isBehind = true; isBehind;) {
      const look = await readUnseen(alone, node, memory, network, watch, NOW, MANY, noneLate());
      look.commit();
      steps.push(look.deposits.length);
      for (const { depositId } of look.deposits) ids.add(depositId);
      ({ isBehind } = look);
    }
    expect(steps).toEqual([990, 210]);
    expect(ids.size).toBe(transactions * accounts);
    expect(memory.unseen.size).toBe(0);
  });
});
