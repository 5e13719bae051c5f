import { describe, expect, it } from '@jest/globals';
import { newAuditEntryId } from '../src/ids.ts';

describe('the id of an audit entry', () => {
  it('sorts after all earlier ones, also within a millisecond', () => {
    const made = Array.from({ length: 1_000 }, newAuditEntryId);
    expect(made.toSorted()).toEqual(made);
    expect(new Set(made).size).toBe(made.length);
  });
});
