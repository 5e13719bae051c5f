import { randomBytes } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { newIntentId } from '@pf/contracts';
import { evolve, type IntentEvent, type IntentId, type PaymentIntent } from '@pf/domain';
import { events, type ExpectedEvent, samples } from '@pf/domain/testing';
import { keptOf, sharedTexts } from '../src/kept-intent.ts';
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

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
/** What is in use, once nothing more can be collected of what was there before. */
function heapBytes(): number {
  for (let least = Number.POSITIVE_INFINITY; ;) {
    collect();
    const { heapUsed } = process.memoryUsage();
    if (heapUsed > least - 10_000) return least;
    least = heapUsed;
  }
}

const paid = [events.created(), events.pending(samples.FIRST), events.confirmed(samples.FIRST)] as const;
const kept = (...told: readonly ExpectedEvent[]): PaymentIntent => keptOf(after(...told), sharedTexts());

describe('A packed intent', () => {
  it.each([
    ['created', kept(events.created())],
    ['changed', kept(events.created(), events.updated({ amount: '1', amountBaseUnits: 1_000_000n }))],
    ['living longer', kept(events.created(), events.updated({ ttlSeconds: 7_200 }))],
    ['detected', kept(events.created(), events.detected())],
    ['submitted', kept(events.created(), events.built(), events.prepared(samples.FIRST))],
    ['paid', kept(...paid)],
    ['paid for good', kept(...paid, events.finalized(samples.FIRST))],
    ['paid and refunded', kept(...paid, events.refundLinked('pi_refund' as IntentId))],
    ['expired', kept(events.created(), events.expired())],
    ['held', { ...kept(events.created()), heldFrom: 2 }],
    ['of newer code', { ...kept(...paid), newer: { text: '#1', more: ['##', samples.REFERENCE] } } as PaymentIntent],
  ])('is the same when it is unpacked: %s', (_state, intent) => {
    const packed = new Packing().pack(intent);
    expect(packed).toBeInstanceOf(PackedIntent);
    expect(unpack(packed)).toEqual(intent);
  });

  it('folds events like the unpacked intent', () => {
    const next = { ...events.finalized(samples.FIRST), intentId: samples.INTENT, version: 4, at: 9_000 } as IntentEvent;
    const intent = kept(...paid);
    expect(evolve(unpack(new Packing().pack(intent)), next)).toEqual(evolve(intent, next));
  });

  it.each([
    ['open', 350, [events.created()]],
    ['paid', 800, [...paid, events.finalized(samples.FIRST)]],
  ])('takes few bytes in a set of 20,000 that are %s', (_state, most, told) => {
    const count = 20_000;
    const [packing, shared] = [new Packing(), sharedTexts()];
    const before = heapBytes();
    const all = Array.from({ length: count }, () => {
      // As they are read: no text is shared with another intent.
      const read = JSON.stringify(after(...told), (_field, value: unknown) =>
        typeof value === 'bigint' ? `${value}n` : value,
      )
        .replaceAll(samples.REFERENCE, `0x${randomBytes(32).toString('hex')}`)
        .replaceAll(samples.INTENT, newIntentId(1));
      const intent = JSON.parse(read, (_field, value: unknown) =>
        typeof value === 'string' && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
      ) as PaymentIntent;
      return packing.pack(keptOf(intent, shared));
    });
    const bytes = (heapBytes() - before) / count;
    expect(all.every((one) => one instanceof PackedIntent)).toBe(true);
    expect(bytes).toBeLessThan(most);
  });

  it('is not made of an intent that keptOf() has not seen', () => {
    const intent = after(...paid);
    expect(new Packing().pack(intent)).toBe(intent);
  });
});
