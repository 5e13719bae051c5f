import { beforeEach, describe, expect, it } from '@jest/globals';
import type { TransactionHash } from '@pf/domain';
import { awaitedAmong } from '../../../src/base/observe/awaited.ts';
import { Memory } from '../../../src/base/observe/memory.ts';
import { afterLook, type SetAside } from '../../../src/set-aside.ts';
import { Watched } from '../../conformance/watching.ts';
import { fulfiller, terms } from '../payments.ts';

let memory = new Memory();
beforeEach(() => {
  memory = new Memory();
});

const DAY = 24 * 3_600_000;
const hashOf = (number: number): TransactionHash => `0x${number.toString(16).padStart(64, '0')}` as TransactionHash;
const aside = (number: number, change: Partial<SetAside> = {}): SetAside => ({
  hash: hashOf(number),
  place: 7n,
  reason: 'its trace cannot be read',
  recipient: terms.requestor,
  payer: fulfiller,
  since: 0,
  dueAt: 0,
  ...change,
});
const submitted = { hash: hashOf(1), sender: fulfiller, lifetime: { kind: 'unlimited' }, terms } as const;
/** The numbers of those that are kept after a day, by a step that judges none of them. */
function keptAfterADay(watched: Watched, ...all: readonly SetAside[]): readonly number[] {
  const { kept } = afterLook(all, {
    now: DAY,
    judged: new Set(),
    failed: [],
    watch: watched,
    heldAmong: (some) => awaitedAmong(watched, some, memory),
  });
  return kept.map(({ hash }) => Number(hash));
}

describe('what is set aside on Base', () => {
  const watching = (nonce: string | null): Watched => {
    const watched = new Watched();
    watched.add('pi_1', terms);
    watched.submit({ ...submitted, nonce }, 0);
    return watched;
  };

  it('is not given up while it is a live submission', () => {
    expect(keptAfterADay(watching(null), aside(1), aside(2))).toEqual([1]);
    expect(keptAfterADay(new Watched(), aside(1), aside(2))).toEqual([]);
  });

  it('is not given up while it may have brought a live authorization, up to three of them', () => {
    const ofAnother = aside(9, { payer: terms.requestor });
    const toAnother = aside(8, { recipient: fulfiller });
    const all = [ofAnother, toAnother, aside(2), aside(3), aside(4), aside(5)];
    expect(keptAfterADay(watching(terms.reference), ...all)).toEqual([2, 3, 4]);
  });

  it('is not given up while its first transfer is of others, and another one may have used the authorization', () => {
    const others = [{ recipient: terms.requestor, payer: fulfiller }];
    const behind = aside(2, { recipient: fulfiller, payer: terms.requestor, others });
    expect(keptAfterADay(watching(terms.reference), behind)).toEqual([2]);
  });

  it('is given up where it is known not to have used the authorization, for another that may have', () => {
    for (const number of [2, 3]) memory.usedBy.set(`${hashOf(1)} ${hashOf(number)}`, false);
    const all = [2, 3, 4, 5, 6].map((number) => aside(number));
    expect(keptAfterADay(watching(terms.reference), ...all)).toEqual([4, 5, 6]);
  });

  it('is not crowded out in the step that sets it aside', () => {
    const others = Array.from({ length: 600 }, (_, number) => aside(number + 10, { payer: terms.requestor }));
    const watched = watching(terms.reference);
    const { kept } = afterLook(others, {
      now: DAY / 2,
      judged: new Set(),
      failed: [aside(1)],
      watch: watched,
      heldAmong: (some) => awaitedAmong(watched, some),
    });
    expect(kept.some(({ hash }) => hash === hashOf(1))).toBe(true);
  });
});
