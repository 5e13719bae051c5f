import { describe, expect, it } from '@jest/globals';
import {
  BODY_LIMIT_BYTES,
  createPaymentLinkRequest,
  emptyRequest,
  OPERATIONS,
  setSponsorRequest,
  updateIntentRequest,
} from '@pf/contracts';
import { DASHBOARD_OPERATIONS } from '@pf/contracts/dashboard';
import { cpuOfARun } from '@pf/testing/quiet-core';
import { z } from 'zod';
import { ApiError } from '../src/index.ts';
import { parseBody } from '../src/json-body.ts';

/** What one body may take to parse and validate: a service does nothing else meanwhile. */
const MS_MAX = 5;
const RUNS = 10;

/** As many parts, each with its number, as fit into a body. */
function many(part: (index: string) => string): string {
  const parts: string[] = [];
  for (let [index, length] = [0, 200]; length < BODY_LIMIT_BYTES; index += 1) {
    const next = part(index.toString(36));
    parts.push(next);
    length += next.length + 1;
  }
  return parts.slice(0, -1).join(',');
}

const numbers = `{${many((index) => `"${index}":0`)}}`;
const VALUES = {
  numbers,
  items: `[${many(() => '0')}]`,
  objects: `[${many((index) => `{"${index}":{}}`)}]`,
  deep: `${'['.repeat(30_000)}${']'.repeat(30_000)}`,
  texts: `{${many((index) => `"${index}":""`)}}`,
  quotes: `"${'\\"'.repeat(30_000)}"`,
  // As many as are validated.
  allowed: `{${numbers.slice(1).split(',').slice(0, 490).join(',')}}`,
  listed: `[${'0,'.repeat(489)}0]`,
};

const bodies = new Map<z.ZodType, string>();
for (const [id, { request }] of Object.entries(OPERATIONS)) if ('body' in request) bodies.set(request.body, id);
for (const [id, operation] of Object.entries(DASHBOARD_OPERATIONS))
  if ('body' in operation) bodies.set(operation.body, id);
const operations = [...bodies].map(([schema, id]) => [id, schema] as const);

const parsed = (schema: z.ZodType, text: string): unknown => {
  try {
    return parseBody(Buffer.from(text), schema);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return [error.code, error.param, error.message];
  }
};
const refused = (field: string | null): unknown => [
  'request.validation_failed',
  field,
  `${field ?? 'The request body'} must have at most 500 values, nested at most 8 deep.`,
];

describe('The worst body of 64 KiB', () => {
  it.each(operations)('costs %s less than 5 ms', (_id, schema) => {
    const fields = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
    const worst = Object.entries(VALUES).flatMap(([kind, value]) => [
      [kind, value] as const,
      ...fields.map((field) => [`${field}: ${kind}`, `{"${field}":${value}}`] as const),
    ]);
    const tooDear = worst.flatMap(([name, body]) => {
      expect(Buffer.byteLength(body)).toBeLessThanOrEqual(BODY_LIMIT_BYTES);
      const ms = cpuOfARun(() => parsed(schema, body), RUNS, MS_MAX);
      return ms < MS_MAX ? [] : [`${name}: ${ms.toFixed(1)} ms`];
    });
    expect(tooDear).toEqual([]);
  });

  it.each(operations)('is refused by %s where it is nested deeply, with its field', (_id, schema) => {
    for (const [open, close] of ['[]', '{}'].map((pair) => [...pair])) {
      const inside = open === '[' ? '[' : '{"a":';
      const nested = `${inside.repeat(8)}0${String(close).repeat(8)}`;
      expect(parsed(schema, `{"first":1,"params":${nested}}`)).toEqual(refused('params'));
    }
  });

  it('is refused with the field that has too many values', () => {
    expect(parsed(updateIntentRequest, `{"updatedAt":"x","metadata":${VALUES.texts}}`)).toEqual(refused('metadata'));
    expect(parsed(emptyRequest, numbers)).toEqual(refused(null));
  });

  it('is accepted where it is valid', () => {
    const offers = Array.from({ length: 20 }, () => ({ chain: 'eip155:8453', token: 'USDC', requestor: 'x' }));
    const metadata = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`{[,${index}`, '",[{'.repeat(100)]));
    const link = { amount: '1', offers, metadata };
    expect(parsed(createPaymentLinkRequest, JSON.stringify(link))).toMatchObject(link);
    const sponsor = { url: 'https://x.example', context: { a: { b: { c: [Array.from({ length: 400 }, () => 1)] } } } };
    expect(parsed(setSponsorRequest, JSON.stringify(sponsor))).toEqual(sponsor);
  });
});

describe('The metadata of an update', () => {
  const keys = (count: number, value: string | null) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`${value}${index}`, value]));
  const update = (metadata: object): unknown =>
    parsed(updateIntentRequest, JSON.stringify({ updatedAt: '2026-11-21T12:00:00.000Z', metadata }));

  it('replaces all keys that there can be', () => {
    const metadata = { ...keys(20, 'x'), ...keys(20, null) };
    expect(update(metadata)).toMatchObject({ metadata });
  });

  it('has no more keys than that', () => {
    expect(update({ ...keys(21, 'x'), ...keys(20, null) })).toEqual([
      'request.validation_failed',
      'metadata',
      'metadata must be an object of at most 40 string values, or null to remove a key; received an object.',
    ]);
  });
});
