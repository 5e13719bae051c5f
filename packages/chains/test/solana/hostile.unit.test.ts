import { describe, expect, it } from '@jest/globals';
import type { PaymentTerms } from '@pf/domain';
import type { RpcNode } from '@pf/rpc';
import { leastCpu, longestTurn } from '@pf/testing/quiet-core';
import { networkOf } from '../../src/index.ts';
import { getSignaturesForAddress, getSignatureStatuses } from '../../src/solana/calls.ts';
import { landingsIn, namesIn, problemIn } from '../../src/solana/observe/landings.ts';
import { lookAt } from '../../src/solana/observe/looking.ts';
import { judge } from '../../src/solana/observe/pending-outcomes.ts';
import { readTransaction } from '../../src/solana/observe/reading.ts';
import { accountsOf } from '../../src/solana/payment.ts';
import { decodeSigned } from '../../src/solana/signed-transaction.ts';
import { Watched } from '../conformance/watching.ts';
import { hostileTransactions, type ShownTransaction } from '../hostile/solana.ts';
import { blobFor, DEVNET, fulfiller, signedBy, termsIn } from './payments.ts';

const network = networkOf(DEVNET);
const terms = termsIn('USDC');
const watch = new Watched();
watch.add('pi_test', terms);
/** Of one core, for the largest transaction that can land. */
const CPU_MS = 50;
const HEAP_BYTES = 32 * 1024 * 1024;

/** The good one, its hash, and the place of the token program in it. */
async function payment(of: PaymentTerms): Promise<{ good: ShownTransaction; hash: string; tokenProgram: number }> {
  const raw = signedBy(await blobFor(of));
  const decoded = decodeSigned(raw);
  if (!decoded.ok) throw new Error(decoded.problem);
  const { hash, accounts } = decoded.value;
  const { source, destination, mint, tokenProgram } = await accountsOf(of, fulfiller);
  const balance = (account: string, owner: string, amount: bigint) => ({
    accountIndex: (accounts as readonly string[]).indexOf(account),
    mint: mint as string,
    owner,
    uiTokenAmount: { amount: String(amount) },
  });
  const good: ShownTransaction = {
    slot: 7,
    transaction: [Buffer.from(raw).toString('base64'), 'base64'],
    meta: {
      err: null,
      fee: 5_000,
      preTokenBalances: [balance(source, fulfiller, of.amount)],
      postTokenBalances: [balance(source, fulfiller, 0n), balance(destination, of.requestor, of.amount)],
      innerInstructions: [],
      loadedAddresses: { writable: [], readonly: [] },
    },
  };
  return { good, hash, tokenProgram: accounts.indexOf(tokenProgram) };
}
const made = await payment(terms);
const hash = made.hash as Parameters<typeof readTransaction>[0];
const hostile = hostileTransactions(made.tokenProgram);

describe('a hostile transaction on Solana', () => {
  it('is made of one that pays', async () => {
    const read = readTransaction(hash, made.good);
    if (!read.ok) throw new Error(read.problem);
    await watch.recall(namesIn(read.value));
    expect(landingsIn(read.value, network, watch).landings).toHaveLength(1);
  });

  it.each(hostile.map((one) => [one.name, one] as const))('is judged by itself: %s', async (_name, one) => {
    const read = readTransaction(hash, one.show(made.good));
    expect(read.ok ? 'judged' : read.problem).toEqual(one.isSetAside ? expect.any(String) : 'judged');
    expect(read.ok).toBe(!one.isSetAside);
    if (!read.ok) return;
    await watch.recall(namesIn(read.value));
    expect(landingsIn(read.value, network, watch).landings).toEqual([]);
  });

  it.each(hostile.map(({ name, show }) => [name, show] as const))('takes little time and memory: %s', (_name, show) => {
    const text = JSON.stringify(show(made.good));
    const cpuMs = leastCpu(() => {
      const heap = process.memoryUsage().heapUsed;
      const read = readTransaction(hash, JSON.parse(text));
      if (!read.ok) return;
      void watch.recall(namesIn(read.value));
      landingsIn(read.value, network, watch);
      problemIn(read.value, network, watch);
      expect(process.memoryUsage().heapUsed - heap).toBeLessThan(HEAP_BYTES);
    });
    expect(cpuMs).toBeLessThan(CPU_MS);
  });
});

describe('fifty hostile transactions in one step', () => {
  it.each([64, 255])('leave room for other work between them: 63 calls with %d accounts each', async (accounts) => {
    const instruction = { programIdIndex: 0, accounts: Array.from({ length: accounts }, () => 0), data: 'z' };
    const instructions = Array.from({ length: 63 }, () => instruction);
    const shown = { ...made.good, meta: { ...made.good.meta, innerInstructions: [{ index: 0, instructions }] } };
    const node = { name: 'node', batch: () => Promise.resolve(Array.from({ length: 50 }, () => shown)) };
    const hashes = Array.from({ length: 50 }, () => hash);
    const turn = await longestTurn(() => lookAt(node as unknown as RpcNode, hashes), CPU_MS);
    expect(turn).toBeLessThan(CPU_MS);
  });
});

describe('a hostile status on Solana', () => {
  const statuses = (value: readonly unknown[]) =>
    getSignatureStatuses([], false).parse({ context: { slot: 100 }, value }).value;
  const head = { absoluteSlot: 100n, blockHeight: 90n };
  const heads = { confirmed: head, finalized: { absoluteSlot: 60n, blockHeight: 50n } };
  const pending = {
    kind: 'submitted',
    intentId: 'pi_test',
    requestor: terms.requestor,
    hash,
    lastValid: 1n,
    since: 0,
    ignoresRevert: false,
  } as Parameters<typeof judge>[0][number];

  it.each([
    ['a word that is unknown, in a confirmed slot', { slot: 90, err: null, confirmationStatus: 'rooted' }, 'landed'],
    ['a word that is unknown, in a later slot', { slot: 101, err: null, confirmationStatus: 'rooted' }, 'open'],
    ['a number for a word', { slot: 101, err: null, confirmationStatus: 7 }, 'open'],
    ['a failure of an unknown form', { slot: 90, err: 7, confirmationStatus: 'confirmed' }, 'landed'],
    ['no word of success or failure', { slot: 90, confirmationStatus: 'confirmed' }, 'open'],
    ['no slot', { err: null, confirmationStatus: 'finalized' }, 'open'],
    ['a text', 'finalized', 'open'],
  ])('spoils no other, and is not missing: %s', (_name, odd, is) => {
    const read = statuses([odd, { slot: 90, err: null, confirmationStatus: 'confirmed' }, null]);
    const judged = judge([pending, pending, pending], read, heads);
    expect(judged.landed).toHaveLength(is === 'landed' ? 2 : 1);
    expect(judged.missing).toHaveLength(1);
  });

  it('spoils no list where a failure has an unknown form', () => {
    const listed = getSignaturesForAddress('account', { limit: 1, atLeast: 0n }).parse([
      { signature: hash, slot: 7, err: 12 },
      { signature: hash, slot: 7, err: null },
    ]);
    expect(listed.map(({ err }) => err)).toEqual(['12', null]);
  });
});
