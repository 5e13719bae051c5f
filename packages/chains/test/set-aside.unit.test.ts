import { describe, expect, it } from '@jest/globals';
import type { Address, TransactionHash } from '@pf/domain';
import { afterLook, byTurns, dueAgain, type SetAside, setAside } from '../src/set-aside.ts';

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
const failedOnce = (number: number) => afterLook([], new Set(), [one(number)], START);

describe('transactions that are set aside', () => {
  it('are told once, with their place and the reason', () => {
    const first = failedOnce(1);
    expect(first.warnings).toEqual([`${hashOf(1)} of 7 is set aside: its receipt is too long`]);
    expect(afterLook(first.kept, new Set(), [one(1)], START + 1_000).warnings).toEqual([]);
  });

  it('are looked at again after growing pauses: a second, half their age, ten minutes at most', () => {
    let { kept } = failedOnce(1);
    const pauses: number[] = [];
    for (const age of [0, 1_000, 10_000, 1_200_000, 7_200_000]) {
      ({ kept } = afterLook(kept, new Set(), [one(1)], START + age));
      pauses.push((kept[0]?.dueAt ?? 0) - START - age);
      expect(kept[0]?.since).toBe(START);
    }
    expect(pauses).toEqual([1_000, 1_000, 5_000, 600_000, 600_000]);
  });

  it('are forgotten once they are judged', () => {
    expect(afterLook(failedOnce(1).kept, new Set([hashOf(1)]), [], START + 1_000)).toEqual({ kept: [], warnings: [] });
  });

  it('stay with what has failed again beside another judgement of theirs', () => {
    const { kept } = afterLook(failedOnce(1).kept, new Set([hashOf(1)]), [one(1)], START + 1_000);
    expect(numbers(kept)).toEqual([1]);
  });

  it('are given up after a day, with a warning', () => {
    const before = failedOnce(1).kept;
    expect(afterLook(before, new Set(), [], START + DAY - 1).kept).toHaveLength(1);
    expect(afterLook(before, new Set(), [], START + DAY)).toEqual({
      kept: [],
      warnings: [`${hashOf(1)} of 7 is given up: its receipt is too long`],
    });
  });

  it('are neither given up nor crowded out while an intent waits for their outcome', () => {
    const isHeld = (one: SetAside): boolean => numbers([one])[0] === 1;
    const many = Array.from({ length: 600 }, (_, number) => one(number + 2));
    const before = [...many, one(1)];
    const { kept } = afterLook(before, new Set(), [], START + 1_000, isHeld);
    expect([kept.length, numbers(kept).includes(1)]).toEqual([501, true]);
    expect(numbers(afterLook(kept, new Set(), [], START + DAY, isHeld).kept)).toEqual([1]);
    expect(afterLook(kept, new Set([hashOf(1)]), [], START + DAY, isHeld).kept).toEqual([]);
  });

  it('are due by turns of their recipients, and of the payers within one', () => {
    const spam = [1, 2, 3, 4].map((number) => one(number, 'merchant', 'spammer'));
    const all = [...spam, one(5, 'merchant', 'customer'), one(6, 'other', 'payer')];
    expect(numbers(dueAgain(all, START, 3))).toEqual([1, 6, 5]);
    expect(numbers(byTurns(all))).toEqual([1, 6, 5, 2, 3, 4]);
    expect(dueAgain(all, START - 1, 3)).toEqual([]);
  });

  it('are 500 at most, of which the newest of the greediest payer and recipient go', () => {
    const spam = Array.from({ length: 499 }, (_, number) => one(number, 'merchant', 'spammer'));
    const { kept, warnings } = afterLook(
      [one(1_000, 'merchant', 'customer'), ...spam],
      new Set(),
      [one(2_000, 'other', 'payer')],
      START,
    );
    expect(kept).toHaveLength(500);
    expect(numbers(kept)).toEqual(expect.arrayContaining([1_000, 2_000, 0, 497]));
    expect(numbers(kept)).not.toContain(498);
    expect(warnings).toContainEqual(expect.stringContaining(`${hashOf(498)} of 7 is given up`));
  });

  it('are 1,000 at most where an intent waits for all of them', () => {
    const all = Array.from({ length: 1_200 }, (_, number) => one(number));
    expect(afterLook(all, new Set(), [], START, () => true).kept).toHaveLength(1_000);
  });

  it('are 500 at most however many come at once, and say so in 20 warnings and a number', () => {
    const honest = one(1, 'honest');
    const spam = Array.from({ length: 50_000 }, (_, place) => one(place + 2, `recipient ${place % 2_000}`, `${place}`));
    const { kept, warnings } = afterLook([honest], new Set(), spam, START);
    expect([kept.length, kept.includes(honest), warnings.length]).toEqual([500, true, 21]);
  });

  it('are never given up before later ones where all have as many', () => {
    const all = Array.from({ length: 500 }, (_, number) => one(number, 'merchant', `payer ${number}`));
    const { kept } = afterLook(all, new Set(), [one(2_000, 'merchant', 'payer')], START);
    expect(numbers(kept)).toEqual(numbers(all));
  });

  it('are read back from a cursor, also from one without payers', () => {
    const written = JSON.parse(JSON.stringify({ ...one(1), place: '7' })) as unknown;
    expect(setAside.parse(written)).toEqual(one(1));
  });
});
