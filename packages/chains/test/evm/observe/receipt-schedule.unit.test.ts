import { describe, expect, it } from '@jest/globals';
import type { TransactionHash } from '@pf/domain';
import { ReceiptSchedule } from '../../../src/evm/observe/receipt-schedule.ts';

const HASH = '0xaa' as TransactionHash;

describe('ReceiptSchedule', () => {
  it('reads a receipt again when the age of its transaction has grown by half', () => {
    const schedule = new ReceiptSchedule();
    schedule.asked(HASH, 0, 10_000);
    schedule.commit();
    expect([14_999, 15_000].map((now) => schedule.isDue(HASH, now))).toEqual([false, true]);
  });

  it('reads it at once after a step that failed midway', () => {
    const schedule = new ReceiptSchedule();
    schedule.begin();
    schedule.asked(HASH, 0, 10_000);
    schedule.begin();
    schedule.commit();
    expect(schedule.isDue(HASH, 10_000)).toBe(true);
  });

  it('forgets transactions whose receipts are no longer read', () => {
    const schedule = new ReceiptSchedule();
    schedule.asked(HASH, 0, 10_000);
    schedule.commit();
    schedule.keep(new Set());
    expect(schedule.isDue(HASH, 10_000)).toBe(true);
  });
});
