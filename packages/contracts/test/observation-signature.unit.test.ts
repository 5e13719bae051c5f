import { describe, expect, it } from '@jest/globals';
import type { ChainId } from '@pf/domain';
import { about, samples, watcher } from '@pf/domain/testing';
import fc from 'fast-check';
import {
  encodeInput,
  encodeObservation,
  isSignedBy,
  isSignedObservation,
  newIntentId,
  observationKey,
  observationKeys,
  parseObservation,
} from '../src/index.ts';

const SECRET = Buffer.from('a secret that only the writer has');
const BASE = samples.BASE_SEPOLIA;
const SOLANA = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' as ChainId;
const KEY = observationKey(SECRET, BASE);
const message = {
  ...about(newIntentId(0), watcher.landed(samples.FIRST)),
  chain: BASE,
  trace: { traceparent: null, requestId: null },
};
const signed = encodeObservation(message, KEY);

describe('The signature of an observation', () => {
  it('is the last field of a message that reads as without it', () => {
    expect(parseObservation(signed)).toEqual(message);
    expect(parseObservation(signed)).toEqual(parseObservation(encodeInput(message)));
    expect([isSignedObservation(signed), isSignedObservation(encodeInput(message))]).toEqual([true, false]);
  });

  it('proves its author alone', () => {
    expect(isSignedBy([KEY], signed)).toBe(true);
    expect(isSignedBy([observationKey(SECRET, SOLANA), KEY], signed)).toBe(true);
    for (const other of [observationKey(SECRET, SOLANA), observationKey(SECRET, 'intent'), SECRET])
      expect(isSignedBy([other], signed)).toBe(false);
    expect(isSignedBy([], signed)).toBe(false);
    expect(isSignedBy([KEY], encodeInput(message))).toBe(false);
  });

  it('holds for no other text', () => {
    fc.assert(
      fc.property(fc.nat(signed.length - 1), fc.string({ maxLength: 3 }), (at, text) => {
        const changed = signed.slice(0, at) + text + signed.slice(at + 1);
        expect(isSignedBy([KEY], changed)).toBe(changed === signed);
      }),
    );
  });

  it('is made with the key that the page for operators makes with openssl', () => {
    // printf %s eip155:84532 | openssl dgst -sha256 -hmac "$OBSERVATION_SECRET" -binary | base64
    expect(observationKeys(SECRET, [BASE, SOLANA]).split(',')).toEqual([
      `${BASE}=zNdBJx8pdmPF/srWpD5qMl1FrYho6vpld7pCHaVe7dU=`,
      `${SOLANA}=+0sRXcnvBXK6BWj3cN8OgVbidxJsnhW3AbLVT5VdPR4=`,
    ]);
  });
});
