import { describe, expect, it } from '@jest/globals';
import {
  buildIntentRequest,
  createIntentRequest,
  createPaymentLinkRequest,
  emptyRequest,
  parseRequest,
  submitIntentRequest,
  updateIntentRequest,
} from '../../src/index.ts';

const good = {
  chain: 'eip155:84532',
  token: 'USDC',
  amount: '12.50',
  requestor: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
};
const create = (body: unknown) => parseRequest(createIntentRequest, body);
const entries = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`key${n}`, 'x']));

describe('createIntentRequest', () => {
  it('applies the defaults of omitted fields', () => {
    expect(create(good)).toEqual({ ok: true, value: { ...good, direction: 'request', ttlSeconds: 86_400 } });
  });

  const accepted: readonly [name: string, more: Record<string, unknown>][] = [
    ['the shortest time to live', { ttlSeconds: 60 }],
    ['the longest time to live', { ttlSeconds: 604_800 }],
    ['an idempotency key of 255 characters', { idempotencyKey: 'k'.repeat(255) }],
    ['an idempotency key of 255 characters outside the basic plane', { idempotencyKey: '🪙'.repeat(255) }],
    ['20 metadata keys', { metadata: entries(20) }],
    [
      'a metadata key of 40 and a value of 500 characters',
      { metadata: { ['k'.repeat(40)]: 'v'.repeat(500), empty: '' } },
    ],
    ['tabs and line breaks in metadata', { metadata: { note: 'one\ttwo\r\nthree' } }],
    ['characters from U+007F on in metadata', { metadata: { note: 'O\u0092Brien\u007f\u2028' } }],
    ['null for nullable fields', { metadata: null, fulfiller: null }],
    ['the symbol of any token', { token: 'pathUSD' }],
  ];
  it.each(accepted)('accepts %s', (_name, more) => {
    expect(create({ ...good, ...more })).toMatchObject({ ok: true, value: more });
  });

  const refused: readonly [name: string, body: unknown, param: string, says: RegExp][] = [
    ['an array', [good], '', /JSON object/],
    ['null', null, '', /JSON object/],
    ['a string', 'hello', '', /JSON object/],
    ['a missing field', { ...good, amount: undefined }, 'amount', /is required: a decimal string/],
    ['an unknown field', { ...good, ammount: '1' }, 'ammount', /not a parameter/],
    [
      'a __proto__ field',
      JSON.parse(`{"__proto__":{"chain":"x"},${JSON.stringify(good).slice(1)}`),
      '__proto__',
      /not a parameter/,
    ],
    [
      'a __proto__ key in metadata',
      { ...good, metadata: JSON.parse('{"__proto__":"x"}') as unknown },
      'metadata.__proto__',
      /not an allowed key/,
    ],
    ['a chain that is not CAIP-2', { ...good, chain: 'base' }, 'chain', /CAIP-2/],
    ['a numeric amount', { ...good, amount: 1.5 }, 'amount', /a decimal string/],
    ['an amount with a sign', { ...good, amount: '-1' }, 'amount', /without sign/],
    ['an amount with an exponent', { ...good, amount: '1e3' }, 'amount', /exponent/],
    ['an amount with a leading zero', { ...good, amount: '01' }, 'amount', /decimal string/],
    ['an amount that ends with a point', { ...good, amount: '1.' }, 'amount', /decimal string/],
    ['an amount of 0', { ...good, amount: '0.00' }, 'amount', /greater than 0/],
    ['an amount in full-width digits', { ...good, amount: '１' }, 'amount', /decimal string/],
    ['an amount of 101 digits', { ...good, amount: '1'.repeat(101) }, 'amount', /decimal string/],
    ['a third direction', { ...good, direction: 'both' }, 'direction', /"request" or "send"/],
    ['an empty wallet', { ...good, requestor: '' }, 'requestor', /wallet address/],
    ['an empty idempotency key', { ...good, idempotencyKey: '' }, 'idempotencyKey', /1 to 255/],
    [
      'an idempotency key of 256 characters',
      { ...good, idempotencyKey: 'k'.repeat(256) },
      'idempotencyKey',
      /1 to 255/,
    ],
    ['U+0000 in the idempotency key', { ...good, idempotencyKey: 'a\0b' }, 'idempotencyKey', /U\+0000/],
    [
      'a control character in a metadata value',
      { ...good, metadata: { note: 'a\u0001b' } },
      'metadata.note',
      /^metadata\.note must not contain U\+0001, a control character .*: leave it out$/,
    ],
    [
      'a control character in a metadata key',
      { ...good, metadata: { 'a\u001fb': 'x' } },
      'metadata.a\u001fb',
      /has an invalid key: it must not contain U\+001F/,
    ],
    [
      'a control character in the idempotency key',
      { ...good, idempotencyKey: 'a\u0008b' },
      'idempotencyKey',
      /must not contain U\+0008/,
    ],
    ['a lone surrogate in metadata', { ...good, metadata: { note: '\ud83e' } }, 'metadata.note', /surrogate/],
    ['a time to live of a second', { ...good, ttlSeconds: 1 }, 'ttlSeconds', /from 60 to 604800/],
    ['a time to live of eight days', { ...good, ttlSeconds: 691_200 }, 'ttlSeconds', /from 60 to 604800/],
    ['a fraction of a second as time to live', { ...good, ttlSeconds: 60.5 }, 'ttlSeconds', /whole number/],
    ['a time to live in a string', { ...good, ttlSeconds: '60' }, 'ttlSeconds', /whole number/],
    ['21 metadata keys', { ...good, metadata: entries(21) }, 'metadata', /at most 20/],
    ['metadata that is an array', { ...good, metadata: ['x'] }, 'metadata', /object/],
    ['a numeric metadata value', { ...good, metadata: { order: 1 } }, 'metadata.order', /a string of 0 to 500/],
    ['a metadata value of 501 characters', { ...good, metadata: { order: 'v'.repeat(501) } }, 'metadata.order', /500/],
    [
      'an empty metadata key',
      { ...good, metadata: { '': 'x' } },
      'metadata.',
      /invalid key: it must be a string of 1 to 40/,
    ],
    [
      'a metadata key of 41 characters',
      { ...good, metadata: { ['k'.repeat(41)]: 'x' } },
      `metadata.${'k'.repeat(41)}`,
      /1 to 40/,
    ],
  ];
  it.each(refused)('refuses %s, and says what the field must be', (_name, body, param, says) => {
    const parsed = create(body);
    expect(parsed).toMatchObject({ ok: false, issues: [{ param, message: expect.stringMatching(says) }] });
  });

  it('reports every invalid field once', () => {
    const parsed = create({ chain: 'x', token: 1, amount: 'many'.repeat(50), surprise: 1 });
    expect(parsed.ok ? [] : parsed.issues.map(({ param }) => param)).toEqual([
      'chain',
      'token',
      'amount',
      'requestor',
      'surprise',
    ]);
  });
});

describe('createPaymentLinkRequest', () => {
  it('refuses a control character in metadata, and says to leave it out', () => {
    const { chain, token, amount, requestor } = good;
    const link = { amount, offers: [{ chain, token, requestor }], metadata: { note: 'a\u0001b' } };
    expect(parseRequest(createPaymentLinkRequest, link)).toMatchObject({
      ok: false,
      issues: [{ param: 'metadata.note', message: expect.stringMatching(/U\+0001.*leave it out$/) }],
    });
  });
});

/** Of JSON, 20 times: a key of 40 and a value of 500 characters, each of at most four bytes; their quotes, `:`, `,`. */
const METADATA_BYTES_MAX = 20 * ((40 + 500) * 4 + 6) + 1;

describe('the most metadata of a create', () => {
  it.each(['🪙', '"', '\\', '\n', '\u2028'])(
    'is less than 44,000 bytes of JSON where it consists of %j',
    (character) => {
      const metadata = Object.fromEntries(
        Array.from({ length: 20 }, (_, n) => [`${n}`.padEnd(2, 'k') + character.repeat(38), character.repeat(500)]),
      );
      expect(create({ ...good, metadata })).toMatchObject({ ok: true, value: { metadata } });
      expect(Buffer.byteLength(JSON.stringify(metadata))).toBeLessThanOrEqual(METADATA_BYTES_MAX);
    },
  );

  it('is no more with any other character that is accepted', () => {
    const bytesOf = (character: string): number => Buffer.byteLength(JSON.stringify(character)) - 2;
    const accepted = Array.from({ length: 0x1_0000 }, (_, code) => String.fromCharCode(code)).filter(
      (character) => create({ ...good, metadata: { note: character } }).ok,
    );
    expect(accepted.length).toBe(0x1_0000 - 0x800 - 29);
    expect(Math.max(...accepted.map(bytesOf))).toBe(3);
  });
});

describe('updateIntentRequest', () => {
  const update = (metadata: unknown) =>
    parseRequest(updateIntentRequest, { updatedAt: '2026-11-21T12:00:00.000Z', metadata });

  it('removes a key with a control character, which an intent may have from before', () => {
    expect(update({ 'a\u0001b': null })).toMatchObject({ ok: true, value: { metadata: { 'a\u0001b': null } } });
  });

  it.each([
    ['a key', { 'a\u0001b': 'x' }, 'metadata.a\u0001b', /has an invalid key: it must not contain U\+0001/],
    ['a value', { note: 'a\u0001b' }, 'metadata.note', /must not contain U\+0001, .*: leave it out/],
  ])('refuses to set %s with a control character', (_what, metadata, param, says) => {
    expect(update(metadata)).toMatchObject({ ok: false, issues: [{ param, message: expect.stringMatching(says) }] });
  });

  it.each(['0050-02-18T22:08:31+09:01', '1970-01-01T00:00:00+00:01', '2026-11-21', 'yesterday'])(
    'refuses updatedAt %s',
    (updatedAt) => {
      expect(parseRequest(updateIntentRequest, { updatedAt, metadata: {} })).toMatchObject({
        ok: false,
        issues: [{ param: 'updatedAt', message: expect.stringMatching(/when you read it/) }],
      });
    },
  );
});

describe('buildIntentRequest', () => {
  it('has an optional fulfiller', () => {
    expect(parseRequest(buildIntentRequest, {})).toEqual({ ok: true, value: {} });
    expect(parseRequest(buildIntentRequest, { fulfiller: 7 })).toMatchObject({
      ok: false,
      issues: [{ param: 'fulfiller' }],
    });
  });
});

describe('submitIntentRequest', () => {
  it('requires signedTransaction', () => {
    expect(parseRequest(submitIntentRequest, { fulfiller: 'x' })).toMatchObject({
      ok: false,
      issues: [{ param: 'signedTransaction', message: expect.stringMatching(/base64/) }],
    });
  });
});

describe('emptyRequest', () => {
  it('refuses any field', () => {
    expect(parseRequest(emptyRequest, {})).toEqual({ ok: true, value: {} });
    expect(parseRequest(emptyRequest, { reason: 'x' })).toMatchObject({ ok: false, issues: [{ param: 'reason' }] });
  });
});
