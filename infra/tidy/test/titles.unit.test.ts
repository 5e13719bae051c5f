import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { at, checked } from '../src/repository.ts';
import { faultOf, testCallsOf } from '../src/test-titles.ts';

const calls = checked.filter((file) => file.endsWith('.test.ts')).flatMap((file) => testCallsOf(file));

describe('titles of tests', () => {
  it('begin with a verb, so that they make sense in a list of failures', () => {
    const faults = calls
      .filter(({ kind }) => kind === 'test')
      .flatMap(({ file, line, title, literal }) => {
        const fault = title === null || (title === '' && !literal) ? undefined : faultOf(title);
        return fault === undefined ? [] : [at(file, line, `“${title}” ${fault}`)];
      });
    expect(faults).toEqual([]);
  });

  it('differ within one block', () => {
    const seen = new Set<string>();
    const repeats = calls
      .filter(({ literal }) => literal)
      .flatMap(({ file, line, blocks, title, kind }) => {
        const key = JSON.stringify([file, blocks, kind, title]);
        if (seen.has(key)) return [at(file, line, `“${title}” stands twice in its block`)];
        seen.add(key);
        return [];
      });
    expect(repeats).toEqual([]);
  });
});

describe('blocks of tests', () => {
  it('have a title', () => {
    const untitled = calls
      .filter(({ kind, title, literal }) => kind === 'describe' && literal && title?.trim() === '')
      .map(({ file, line }) => at(file, line, 'a block without a title'));
    expect(untitled).toEqual([]);
  });
});

describe('faultOf', () => {
  it.each(['returns 409 when updatedAt is stale', 'is idempotent', 'never reads a block twice', 'offers no slot'])(
    'accepts “%s”',
    (title) => {
      expect(faultOf(title)).toBeUndefined();
    },
  );

  it.each(['because that reverts', 'is that it works', 'where it lags', 'of two payers', ' '])(
    'refuses “%s”',
    (title) => {
      expect(faultOf(title)).toBeDefined();
    },
  );
});

describe('testCallsOf', () => {
  it('finds tests, their blocks and their .each forms', () => {
    const code = "describe('a', () => { it('b', run); it.each([1])('c %s', run); test(`d ${x}`, run); });";
    const source = ts.createSourceFile('x.test.ts', code, ts.ScriptTarget.ESNext, true);
    expect(testCallsOf('x.test.ts', source).map(({ kind, title, children }) => ({ kind, title, children }))).toEqual([
      { kind: 'describe', title: 'a', children: 3 },
      { kind: 'test', title: 'b', children: 0 },
      { kind: 'test', title: 'c %s', children: 0 },
      { kind: 'test', title: 'd ', children: 0 },
    ]);
  });
});
