import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readBackingStack } from '@pf/testing';
import pg from 'pg';
import { textArray } from '../../src/postgres/text-array.ts';

const client = new pg.Client({ connectionString: readBackingStack().database });
beforeAll(() => client.connect());
afterAll(() => client.end());

const cases: Record<string, readonly (string | null)[]> = {
  'no value': [],
  'one value': ['one'],
  'what the text format quotes': ['{"quoted": "a \\"b\\" \\\\"}', '', 'NULL', '{a,b}', 'two\nlines'],
  nulls: ['a', null, 'b', null],
  'more bytes than characters': ['žluťoučký kůň', '🐎', '🐎🐎'],
  'ten thousand values': Array.from({ length: 10_000 }, (_, index) => `value ${index}`),
};

describe('textArray', () => {
  it.each(Object.entries(cases))('gives Postgres the array that node-postgres makes: %s', async (_name, values) => {
    const { rows } = await client.query('SELECT $1::text[] AS binary, $1::text[] = $2::text[] AS same', [
      textArray(values),
      values,
    ]);
    expect(rows).toEqual([{ binary: values, same: true }]);
  });
});
