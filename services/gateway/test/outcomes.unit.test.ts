import { newCommandId } from '@pf/contracts';
import { forOwner, type Owner, ownerNow } from '@pf/database';
import { createLogger } from '@pf/runtime';
import { describe, expect, it } from '@jest/globals';
import { Outcomes, OutcomeUnknownError } from '../src/outcomes.ts';

describe('Outcomes', () => {
  it('are looked up in the turn of no account, though the request of one begins it', async () => {
    const owners: (Owner | undefined)[] = [];
    const findOutcomes = async () => {
      owners.push(ownerNow());
      return [];
    };
    const outcomes = new Outcomes({ findOutcomes }, createLogger('test', 'silent'));
    const unknown = forOwner({ name: 'one', member: 'key' }, () => outcomes.expect(newCommandId(), false, 1_050));
    await expect(unknown).rejects.toThrow(OutcomeUnknownError);
    expect([owners.length > 0, new Set(owners)]).toEqual([true, new Set([undefined])]);
  });
});
