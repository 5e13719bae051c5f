import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { AccountId, DepositId, TransactionHash } from '@pf/domain';
import { deposits } from '@pf/domain/testing';
import { networkOf, type OpenDeposit } from '../../../src/index.ts';
import { dueDeposits, finalDeposits, judgeDeposits, noteJudged } from '../../../src/solana/observe/open-deposits.ts';
import { Memory } from '../../../src/solana/observe/memory.ts';
import type { WatchSet } from '../../../src/port.ts';
import { respondingNode } from '../../nodes.ts';
import { poolBesideAway, WAYS_TO_BE_AWAY } from '../../second-away.ts';
import { doubtingBy } from '../late.ts';
import { DEVNET } from '../payments.ts';

const heads = {
  confirmed: { absoluteSlot: 50n, blockHeight: 50n },
  finalized: { absoluteSlot: 20n, blockHeight: 20n },
};
const open = (id: string, hash = id, account = 'acc_1', block = 7n): OpenDeposit => ({
  ...deposits.received(),
  id: id as DepositId,
  accountId: account as AccountId,
  arrival: deposits.arrival({ hash: hash as TransactionHash, block, blockHash: null }),
});
const watching = (...all: readonly OpenDeposit[]): WatchSet =>
  ({ openDeposits: () => all, recall: () => Promise.resolve() }) as unknown as WatchSet;

/** Nothing is read beside the steps. */
const noneKnown = { isKnown: () => false };

afterEach(() => void jest.restoreAllMocks());

describe('deposits that are not final', () => {
  let memory: Memory;
  beforeEach(() => {
    memory = new Memory();
  });
  const due = (watch: WatchSet, now = 0): readonly string[] =>
    dueDeposits(watch, memory, heads, now, new Set(), noneKnown).map((pending) =>
      pending.deposits.map(({ id }) => id).join(' '),
    );

  it('are due by transaction once the final chain has come to them', () => {
    expect(due(watching(open('one', 'a'), open('two', 'b', 'acc_1', 21n), open('three', 'a', 'acc_2')))).toEqual([
      'one three',
    ]);
  });

  it('are due again half a minute after they were judged', () => {
    const watch = watching(open('one'));
    noteJudged(memory, dueDeposits(watch, memory, heads, 0, new Set(), noneKnown), 0)();
    expect(due(watch, 29_999)).toEqual([]);
    expect(due(watch, 30_000)).toEqual(['one']);
    // In another slot it is another place.
    expect(due(watching(open('one', 'one', 'acc_1', 8n)), 1)).toEqual(['one']);
  });

  it('are judged by turns of their accounts, a hundred transactions in a step', () => {
    const many = Array.from({ length: 300 }, (_, at) => open(`many ${at}`));
    const taken = due(watching(...many, open('few', 'few', 'acc_2')));
    expect([taken.length, taken[0], taken[1]]).toEqual([100, 'many 0', 'few']);
    // Who was served waits behind who comes next.
    expect(due(watching(...many, open('late', 'late', 'acc_3'))).slice(0, 2)).toEqual(['late', 'many 0']);
  });

  it.each(WAYS_TO_BE_AWAY)('are not final by one, however long the second upstream is %s', async (way) => {
    const node = respondingNode(({ method }) => {
      throw new Error(`${method} is asked for once more`);
    }, 'one.example');
    const pool = poolBesideAway(node, way);
    const watch = watching(open('one'));
    const clock = jest.spyOn(performance, 'now');
    const began = performance.now();
    for (const now of [0, 660_000]) {
      clock.mockReturnValue(began + now);
      const due = dueDeposits(watch, memory, heads, now, new Set(), noneKnown);
      const judged = await finalDeposits(doubtingBy(pool, node), due, memory, networkOf(DEVNET), watch, now);
      expect([due.length, judged.deposits, judged.warnings]).toEqual([1, [], []]);
      judged.commit();
    }
    await pool.close();
    expect(memory.unshown.longAmong(() => ['one'], 660_000)).toBe(1);
  });

  it('are final in the same slot, and lost in another one or where they failed', () => {
    const status = (slot: bigint, err: string | null = null, confirmationStatus = 'finalized' as const) => ({
      slot,
      err,
      confirmationStatus,
    });
    const all = ['final', 'elsewhere', 'failed', 'early', 'missing'].map((id) => open(id));
    const judged = judgeDeposits(
      dueDeposits(watching(...all), memory, heads, 0, new Set(), noneKnown),
      [
        status(7n),
        status(9n),
        status(7n, 'InsufficientFundsForFee'),
        { ...status(9n), confirmationStatus: 'processed' },
      ],
      heads,
    );
    const hashesOf = (of: typeof judged.final) => of.map(({ hash }) => hash as string);
    expect([judged.final, judged.lost, judged.missing].map(hashesOf)).toEqual([
      ['final'],
      ['elsewhere', 'failed'],
      ['missing'],
    ]);
  });
});
