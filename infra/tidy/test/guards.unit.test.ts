import { describe, expect, it } from '@jest/globals';
import { mutants } from '../../mutants/src/mutants.ts';
import { exists, read } from './repository.ts';
import { fullTitleOf, type TestCall, testCallsOf } from './test-titles.ts';

/** At least this much of a name must stand in a title before its first placeholder. */
const OVERLAP = 8;

/** Whether a test's full title may contain the text. A title with placeholders (`%s`, `$name`) is known up to them. */
function mayHave(call: TestCall, text: string): boolean {
  const full = fullTitleOf(call);
  if (full.includes(text)) return true;
  if (call.literal && !/%[a-z#]|\$\w/.test(full)) return false;
  const known = full.split(/%[a-z#]|\$\w/)[0] ?? '';
  const lengths = Array.from({ length: text.length }, (_, length) => length).filter((length) => length >= OVERLAP);
  return lengths.some((length) => known.endsWith(text.slice(0, length)));
}

/** `npm run mutants` takes minutes and a stack; this finds at once what a rename has left behind. */
describe('guards of infra/mutants', () => {
  it('stand once in their files', () => {
    const wrong = mutants.flatMap(({ name, file, guard }) => {
      const count = exists(file) ? read(file).split(guard).length - 1 : 0;
      return count === 1 ? [] : [`${name}: stands ${count} times in ${file}`];
    });
    expect(wrong).toEqual([]);
  });

  it('name tests that exist', () => {
    const wrong = mutants.flatMap(({ name, test }) => {
      if (!exists(test.file)) return [`${name}: no file ${test.file}`];
      const calls = testCallsOf(test.suite ?? test.file).filter(({ kind }) => kind === 'test');
      return calls.some((call) => mayHave(call, test.name)) ? [] : [`${name}: no “${test.name}” in ${test.file}`];
    });
    expect(wrong).toEqual([]);
  });
});
