import { beforeEach, describe, expect, it } from '@jest/globals';
import type { DepositObservation, TransactionHash } from '@pf/domain';
import type { Address } from '@solana/kit';
import { networkOf, type OpenDeposit } from '../../../src/index.ts';
import { randomAddress, randomReference } from '../../../src/solana/address.ts';
import { arrivalsIn, depositsIn } from '../../../src/solana/observe/arrivals.ts';
import { namesIn } from '../../../src/solana/observe/landings.ts';
import type { Holding, Holdings, Reading, TokenTransfer } from '../../../src/solana/observe/reading.ts';
import { Watched } from '../../conformance/watching.ts';
import { DEVNET, termsIn } from '../payments.ts';

const network = networkOf(DEVNET);
const [terms, other] = [termsIn('USDC'), { ...termsIn('USDC'), amount: 7n }];
const USDC = terms.tokenAddress as string as Address;
const SHOP = terms.requestor as string as Address;
const [payer, second, vault] = [randomAddress(), randomAddress(), randomAddress()] as string[] as [
  Address,
  Address,
  Address,
];
/** Places of accounts: those of two payers, the requestor's two, and the one of another recipient. */
const [PURSE, OTHERS, TILL, SAVINGS, STALL] = [1, 2, 3, 4, 5];

const held = (owner: Address, amount: bigint, mint = USDC): Holding => ({ owner, mint, amount });
const holdings = (all: Readonly<Record<number, Holding>>): Holdings =>
  new Map(Object.entries(all).map(([place, holding]) => [Number(place), holding]));
const sent = (source: number, destination: number, amount: bigint, ...names: readonly string[]): TokenTransfer => ({
  index: `${source} ${destination} ${amount}`,
  source,
  destination,
  authority: source === PURSE ? payer : source === OTHERS ? second : SHOP,
  amount,
  names,
  isProven: true,
});
interface Facts extends Partial<Omit<Reading, 'before' | 'after' | 'opaque' | 'opaqueNames'>> {
  readonly opaque?: readonly number[];
  readonly opaqueNames?: readonly string[];
  readonly before?: Readonly<Record<number, Holding>>;
  readonly after: Readonly<Record<number, Holding>>;
}
const readingOf = ({ before = {}, after, opaque = [], opaqueNames = [], ...facts }: Facts): Reading => ({
  hash: 'hash' as TransactionHash,
  slot: 7n,
  at: 1_000,
  failure: null,
  fee: null,
  transfers: [],
  ...facts,
  opaque: new Set(opaque),
  opaqueNames: new Set(opaqueNames as readonly Address[]),
  before: holdings(before),
  after: holdings(after),
});

let watch: Watched;
beforeEach(() => {
  watch = new Watched();
  watch.add('pi_test', terms);
  watch.add('pi_other', other);
  watch.own(terms.requestor, 'acc_1');
  watch.own(other.requestor, 'acc_2');
});

describe('what arrives in a transaction beside payments', () => {
  function arrived(facts: Facts) {
    const reading = readingOf(facts);
    void watch.recall(namesIn(reading));
    return arrivalsIn(reading, network, watch).map(({ reason, arrival }) => ({ reason, ...arrival }));
  }

  it('is the amount of a plain transfer, in the place of its account', () => {
    expect(
      arrived({
        transfers: [sent(PURSE, TILL, 5n)],
        before: { [PURSE]: held(payer, 9n), [TILL]: held(SHOP, 1n) },
        after: { [PURSE]: held(payer, 4n), [TILL]: held(SHOP, 6n) },
      }),
    ).toEqual([
      {
        reason: 'no_reference',
        hash: 'hash',
        index: 'a3',
        block: 7n,
        blockHash: null,
        tokenAddress: USDC,
        token: { symbol: 'USDC', decimals: 6 },
        from: payer,
        to: SHOP,
        amount: 5n,
        reference: null,
        at: 1_000,
      },
    ]);
  });

  it('is all that payments of the same transaction leave, from whoever brought it', () => {
    const { amount, reference } = terms;
    const after = { [TILL]: held(SHOP, amount + 5n) };
    const both = [sent(PURSE, TILL, amount, reference), sent(OTHERS, TILL, 5n)];
    expect(arrived({ transfers: both, after })).toMatchObject([{ amount: 5n, from: second, reason: 'no_reference' }]);
    // One transfer above the amount is told of by its intent alone.
    expect(arrived({ transfers: [sent(PURSE, TILL, amount + 5n, reference)], after })).toEqual([]);
    // Of what was withheld the payment bears all.
    expect(arrived({ transfers: both, after: { [TILL]: held(SHOP, amount + 1n) } })).toMatchObject([{ amount: 5n }]);
  });

  it('is one for each credited account of each recipient', () => {
    const all = arrived({
      transfers: [sent(PURSE, STALL, 3n), sent(PURSE, TILL, 1n), sent(PURSE, SAVINGS, 2n)],
      after: {
        [STALL]: held(other.requestor as string as Address, 3n),
        [TILL]: held(SHOP, 1n),
        [SAVINGS]: held(SHOP, 2n),
      },
    });
    expect(all.map(({ index, to, amount }) => [index, to, amount])).toEqual([
      ['a3', SHOP, 1n],
      ['a4', SHOP, 2n],
      ['a5', other.requestor, 3n],
    ]);
  });

  it('has no sender where not exactly one transfer brought it all', () => {
    const [after, more] = [{ [TILL]: held(SHOP, 5n) }, { [TILL]: held(SHOP, 6n) }];
    expect(arrived({ after, opaque: [TILL] })).toMatchObject([{ amount: 5n, from: null }]);
    expect(arrived({ transfers: [sent(PURSE, TILL, 2n), sent(OTHERS, TILL, 3n)], after })).toMatchObject([
      { amount: 5n, from: null },
    ]);
    expect(arrived({ transfers: [sent(PURSE, TILL, 5n)], after: more })).toMatchObject([{ amount: 6n, from: null }]);
    expect(arrived({ transfers: [sent(PURSE, TILL, 5n)], after, opaque: [TILL] })).toMatchObject([{ from: null }]);
  });

  it('is the credited amount where the token withholds a part', () => {
    expect(arrived({ transfers: [sent(PURSE, TILL, 100n)], after: { [TILL]: held(SHOP, 99n) } })).toMatchObject([
      { amount: 99n, from: payer },
    ]);
  });

  it('is nothing of what its owner moves between accounts', () => {
    const before = { [SAVINGS]: held(SHOP, 9n) };
    const transfers = [sent(SAVINGS, TILL, 9n)];
    const after = { [SAVINGS]: held(SHOP, 0n), [TILL]: held(SHOP, 9n) };
    expect(arrived({ transfers, before, after })).toEqual([]);
    expect(
      arrived({
        transfers: [...transfers, sent(PURSE, TILL, 2n)],
        before,
        after: { ...after, [TILL]: held(SHOP, 11n) },
      }),
    ).toMatchObject([{ amount: 2n, from: payer }]);
    // What has left another account of the owner is taken off.
    expect(
      arrived({
        transfers: [sent(PURSE, TILL, 4n)],
        before,
        after: { [SAVINGS]: held(SHOP, 6n), [TILL]: held(SHOP, 4n) },
      }),
    ).toMatchObject([{ amount: 1n }]);
  });

  it('is nothing of a failed transaction, another token or another owner', () => {
    const after = { [TILL]: held(SHOP, 5n) };
    expect(arrived({ transfers: [sent(PURSE, TILL, 5n)], after, failure: 'it failed' })).toEqual([]);
    expect(arrived({ after: { [TILL]: held(SHOP, 5n, vault) } })).toEqual([]);
    expect(arrived({ after: { [TILL]: held(vault, 5n) } })).toEqual([]);
  });

  it('carries the one reference that no watched intent has, and no text of a memo', () => {
    const after = { [TILL]: held(SHOP, 5n) };
    const [one, two] = [randomReference(), randomReference()];
    expect(arrived({ transfers: [sent(PURSE, TILL, 5n, one)], after })).toMatchObject([
      { reason: 'unknown_reference', reference: one },
    ]);
    expect(arrived({ transfers: [sent(PURSE, TILL, 5n, one, two)], after })).toMatchObject([
      { reason: 'unknown_reference', reference: null },
    ]);
    expect(arrived({ transfers: [sent(PURSE, TILL, 5n, 'invoice 42')], after })).toMatchObject([
      { reason: 'no_reference', reference: null },
    ]);
  });

  it('says that a transfer has two references, or those of several intents', () => {
    const after = { [TILL]: held(SHOP, 5n) };
    const [mine, theirs] = [terms.reference, other.reference];
    expect(arrived({ transfers: [sent(PURSE, TILL, 5n, randomReference(), mine)], after })).toMatchObject([
      { reason: 'two_references', reference: mine },
    ]);
    expect(arrived({ transfers: [sent(PURSE, TILL, 5n, mine, theirs)], after })).toMatchObject([
      { reason: 'several_intents', reference: null },
    ]);
  });

  it('is unproven where its account may have got it for an intent', () => {
    const after = { [TILL]: held(SHOP, 5n) };
    expect(arrived({ after, opaque: [TILL], opaqueNames: [terms.reference] })).toMatchObject([{ reason: 'unproven' }]);
    expect(arrived({ transfers: [sent(PURSE, TILL, 5n, terms.reference)], after, opaque: [TILL] })).toMatchObject([
      { reason: 'unproven', amount: 5n },
    ]);
    // Of another recipient: it cannot be for that.
    expect(arrived({ after, opaque: [TILL], opaqueNames: [other.reference] })).toMatchObject([
      { reason: 'no_reference' },
    ]);
  });
});

describe('what accounts are told of a transaction', () => {
  const tip = readingOf({ transfers: [sent(PURSE, TILL, 5n)], after: { [TILL]: held(SHOP, 5n) } });
  const payment = (more = 0n): Reading =>
    readingOf({
      transfers: [sent(PURSE, TILL, terms.amount, terms.reference), ...(more > 0n ? [sent(OTHERS, TILL, more)] : [])],
      after: { [TILL]: held(SHOP, terms.amount + more) },
    });
  function told(reading: Reading, open: readonly OpenDeposit[] = [], isLate = false): readonly DepositObservation[] {
    void watch.recall(namesIn(reading));
    return depositsIn(reading, network, watch, open, isLate);
  }
  /** As the ledger has it. */
  function opened(reading: Reading): readonly OpenDeposit[] {
    for (const one of told(reading)) watch.applyDeposit(one);
    return [...watch.openDeposits()];
  }

  it('is a deposit of each account whose intents name the recipient', () => {
    watch.own(terms.requestor, 'acc_1', 'acc_3');
    expect(told(tip).map(({ data }) => 'accountId' in data && data.accountId)).toEqual(['acc_1', 'acc_3']);
  });

  it('is nothing of what they have', () => {
    const open = opened(tip);
    expect(open).toHaveLength(1);
    expect(told(tip, open)).toEqual([]);
  });

  it('is again what has landed in another slot', () => {
    const open = opened(tip);
    expect(told({ ...tip, slot: 9n }, open)).toMatchObject([
      { type: 'deposit_landed', data: { arrival: { block: 9n } } },
    ]);
  });

  it('withdraws what turns out to pay an intent', () => {
    const paid = payment();
    watch.drop(terms);
    watch.add('pi_late', { ...terms, reference: randomReference() });
    const open = opened(paid);
    expect(open).toMatchObject([{ reason: 'unknown_reference', arrival: { amount: terms.amount } }]);
    watch.add('pi_test', terms);
    const withdrawal = [{ type: 'deposit_withdrawn', depositId: open[0]?.id, data: { intentId: 'pi_test' } }];
    expect(told(paid, open)).toMatchObject(withdrawal);
    // One that is final is not among the open ones.
    expect([told(paid), told(paid, [], true)]).toMatchObject([[], withdrawal]);
  });

  it('receives once more what a payment leaves of it', () => {
    const paid = payment(3n);
    watch.drop(terms);
    watch.add('pi_late', { ...terms, reference: randomReference() });
    const open = opened(paid);
    watch.add('pi_test', terms);
    for (const one of told(paid, open)) watch.applyDeposit(one);
    expect([...watch.deposits.values()]).toMatchObject([{ level: 'confirmed', version: 3, arrival: { amount: 3n } }]);
  });

  it('leaves what arrived beside a payment as it is, however late it is read again', () => {
    const open = opened(payment(3n));
    expect(open).toMatchObject([{ arrival: { amount: 3n } }]);
    expect([told(payment(3n), open), told(payment(3n), open, true)]).toEqual([[], []]);
  });
});
