import path from 'node:path/posix';
import { describe, expect, it } from '@jest/globals';
import { exists, files, read } from '../src/repository.ts';

const IMPORTED = /from '(\.[^']+\.tsx?)'/g;

/** The source file that a test imports and has its name of, where that lies elsewhere than the test; else none. */
function elsewhere(test: string): readonly string[] {
  const [own] = path.basename(test).split('.');
  const home = path.dirname(test).replace(/\/test(?=\/|$)/, '/src');
  if (exists(`${home}/${own}`)) return [`${test} tests the folder ${home}/${own}`];
  const subjects = [...read(test).matchAll(IMPORTED)]
    .map(([, file = '']) => path.join(path.dirname(test), file))
    .filter((file) => file.includes('/src/') && path.parse(file).name === own);
  return subjects.length === 0 || subjects.some((file) => path.dirname(file) === home)
    ? []
    : [`${test} tests ${subjects.join(', ')}`];
}

describe('a test that is named for a source file or folder', () => {
  it('lies under test/ where its subject lies under src/', () => {
    const tests = files.filter((file) => /\/test\/.*\.test\.ts$/.test(file));
    expect(tests.length).toBeGreaterThan(300);
    expect(tests.flatMap(elsewhere)).toEqual([]);
  });
});
