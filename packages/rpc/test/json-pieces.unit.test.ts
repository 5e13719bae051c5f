import { describe, expect, it } from '@jest/globals';
import type { ReadList } from '../src/json-pieces.ts';
import { JsonPieces, type ReadElement } from '../src/json-pieces.ts';

const MiB = 2 ** 20;
const PIECE = 64 * 2 ** 10;

interface Options {
  readonly read?: ReadElement;
  readonly maxBytes?: number;
  readonly maxKeptBytes?: number;
  readonly chunk?: number;
}
function parse(text: string, { read, maxBytes = 64 * MiB, maxKeptBytes = 8 * MiB, chunk = 10_000 }: Options = {}) {
  const pieces = new JsonPieces({ maxBytes, maxKeptBytes }, read ?? null);
  const bytes = Buffer.from(text);
  for (let from = 0; from < bytes.length; from += chunk) pieces.add(bytes.subarray(from, from + chunk));
  return pieces.end();
}

/** Numbers from 0 to 1, the same for the same seed. */
function randomBy(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}
/** Values as JSON has them, with long texts, so that some are cut in many places. */
function valueBy(random: () => number, depth: number): unknown {
  const kind = Math.floor(random() * (depth > 0 ? 8 : 5));
  const size = Math.floor(random() * 12);
  if (kind === 0) return null;
  if (kind === 1) return random() < 0.5;
  if (kind === 2) return Math.floor(random() * 1e6) / 1_000;
  if (kind < 5) return 'a",]}[{\\é😀\n'.repeat(Math.floor(random() * (random() < 0.05 ? 5_000 : 6)));
  if (kind < 7) return Array.from({ length: size }, () => valueBy(random, depth - 1));
  const names = ['result', '__proto__', '', '5', 'a"b', 'é', 'toString', ...Array.from({ length: size }, String)];
  return Object.fromEntries(names.slice(0, size).map((name) => [name, valueBy(random, depth - 1)]));
}
const spaced = (text: string): string => text.replaceAll(/(?<=[\]}]),/g, ' ,\n').replaceAll(/:(?=[[{])/g, '\t: ');
/** A list that is parsed in pieces, as it is long. */
const long = (last: string): string => `[${'"0123456789",'.repeat(PIECE / 10)}${last}`;

describe('a document of JSON in pieces', () => {
  it('is the same as in one go, whatever it is and wherever its bytes are cut', () => {
    let cut = 0;
    for (let seed = 1; seed <= 200; seed += 1) {
      const random = randomBy(seed);
      const text = JSON.stringify(Array.from({ length: 8 }, () => valueBy(random, 5)));
      if (text.length > 2 * PIECE) cut += 1;
      const chunk = 1 + Math.floor(random() * 100_000);
      expect(parse(text, { chunk, maxKeptBytes: 64 * MiB })).toEqual(JSON.parse(text));
      expect(parse(`\n ${spaced(text)} `, { chunk, maxKeptBytes: 64 * MiB })).toEqual(JSON.parse(text));
    }
    expect(cut).toBeGreaterThan(50);
  });

  it.each([
    ['short', '[1,2'],
    ['cut', long('1')],
    ['with a comma at the end', long('1,]')],
    ['with a comma at the beginning', `[,${long('1]').slice(1)}`],
    ['with two commas', long('1,,2]')],
    ['closed by the wrong bracket', long('1}')],
    ['closed twice', long('1]]')],
    ['with text before it', `1 ${long('1]')}`],
    ['with text behind it', `${long('1]')} 1`],
    ['of two', `${long('1]')}${long('1]')}`],
    ['with lists beside one another', `[${long('1]')}${long('1]')}]`],
    ['with a value beside a list', `[${long('1]')} 1]`],
    ['with a value before a list', `[1 ${long('1]')}]`],
    ['with a comma alone before a list', `[,${long('1]')}]`],
    ['with an unnamed list in an object', `{${long('1]')}}`],
    ['with a list named by a number', `{1:${long('1]')}}`],
    ['with a name without a colon', `{"a"${long('1]')}}`],
    ['with a name that has a value', `{"a":1:${long('1]')}}`],
    ['with a comma at the end of an object', `{"a":${long('1]')},}`],
    ['with a text that does not end', `[${'"a",'.repeat(PIECE)}"a]`],
    ['with a word of no meaning', long('nil]')],
  ])('is refused as in one go: %s', (_what, text) => {
    expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
    expect(() => parse(text)).toThrow(SyntaxError);
  });

  it.each([
    ['it has more bytes than allowed', `"${'a'.repeat(1_000)}"`, { maxBytes: 999 }],
    ['it has lists without end', `[${'[],'.repeat(400_000)}0]`, {}],
    ['it has objects without end', `[${'{},'.repeat(400_000)}0]`, {}],
    ['it has names without end', `{${Array.from({ length: 400_000 }, (_, name) => `"${name}":0`).join()}}`, {}],
    ['it is very deep', '['.repeat(100_000), {}],
    ['it is a text of more bytes than are kept', `"${'a'.repeat(2 * MiB)}"`, { maxKeptBytes: MiB }],
    [
      'an element of a list has more bytes than are kept',
      `{"result":${long(`"${'a'.repeat(2 * MiB)}"]`)}}`,
      {
        maxKeptBytes: MiB,
        read: () => [],
      },
    ],
    [
      'an element of a list has lists without end',
      `{"result":${long(`[${'[],'.repeat(400_000)}0]]`)}}`,
      {
        read: () => [],
      },
    ],
    [
      'what is beside a list has more bytes than are kept',
      `{"result":${long('0]')},"b":"${'a'.repeat(2 * MiB)}"}`,
      {
        maxKeptBytes: MiB,
        read: () => [],
      },
    ],
  ])('is broken off where %s', (_what, text, options: Options) => {
    expect(() => parse(text, options)).toThrow('too long');
  });
});

describe('a list in a response', () => {
  const numbers = Array.from({ length: 300_000 }, (_, number) => number);
  const list = JSON.stringify(numbers.map((number) => ({ number, more: [[number]] })));
  const read = (element: unknown): readonly unknown[] => {
    const { number } = element as { readonly number: number };
    return number % 2 === 0 ? [number] : [];
  };
  const even = numbers.filter((number) => number % 2 === 0);
  const allOf = (of: unknown): unknown => (of as { readonly result: ReadList }).result.all();

  it('is read element by element, whatever its length', () => {
    expect(allOf(parse(`{"jsonrpc":"2.0","id":0,"result":${list}}`, { read, maxKeptBytes: MiB }))).toEqual(even);
  });

  it('is read so in each response of a batch, and nothing else is', () => {
    const other = { id: 0, result: { result: numbers.slice(0, 20_000) } };
    const text = `[${JSON.stringify(other)},{"result":${list},"id":1},{"id":2,"result":${list}},{"id":3,"result":[]}]`;
    const [first, second, third, last] = parse(text, { read, maxKeptBytes: MiB }) as readonly unknown[];
    expect(first).toEqual(other);
    expect([second, third].map(allOf)).toEqual([even, even]);
    expect(last).toEqual({ id: 3, result: [] });
  });

  it('throws what its reader did, and only there', () => {
    const strange = `${list.slice(0, -1)},null]`;
    const text = `[{"id":0,"result":${strange}},{"id":1,"result":${list}}]`;
    const [first, second] = parse(text, { read, maxKeptBytes: MiB }) as readonly unknown[];
    expect(() => allOf(first)).toThrow(TypeError);
    expect(allOf(second)).toEqual(even);
  });
});
