import { describe, expect, it } from '@jest/globals';
import { toRow } from '../src/row.ts';
import { RECORDED_DEPOSITS, recordAt } from './recorded.ts';

describe('The row of an event of a deposit', () => {
  it('has all of it, and no intent', () => {
    for (const [offset, line] of RECORDED_DEPOSITS.entries()) {
      const { type, accountId, eventId, livemode } = JSON.parse(line) as Record<string, unknown>;
      expect(toRow(recordAt(3, offset, line))).toMatchObject({
        partition: 3,
        intentId: null,
        version: null,
        intent: null,
        type,
        accountId,
        eventId,
        livemode,
        event: line,
      });
    }
  });
});
