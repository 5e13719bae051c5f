import { encodeInput, newIntentId } from '@pf/contracts';
import { gateway } from '@pf/domain/testing';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readInput } from '../src/input.ts';
import { create, of, PARTITIONS } from './messages.ts';
import { raw } from './batches.ts';

const reasonOf = (value: string | null, partition = 0): string | null => {
  const input = readInput(raw(value, { partition }), PARTITIONS);
  return input.message === null ? input.reason : null;
};
/** A create in partition 0, with its text changed. */
const changed = (change: (text: string) => string): string =>
  change(encodeInput(create({ idempotencyKey: 'KEY', metadata: { note: 'NOTE' } }, { partition: 0 })));

describe('readInput', () => {
  it('reads commands and observations', () => {
    expect(reasonOf(changed((text) => text))).toBeNull();
  });

  it.each([
    ['no value', null, 'the record has no value'],
    ['text that is not JSON', 'password=hunter2', 'the record is not JSON'],
    ['JSON that is not an object', '"hunter2"', 'message: Invalid input: expected object, received string'],
  ])('names the problem of %s, not its content', (_what, value, reason) => {
    expect(reasonOf(value)).toBe(reason);
  });

  it.each([
    [
      'a NUL in a key',
      (text: string) => text.replace('"KEY"', '"K\\u0000Y"'),
      /data\.idempotencyKey: must not contain U\+0000 or lone surrogates/,
    ],
    [
      'half a surrogate pair in metadata',
      (text: string) => text.replace('"NOTE"', '"\\ud800"'),
      /data\.metadata\.note: must not contain U\+0000 or lone surrogates/,
    ],
    [
      'an amount wider than its column',
      (text: string) => text.replace('"12500000"', `"1${'0'.repeat(20)}"`),
      /data\.amountBaseUnits/,
    ],
    [
      'a command id that is not a UUID',
      (text: string) => text.replace(/"commandId":"[^"]+"/, '"commandId":"1"'),
      /commandId/,
    ],
    [
      'a lifetime beyond all calendars',
      (text: string) => text.replace('"ttlSeconds":3600', '"ttlSeconds":9000000000000'),
      /data\.ttlSeconds/,
    ],
  ])('rejects %s, which Postgres would reject after the commit', (_what, change, reason) => {
    expect(reasonOf(changed(change))).toMatch(reason);
  });

  it('rejects messages of another partition’s intents', () => {
    const { intentId } = create({}, { partition: 1 });
    expect(reasonOf(encodeInput(of(intentId, gateway.detect())), 0)).toMatch(/not of this partition/);
    expect(reasonOf(encodeInput(of(newIntentId(0), gateway.refund(newIntentId(1)))), 0)).toMatch(
      /not of this partition/,
    );
    expect(reasonOf(encodeInput(of(newIntentId(0), gateway.refund(newIntentId(0)))), 0)).toBeNull();
  });

  it('never throws for any text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.json().map((text) => `{"commandId":${text},"replyTo":${text},"trace":${text}}`),
        ),
        (value) => typeof reasonOf(value) === 'string',
      ),
    );
  });
});
