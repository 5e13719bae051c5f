import { describe, it } from '@jest/globals';
import type { CommandData } from '@pf/domain';
import { given } from '../../src/testing/given.ts';
import { built, created, detected, expired, pending, prepared, updated } from '../../src/testing/events.ts';
import { gateway } from '../../src/testing/inputs.ts';
import { BOB, FIRST, SCENARIO_START, TTL_SECONDS } from '../../src/testing/samples.ts';

const patch = (data: Omit<CommandData['update'], 'updatedAt'>, updatedAt = SCENARIO_START) =>
  gateway.update({ updatedAt, ...data });

describe('An amount that is reserved', () => {
  const reserved = created({ attribution: 'amount' });

  it('stays, as does its time', () => {
    for (const change of [{ amount: '13', amountBaseUnits: 13_000_000n }, { ttlSeconds: 60 }])
      given(reserved).when(patch(change)).thenRefused('intent.invalid_state');
  });

  it('leaves metadata to be changed', () => {
    given(reserved)
      .when(patch({ metadata: { table: '4' } }))
      .then(updated({ metadata: { table: '4' } }));
  });
});

describe('metadata', () => {
  it('is merged key by key; null removes a key', () => {
    given(created({ metadata: { table: '4', waiter: 'Ida' } }))
      .when(patch({ metadata: { table: null, tip: '1.00' } }))
      .then(updated({ metadata: { waiter: 'Ida', tip: '1.00' } }));
  });

  it('is cleared by null', () => {
    given(created({ metadata: { table: '4' } }))
      .when(patch({ metadata: null }))
      .then(updated({ metadata: null }));
  });

  it('changes nothing when it is the same as before', () => {
    given(created({ metadata: { table: '4' } }))
      .when(patch({ metadata: { table: '4', gone: null } }))
      .thenNothing();
    given(created())
      .when(patch({ metadata: {} }))
      .thenNothing();
    given(created()).when(patch({})).thenNothing();
  });

  it('accepts any text as a key', () => {
    const key: Record<string, string> = JSON.parse('{"__proto__":"x","constructor":"y"}') as Record<string, string>;
    given(created())
      .when(patch({ metadata: key }))
      .then(updated({ metadata: key }));
  });

  it('has at most 20 keys after the merge', () => {
    const twenty = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`key ${n}`, 'x']));
    given(created({ metadata: twenty }))
      .when(patch({ metadata: { more: 'x' } }))
      .thenRefused('request.validation_failed')
      .withOutcome({ param: 'metadata' });
    given(created({ metadata: twenty }))
      .when(patch({ metadata: { more: 'x', 'key 0': null } }))
      .showing({ metadata: { ...Object.fromEntries(Object.entries(twenty).slice(1)), more: 'x' } });
  });
});

describe('ttlSeconds', () => {
  it('counts from createdAt', () => {
    given(created(), detected())
      .when(patch({ ttlSeconds: 60 }, SCENARIO_START + 1000))
      .showing({ ttlSeconds: 60, expiresAt: '2026-11-21T12:01:00.000Z' });
  });

  it('is refused with its field when it ends in the past', () => {
    given(created())
      .when(patch({ ttlSeconds: 60 }), SCENARIO_START + 60_000)
      .thenRefused('request.validation_failed')
      .withOutcome({ param: 'ttlSeconds' });
    given(created())
      .when(patch({ ttlSeconds: 60 }), SCENARIO_START + 59_999)
      .then(updated({ ttlSeconds: 60 }));
  });
});

describe('updatedAt', () => {
  it('grows by at least a millisecond with every public change, even when the clock stands still', () => {
    given(created())
      .when(gateway.detect(), SCENARIO_START)
      .knowing({ updatedAt: SCENARIO_START + 1 })
      .when(gateway.recordBuild(), SCENARIO_START)
      .knowing({ updatedAt: SCENARIO_START + 2 });
  });

  it('does not move when only private fields change', () => {
    given(created({ fulfiller: BOB }), built())
      .when(gateway.prepare(FIRST))
      .then(prepared(FIRST))
      .knowing({ updatedAt: SCENARIO_START });
  });

  it('must be current in the next update; the refusal has the current one', () => {
    given(created(), detected())
      .when(patch({ metadata: { a: 'b' } }))
      .thenRefused('intent.stale_update')
      .withOutcome({ currentState: 'created', details: { current_updated_at: '2026-11-21T12:00:01.000Z' } });
  });

  it('moves with an expiry that is due, so an update at that moment is stale', () => {
    given(created())
      .when(patch({ metadata: { a: 'b' } }), SCENARIO_START + TTL_SECONDS * 1000)
      .thenRefused('intent.stale_update', expired(false));
  });
});

describe('amount', () => {
  it('cannot change after a submission, even when that was dropped', () => {
    given(created(), prepared(FIRST), pending(FIRST), {
      type: 'intent.retry_required',
      data: { hash: FIRST, proof: 'dropped', simulated: false },
    })
      .when(patch({ amount: '1', amountBaseUnits: 1_000_000n }, SCENARIO_START + 3000))
      .thenRefused('intent.invalid_state');
  });

  it('is shown as the client wrote it when only its notation changes', () => {
    given(created())
      .when(patch({ amount: '12.5', amountBaseUnits: 12_500_000n }))
      .showing({ amount: '12.5', amountBaseUnits: '12500000' });
  });
});
