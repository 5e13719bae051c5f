import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { EVENT_TYPES, eventSchemas } from '../../src/index.ts';
import { nameComponents } from '../../src/openapi/components.ts';
import { linesOf, RECORDED } from '../evolution/recorded.ts';
import { PROMISE, schemaFile } from './events-document.ts';
import { readerBreaks } from './reader-breaks.ts';

const recorded = [...RECORDED, 'sealed' as const, 'deposits' as const]
  .flatMap((recording) => linesOf(recording, 'events'))
  .map((line) => JSON.parse(line) as { readonly type: string });

describe('the schemas of events', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(eventSchemas(), 'events');

  it('describe every event that any version has written', () => {
    for (const event of recorded) {
      const isValid = ajv.getSchema(`events#/$defs/${event.type}`);
      expect([event.type, isValid?.(event), isValid?.errors]).toEqual([event.type, true, null]);
    }
  });

  it('are proven by events with sealed personal data, and by their erasure', () => {
    expect(recorded.filter((event) => 'sealed' in event).map(({ type }) => type)).toContain('intent.created');
    expect(recorded.map(({ type }) => type)).toContain('personal_data_erased');
  });

  it('are the same where the API is described too, which names schemas', () => {
    const before = eventSchemas();
    nameComponents();
    expect(eventSchemas()).toEqual(before);
  });

  it('refuse an event without one of its fields', () => {
    for (const type of EVENT_TYPES) {
      const event = recorded.find((one) => one.type === type);
      if (event === undefined) continue;
      for (const field of Object.keys(event)) {
        const { [field]: _, ...rest } = event as Record<string, unknown>;
        expect([type, field, ajv.getSchema(`events#/$defs/${type}`)?.(rest)]).toEqual([type, field, false]);
      }
    }
  });
});

describe('the promise to those who read events', () => {
  const of = (data: object, required: readonly string[] = Object.keys(data)) => ({
    $defs: { 'intent.created': { type: 'object', properties: data, required } },
  });
  const old = of({ amount: { type: 'string', maxLength: 20 }, state: { enum: ['a', 'b'], type: 'string' } });

  it.each([
    ['a field is added', of({ ...old.$defs['intent.created'].properties, more: { type: 'boolean' } })],
    ['an event type is added', { $defs: { ...old.$defs, 'intent.merged': { type: 'object' } } }],
    [
      'a value is no longer written',
      of({ ...old.$defs['intent.created'].properties, state: { const: 'a', type: 'string' } }),
    ],
  ])('is kept when %s', (_what, current) => {
    expect(readerBreaks(old, current)).toEqual([]);
  });

  it.each([
    ['an event type is gone', { $defs: {} }, 'intent.created is gone'],
    ['a field is gone', of({ state: { enum: ['a', 'b'], type: 'string' } }), 'intent.created.amount is gone'],
    [
      'a field can be absent',
      of(old.$defs['intent.created'].properties, ['state']),
      'intent.created.amount can be absent',
    ],
    [
      'a field can be null',
      of({ ...old.$defs['intent.created'].properties, amount: { type: ['string', 'null'], maxLength: 20 } }),
      'intent.created.amount can be null',
    ],
    [
      'a field has another type',
      of({ ...old.$defs['intent.created'].properties, amount: { type: 'number' } }),
      'intent.created.amount can be number',
    ],
    [
      'a field is longer',
      of({ ...old.$defs['intent.created'].properties, amount: { type: 'string', maxLength: 40 } }),
      'intent.created.amount has a larger maxLength',
    ],
    [
      'a value is added',
      of({ ...old.$defs['intent.created'].properties, state: { enum: ['a', 'b', 'c'], type: 'string' } }),
      'intent.created.state can be "c"',
    ],
  ])('is broken when %s', (_what, current, message) => {
    expect(readerBreaks(old, current)).toEqual([message]);
  });

  it('refuses to generate what breaks it', () => {
    const promised = structuredClone(eventSchemas()) as { $defs: Record<string, { properties: object }> };
    expect(schemaFile(JSON.stringify(promised))).toContain('intent.created');
    promised.$defs['intent.created'] = {
      ...promised.$defs['intent.created'],
      properties: { ...promised.$defs['intent.created']?.properties, was_promised: { type: 'string' } },
    };
    const broken = 'intent.created.was_promised is gone';
    expect(() => schemaFile(JSON.stringify(promised))).toThrow(broken);
    // The generated file was deleted, or changed by hand: the release's copy is compared, too.
    const byHand = JSON.stringify(eventSchemas());
    for (const current of ['', byHand]) expect(() => schemaFile(current, JSON.stringify(promised))).toThrow(broken);
  });

  it('is kept in a copy of its own, and without it nothing is generated', () => {
    expect(readerBreaks(JSON.parse(readFileSync(PROMISE, 'utf8')) as object, eventSchemas())).toEqual([]);
    expect(() => schemaFile('', '')).toThrow('JSON');
  });
});
