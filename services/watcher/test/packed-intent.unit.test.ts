import { describe, expect, it } from '@jest/globals';
import { evolve, type IntentEvent, type PaymentIntent } from '@pf/domain';
import { events, type ExpectedEvent, samples } from '@pf/domain/testing';
import { PackedIntent, Packing, unpack } from '../src/packed-intent.ts';

/** The intent after these events, a second apart. */
function after(...told: readonly ExpectedEvent[]): PaymentIntent {
  let intent: PaymentIntent | undefined;
  for (const [at, { type, data }] of told.entries())
    intent = evolve(intent, {
      type,
      data,
      intentId: samples.INTENT,
      version: at + 1,
      at: samples.SCENARIO_START + at * 1_000,
    } as IntentEvent);
  if (!intent) throw new Error('there are no events');
  return intent;
}

describe('A packed intent', () => {
  it.each([
    ['created', after(events.created())],
    ['changed', after(events.created(), events.updated({ amount: '1', amountBaseUnits: 1_000_000n }))],
    ['detected', after(events.created(), events.detected())],
    ['submitted', after(events.created(), events.built(), events.prepared(samples.FIRST))],
    ['paid', after(events.created(), events.pending(samples.FIRST), events.confirmed(samples.FIRST))],
    ['expired', after(events.created(), events.expired())],
  ])('is the same when it is unpacked: %s', (_state, intent) => {
    expect(unpack(new Packing().pack(intent))).toEqual(intent);
  });

  it('is one that nothing has happened to, and no other', () => {
    const packing = new Packing();
    // Built transactions are not kept (kept-intent.ts).
    expect(packing.pack(after(events.created()))).toBeInstanceOf(PackedIntent);
    for (const intent of [after(events.created(), events.expired()), after(events.created(), events.detected())])
      expect(packing.pack(intent)).toBe(intent);
  });
});
