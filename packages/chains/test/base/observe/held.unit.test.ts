import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Address, IntentId, PaymentTerms, Reference, TransactionHash } from '@pf/domain';
import { held } from '../../../src/base/observe/held.ts';
import type { Seen } from '../../../src/base/observe/position.ts';
import { Watched } from '../../conformance/watching.ts';
import { fulfiller, terms } from '../payments.ts';

/** Landings that a cursor holds of an intent, and in all. */
const OF_INTENT_MAX = 20;
const HELD_MAX = 2_000;
const word = (number: number): string => `0x${number.toString(16).padStart(64, '0')}`;
const addressOf = (number: number): Address => `0x${number.toString(16).padStart(40, '0')}` as Address;
const termsOf = (number: number, requestor = terms.requestor): PaymentTerms => ({
  ...terms,
  requestor,
  reference: word(number) as Reference,
});
type Landed = Extract<Seen, { kind: 'landed' }>;
const many = <T>(length: number, make: (number: number) => T): readonly T[] =>
  Array.from({ length }, (_, number) => make(number));

let hashes = 0;
const landed = (
  number: number,
  { requestor, reference, amount }: PaymentTerms,
  {
    hash = word((hashes += 1)) as TransactionHash,
    from = fulfiller,
    index = '0',
    ...change
  }: Partial<Landed> & {
    readonly from?: Address;
    readonly index?: string;
  } = {},
): Landed => ({
  kind: 'landed',
  intentId: `pi_${number}` as IntentId,
  hash,
  transfer: {
    tokenAddress: terms.tokenAddress,
    from,
    to: requestor,
    amount,
    reference,
    block: 7n,
    blockHash: word(7),
    index,
  },
  seenAt: 0,
  reported: false,
  ...change,
});
const hashesIn = (all: readonly { readonly hash: TransactionHash }[]): readonly TransactionHash[] =>
  all.map(({ hash }) => hash);

describe('what a cursor on Base holds of an intent', () => {
  const one = termsOf(1);
  const dust = { ...one, amount: 1n };
  let watched: Watched;
  beforeEach(async () => {
    watched = new Watched();
    watched.add('pi_1', one);
    await watched.recall([one.reference]);
  });

  it('begins with what it waits for, then what pays it, then the largest; others wait with their transactions', () => {
    const specks = many(30, (number) => landed(1, { ...one, amount: BigInt(number + 1) }));
    const [own, payment] = [landed(1, dust), landed(1, one)];
    watched.submit({ hash: own.hash, sender: fulfiller, nonce: '1', lifetime: { kind: 'unlimited' }, terms: one }, 0);
    const { seen, waiting } = held(watched, [...specks, payment, own]);
    const largest = specks.slice(30 - (OF_INTENT_MAX - 2)).reverse();
    expect(hashesIn(seen)).toEqual(hashesIn([own, payment, ...largest]));
    expect(new Set(hashesIn(waiting))).toEqual(new Set(hashesIn(specks.slice(0, 12))));
    expect(waiting[0]).toMatchObject({ place: 7n, recipient: one.requestor, payer: fulfiller });
  });

  it('has no more of one transaction, whose other transfers are passed over', () => {
    const hash = word(9_999) as TransactionHash;
    const all = many(500, (number) => landed(1, dust, { hash, index: String(number), reported: number % 2 === 0 }));
    const { seen, waiting } = held(watched, all);
    expect(seen).toHaveLength(OF_INTENT_MAX);
    expect(waiting).toEqual([]);
    // With what is found again, they are the same.
    expect(held(watched, [...seen, ...all.filter((other) => !seen.includes(other))]).seen).toEqual(seen);
  });

  it('has what was not reported rather than what was', () => {
    const before = many(OF_INTENT_MAX, () => landed(1, one, { reported: true }));
    const now = landed(1, dust);
    const { seen, waiting } = held(watched, [...before, now]);
    expect(seen).toContain(now);
    expect(seen).toHaveLength(OF_INTENT_MAX);
    expect(waiting).toEqual([]);
  });
});

describe('what a cursor on Base holds in all', () => {
  it('is bounded, by turns of the accounts and of the payers of one recipient', () => {
    const watched = new Watched();
    const [attacked, other] = [addressOf(1), addressOf(2)];
    watched.own(attacked, 'acct_attacked');
    watched.own(other, 'acct_other');
    const crowd = many(3 * HELD_MAX, (number) => landed(number, termsOf(number, attacked), { from: addressOf(9) }));
    const beside = landed(10_000, termsOf(10_000, attacked));
    const others = many(10, (number) => landed(20_000 + number, termsOf(20_000 + number, other)));
    const { seen, waiting } = held(watched, [...crowd, beside, ...others]);
    expect(seen).toHaveLength(HELD_MAX);
    expect(seen).toEqual(expect.arrayContaining([beside, ...others]));
    expect(waiting).toHaveLength(2 * HELD_MAX + 11);
  });

  it('has what has failed, too, of which each submission has one', () => {
    const failed: Seen = {
      kind: 'reverted',
      intentId: 'pi_1' as IntentId,
      hash: word(1) as TransactionHash,
      block: 7n,
      blockHash: word(7),
      reason: 'the transaction reverted on chain',
      seenAt: 0,
    };
    const { seen } = held(new Watched(), [...many(HELD_MAX, (number) => landed(number, termsOf(number))), failed]);
    expect(seen).toContain(failed);
  });
});
