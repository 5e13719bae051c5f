import { describe, expect, it } from '@jest/globals';
import {
  buildIntentRequest,
  createIntentRequest,
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

describe('the body of a create', () => {
  it('gets the defaults of what it leaves out', () => {
    expect(create(good)).toEqual({ ok: true, value: { ...good, direction: 'request', ttlSeconds: 86_400 } });
  });

  const accepted: readonly [name: string, more: Record<string, unknown>][] = [
    ['the shortest life', { ttlSeconds: 60 }],
    ['the longest life', { ttlSeconds: 604_800 }],
    ['an idempotency key of 255 characters', { idempotencyKey: 'k'.repeat(255) }],
    ['255 characters outside the basic plane', { idempotencyKey: '🪙'.repeat(255) }],
    ['20 metadata keys', { metadata: entries(20) }],
    [
      'a metadata key of 40 and a value of 500 characters',
      { metadata: { ['k'.repeat(40)]: 'v'.repeat(500), empty: '' } },
    ],
    ['null where the intent has null', { metadata: null, fulfiller: null }],
    ['any token of the registry by its name', { token: 'pathUSD' }],
  ];
  it.each(accepted)('may have %s', (_name, more) => {
    expect(create({ ...good, ...more })).toMatchObject({ ok: true, value: more });
  });

  const refused: readonly [name: string, body: unknown, param: string, says: RegExp][] = [
    ['no object', [good], '', /JSON object/],
    ['null', null, '', /JSON object/],
    ['text', 'hello', '', /JSON object/],
    ['a missing field', { ...good, amount: undefined }, 'amount', /is required: a decimal string/],
    ['an unknown field', { ...good, ammount: '1' }, 'ammount', /not a parameter/],
    [
      'a prototype for a field',
      JSON.parse(`{"__proto__":{"chain":"x"},${JSON.stringify(good).slice(1)}`),
      '__proto__',
      /not a parameter/,
    ],
    [
      'a prototype for metadata',
      { ...good, metadata: JSON.parse('{"__proto__":"x"}') as unknown },
      'metadata.__proto__',
      /not an allowed key/,
    ],
    ['a chain of no form', { ...good, chain: 'base' }, 'chain', /CAIP-2/],
    ['a number for an amount', { ...good, amount: 1.5 }, 'amount', /a decimal string/],
    ['a sign', { ...good, amount: '-1' }, 'amount', /without sign/],
    ['an exponent', { ...good, amount: '1e3' }, 'amount', /exponent/],
    ['a leading zero', { ...good, amount: '01' }, 'amount', /decimal string/],
    ['a bare point', { ...good, amount: '1.' }, 'amount', /decimal string/],
    ['nothing to pay', { ...good, amount: '0.00' }, 'amount', /greater than 0/],
    ['other digits', { ...good, amount: '１' }, 'amount', /decimal string/],
    ['an endless amount', { ...good, amount: '1'.repeat(101) }, 'amount', /decimal string/],
    ['a third direction', { ...good, direction: 'both' }, 'direction', /"request" or "send"/],
    ['an empty wallet', { ...good, requestor: '' }, 'requestor', /wallet address/],
    ['an empty idempotency key', { ...good, idempotencyKey: '' }, 'idempotencyKey', /1 to 255/],
    [
      'an idempotency key of 256 characters',
      { ...good, idempotencyKey: 'k'.repeat(256) },
      'idempotencyKey',
      /1 to 255/,
    ],
    ['U+0000, which Postgres cannot keep', { ...good, idempotencyKey: 'a\0b' }, 'idempotencyKey', /U\+0000/],
    ['half of a surrogate pair', { ...good, metadata: { note: '\ud83e' } }, 'metadata.note', /surrogate/],
    ['a life of a second', { ...good, ttlSeconds: 1 }, 'ttlSeconds', /from 60 to 604800/],
    ['a life of eight days', { ...good, ttlSeconds: 691_200 }, 'ttlSeconds', /from 60 to 604800/],
    ['a fraction of a second', { ...good, ttlSeconds: 60.5 }, 'ttlSeconds', /whole number/],
    ['a life in text', { ...good, ttlSeconds: '60' }, 'ttlSeconds', /whole number/],
    ['21 metadata keys', { ...good, metadata: entries(21) }, 'metadata', /at most 20/],
    ['metadata that is a list', { ...good, metadata: ['x'] }, 'metadata', /object/],
    ['metadata that is no text', { ...good, metadata: { order: 1 } }, 'metadata.order', /a string of 0 to 500/],
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
  it.each(refused)('is refused with %s, by name and saying what would be right', (_name, body, param, says) => {
    const parsed = create(body);
    expect(parsed).toMatchObject({ ok: false, issues: [{ param, message: expect.stringMatching(says) }] });
  });

  it('names everything that is wrong with it, each field once', () => {
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

describe('the other bodies', () => {
  it.each(['0050-02-18T22:08:31+09:01', '1970-01-01T00:00:00+00:01', '2026-11-21', 'yesterday'])(
    'an update of an intent last changed at %s is refused: none was',
    (updatedAt) => {
      expect(parseRequest(updateIntentRequest, { updatedAt, metadata: {} })).toMatchObject({
        ok: false,
        issues: [{ param: 'updatedAt', message: expect.stringMatching(/when you read it/) }],
      });
    },
  );

  it('a build names its payer or nobody', () => {
    expect(parseRequest(buildIntentRequest, {})).toEqual({ ok: true, value: {} });
    expect(parseRequest(buildIntentRequest, { fulfiller: 7 })).toMatchObject({
      ok: false,
      issues: [{ param: 'fulfiller' }],
    });
  });

  it('a submit needs the signed transaction', () => {
    expect(parseRequest(submitIntentRequest, { fulfiller: 'x' })).toMatchObject({
      ok: false,
      issues: [{ param: 'signedTransaction', message: expect.stringMatching(/base64/) }],
    });
  });

  it('cancel and detected take no fields', () => {
    expect(parseRequest(emptyRequest, {})).toEqual({ ok: true, value: {} });
    expect(parseRequest(emptyRequest, { reason: 'x' })).toMatchObject({ ok: false, issues: [{ param: 'reason' }] });
  });
});
