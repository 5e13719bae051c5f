import { describe, expect, it } from '@jest/globals';
import type { Address, TransactionHash } from '@pf/domain';
import {
  afterLook,
  byTurns,
  firstByTurns,
  dueAgain,
  keptParties,
  PARTIES_MAX,
  partiesOf,
  type SetAside,
  setAside,
} from '../src/set-aside.ts';
import { Watched } from './conformance/watching.ts';

const START = 1_000_000;
const DAY = 24 * 3_600_000;
const hashOf = (number: number): TransactionHash => `0x${number.toString(16).padStart(64, '0')}` as TransactionHash;
const one = (number: number, recipient = 'merchant', payer?: string): SetAside => ({
  hash: hashOf(number),
  place: 7n,
  reason: 'its receipt is too long',
  recipient: recipient as Address,
  ...(payer !== undefined && { payer: payer as Address }),
  since: START,
  dueAt: START,
});
const numbers = (all: readonly SetAside[]): readonly number[] => all.map(({ hash }) => Number(hash));
/** Whose accounts are not known. */
const watch = new Watched();
/** The list after a look at START, at which none of it was looked at. */
const look = (change: Partial<Parameters<typeof afterLook>[1]>) => ({
  now: START,
  judged: new Set<TransactionHash>(),
  failed: [],
  watch,
  ...change,
});
const failedOnce = (number: number) => afterLook([], look({ failed: [one(number)] }));

describe('transactions that are set aside', () => {
  it('are told once, with their place and the reason', () => {
    const first = failedOnce(1);
    expect(first.warnings).toEqual([`${hashOf(1)} of block 7 is set aside: its receipt is too long`]);
    expect(afterLook(first.kept, look({ failed: [one(1)], now: START + 1_000 })).warnings).toEqual([]);
  });

  it('are looked at again after growing pauses: a second, half their age, ten minutes at most', () => {
    let { kept } = failedOnce(1);
    const pauses: number[] = [];
    for (const age of [0, 1_000, 10_000, 1_200_000, 7_200_000]) {
      ({ kept } = afterLook(kept, look({ failed: [one(1)], now: START + age })));
      pauses.push((kept[0]?.dueAt ?? 0) - START - age);
      expect(kept[0]?.since).toBe(START);
    }
    expect(pauses).toEqual([1_000, 1_000, 5_000, 600_000, 600_000]);
  });

  it('are forgotten once they are judged', () => {
    expect(afterLook(failedOnce(1).kept, look({ judged: new Set([hashOf(1)]), now: START + 1_000 }))).toEqual({
      kept: [],
      warnings: [],
      givenUp: 0,
    });
  });

  it('stay with what has failed again beside another judgement of theirs', () => {
    const { kept } = afterLook(
      failedOnce(1).kept,
      look({ judged: new Set([hashOf(1)]), failed: [one(1)], now: START + 1_000 }),
    );
    expect(numbers(kept)).toEqual([1]);
  });

  it('are given up after a day, with a warning', () => {
    const before = failedOnce(1).kept;
    expect(afterLook(before, look({ now: START + DAY - 1 })).kept).toHaveLength(1);
    expect(afterLook(before, look({ now: START + DAY }))).toEqual({
      kept: [],
      warnings: [`${hashOf(1)} of block 7 is given up: its receipt is too long`],
      givenUp: 1,
    });
  });

  it('are neither given up nor crowded out while an intent waits for their outcome', () => {
    const heldAmong = () => (one: SetAside) => numbers([one])[0] === 1;
    const many = Array.from({ length: 600 }, (_, number) => one(number + 2));
    const before = [...many, one(1)];
    const { kept } = afterLook(before, look({ now: START + 1_000, heldAmong }));
    expect([kept.length, numbers(kept).includes(1)]).toEqual([501, true]);
    expect(numbers(afterLook(kept, look({ now: START + DAY, heldAmong })).kept)).toEqual([1]);
    expect(afterLook(kept, look({ judged: new Set([hashOf(1)]), now: START + DAY, heldAmong })).kept).toEqual([]);
  });

  it('are due by turns of their recipients, and of the payers within one', () => {
    const spam = [1, 2, 3, 4].map((number) => one(number, 'merchant', 'spammer'));
    const all = [...spam, one(5, 'merchant', 'customer'), one(6, 'other', 'payer')];
    expect(numbers(dueAgain(watch, all, START, 3))).toEqual([1, 6, 5]);
    expect(numbers(byTurns(watch, all))).toEqual([1, 6, 5, 2, 3, 4]);
    expect(dueAgain(watch, all, START - 1, 3)).toEqual([]);
  });

  it('are 500 at most, of which the newest of the greediest payer and recipient go', () => {
    const spam = Array.from({ length: 499 }, (_, number) => one(number, 'merchant', 'spammer'));
    const { kept, warnings } = afterLook(
      [one(1_000, 'merchant', 'customer'), ...spam],
      look({ failed: [one(2_000, 'other', 'payer')] }),
    );
    expect(kept).toHaveLength(500);
    expect(numbers(kept)).toEqual(expect.arrayContaining([1_000, 2_000, 0, 497]));
    expect(numbers(kept)).not.toContain(498);
    expect(warnings).toContainEqual(expect.stringContaining(`${hashOf(498)} of block 7 is given up`));
  });

  it('are the largest of one recipient, where each of 500 payers has dust there', () => {
    const paying = (number: number, payer: string, amount: bigint): SetAside => ({
      ...one(number, 'merchant', payer),
      amount,
    });
    const dust = Array.from({ length: 500 }, (_, number) => paying(number, `payer ${number}`, 1n));
    const { kept, givenUp } = afterLook(dust, look({ failed: [paying(2_000, 'customer', 5_000_000n)] }));
    expect([kept.length, givenUp, numbers(kept).includes(2_000), numbers(kept).includes(499)]).toEqual([
      500,
      1,
      true,
      false,
    ]);
    expect(numbers(dueAgain(watch, [...dust, ...kept], START + 1_000, 1))).toEqual([2_000]);
    // A payer's dust takes no place of its own payment, and its payments none of another payer's.
    const greedy = [paying(1, 'greedy', 1n), paying(2, 'greedy', 9n), paying(3, 'greedy', 8n), paying(4, 'one', 2n)];
    expect(numbers(byTurns(watch, greedy))).toEqual([2, 4, 3, 1]);
  });

  it('are 1,000 at most where an intent waits for all of them', () => {
    const all = Array.from({ length: 1_200 }, (_, number) => one(number));
    expect(afterLook(all, look({ heldAmong: () => () => true })).kept).toHaveLength(1_000);
  });

  it('are 500 at most however many come at once, and say so in 20 warnings and a number', () => {
    const honest = one(1, 'honest');
    const spam = Array.from({ length: 50_000 }, (_, place) => one(place + 2, `recipient ${place % 2_000}`, `${place}`));
    const { kept, warnings } = afterLook([honest], look({ failed: spam }));
    expect([kept.length, kept.includes(honest), warnings.length]).toEqual([500, true, 21]);
  });

  it('are not crowded out by those of another account, however many recipients that has', () => {
    const owned = new Watched();
    owned.own('honest' as Address, 'acct_honest');
    const crowd = Array.from({ length: 600 }, (_, number) => one(number, `wallet ${number}`));
    for (const { recipient } of crowd) owned.own(recipient, 'acct_attacker');
    const mine = [one(1_001, 'honest', 'customer'), one(1_002, 'honest', 'another')];
    const { kept } = afterLook(crowd, look({ failed: mine, watch: owned }));
    expect(kept).toHaveLength(500);
    expect(numbers(kept)).toEqual(expect.arrayContaining([1_001, 1_002]));
    expect(numbers(dueAgain(owned, [...crowd, ...mine], START, 4))).toEqual([0, 1_001, 1, 1_002]);
  });

  it('have the first turn of any account that they may have paid', () => {
    const owned = new Watched();
    owned.own('honest' as Address, 'acct_honest');
    owned.own('wallet' as Address, 'acct_attacker');
    const honest = { recipient: 'honest' as Address };
    const all = [1, 2, 3].map((number) => one(number, 'wallet')).concat({ ...one(4, 'wallet'), others: [honest] });
    expect(numbers(byTurns(owned, all))).toEqual([1, 4, 2, 3]);
  });

  it('keep 20 parties, of each account one before another of the same, and all that any look has shown', () => {
    const owned = new Watched();
    owned.own('honest' as Address, 'acct_honest');
    const crowd = Array.from({ length: 30 }, (_, number) => ({ recipient: `wallet ${number}` as Address }));
    for (const { recipient } of crowd) owned.own(recipient, 'acct_attacker');
    const honest = { recipient: 'honest' as Address };
    const parties = partiesOf(keptParties(owned, [...crowd, honest]));
    expect(parties).toHaveLength(PARTIES_MAX);
    expect(parties).toContain(honest);
    const transfers = [1n, 3n, 2n].map((amount) => ({ ...honest, amount }));
    expect(partiesOf(keptParties(owned, transfers))).toEqual([{ ...honest, amount: 3n }]);
    const before = failedOnce(1).kept;
    const { kept } = afterLook(before, look({ failed: [{ ...one(1), ...honest }] }));
    expect(kept.flatMap(partiesOf).map(({ recipient }) => recipient)).toEqual(['merchant', 'honest']);
  });

  it('are never given up before later ones where all have as many', () => {
    const all = Array.from({ length: 500 }, (_, number) => one(number, 'merchant', `payer ${number}`));
    const { kept } = afterLook(all, look({ failed: [one(2_000, 'merchant', 'payer')] }));
    expect(numbers(kept)).toEqual(numbers(all));
  });

  it('are read back from a cursor, also from one without payers and amounts', () => {
    const others = [{ recipient: 'other' as Address, payer: 'payer' as Address }];
    for (const aside of [one(1), { ...one(1, 'merchant', 'payer'), amount: 5n, others }]) {
      const written = JSON.parse(
        JSON.stringify(aside, (_name, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
      ) as unknown;
      expect(setAside.parse(written)).toEqual(aside);
    }
  });
});

describe('the first of many by turns', () => {
  it('are the same as of all of them, whoever has how many', async () => {
    const watch = {
      ownersOf: (recipient: string) => [`acct_${recipient.length % 3}`, `acct_${recipient.length % 2}`],
    } as unknown as Parameters<typeof byTurns>[0];
    let seed = 7;
    const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
    for (let run = 0; run < 30; run += 1) {
      const [recipients, payers] = [1 + random(40), 1 + random(60)];
      const all = Array.from({ length: 400 }, (_, number) => ({
        number,
        recipient: 'r'.repeat(1 + random(recipients)) as Address,
        payer: `p${random(payers)}` as Address,
        amount: BigInt(random(9)),
      }));
      const most = 1 + random(50);
      expect(await firstByTurns(watch, all, most)).toEqual(byTurns(watch, all).slice(0, most));
    }
  });

  it('are all of them where there is room, however many each may have paid', async () => {
    const watch = { ownersOf: () => ['account'] } as unknown as Parameters<typeof byTurns>[0];
    const many = Array.from({ length: 60 }, (_, at) => ({
      others: Array.from({ length: 19 }, (_, other) => ({ recipient: `r${other}` as Address, amount: 9n })),
      recipient: 'first' as Address,
      payer: `p${at}` as Address,
      amount: 9n,
    }));
    expect(new Set(await firstByTurns(watch, many, 1_000))).toEqual(new Set(many));
    expect(await firstByTurns(watch, many, 40)).toHaveLength(40);
  });

  it('have all accounts among them where one has made nearly all', async () => {
    const watch = { ownersOf: (of: string) => [of] } as unknown as Parameters<typeof byTurns>[0];
    const crowd = Array.from({ length: 5_000 }, (_, at) => ({
      recipient: 'crowd' as Address,
      payer: `p${at}` as Address,
      amount: 9n,
    }));
    const mine = { recipient: 'mine' as Address, payer: 'me' as Address, amount: 1n };
    const first = await firstByTurns(watch, [...crowd, mine], 10);
    expect([first.length, first[1]]).toEqual([10, mine]);
  });
});
