import { describe, expect, it } from '@jest/globals';
import { GENESIS, link } from '../src/chain.ts';
import { isSignedBy, readManifest, Signer, type Statement, writeManifest } from '../src/manifest.ts';

const signer = new Signer(Buffer.alloc(32, 7));
const statement: Statement = {
  format: 1,
  partition: 3,
  first: 350,
  last: 351,
  day: '2026-11-23',
  file: 'events/day=2026-11-23/partition=3/000000000350.parquet',
  bytes: 4_711,
  sha256: 'ab'.repeat(32),
  offsets: { first: '700', last: '702' },
  intents: 2,
  versions: { lowest: 1, highest: 4 },
  lastEvent: { intentId: 'pi_1', version: 4, sha256: 'cd'.repeat(32) },
  chain: { before: GENESIS, after: 'ef'.repeat(32) },
};

/** Another value of each field, of the same form. */
const other: Readonly<Record<keyof Statement, unknown>> = {
  format: 2,
  partition: 4,
  first: 349,
  last: 352,
  day: '2026-11-24',
  file: 'events/day=2026-11-23/partition=3/000000000349.parquet',
  bytes: 4_712,
  sha256: 'ac'.repeat(32),
  offsets: { first: '700', last: '704' },
  intents: 3,
  versions: null,
  lastEvent: { intentId: 'pi_2', version: 4, sha256: 'cd'.repeat(32) },
  chain: { before: GENESIS, after: 'ed'.repeat(32) },
};

describe('a manifest', () => {
  it('is signed, also after it was written and read', () => {
    const read = readManifest(writeManifest(signer.sign(statement)));
    expect(read).toMatchObject(statement);
    expect(isSignedBy(signer.publicKey, read)).toBe(true);
  });

  it.each(Object.keys(statement) as (keyof Statement)[])('is not signed with another %s', (field) => {
    const forged = { ...signer.sign(statement), [field]: other[field] };
    // There is no other format.
    if (field === 'format') expect(() => isSignedBy(signer.publicKey, forged)).toThrow('format');
    else expect(isSignedBy(signer.publicKey, readManifest(writeManifest(forged)))).toBe(false);
  });

  it('is not signed by another key, nor by one that is none', () => {
    const signed = signer.sign(statement);
    expect(isSignedBy(new Signer(Buffer.alloc(32, 8)).publicKey, signed)).toBe(false);
    expect(isSignedBy('', signed)).toBe(false);
  });
});

describe('the hash chain', () => {
  const events = ['{"a":1}', '{"b":2}', null, '{"c":3}'];
  const whole = link(GENESIS, events);

  it('is the same however the events are spread', () => {
    for (let at = 0; at <= events.length; at++)
      expect(link(link(GENESIS, events.slice(0, at)), events.slice(at))).toBe(whole);
  });

  it('changes with each byte, each event and their order', () => {
    for (const other of [
      ['{"a":1}', '{"b":3}', null, '{"c":3}'],
      ['{"a":1}', null, '{"c":3}'],
      ['{"b":2}', '{"a":1}', null, '{"c":3}'],
      ['{"a":1}{"b":2}', null, '{"c":3}'],
    ])
      expect(link(GENESIS, other)).not.toBe(whole);
  });
});
