import { describe, expect, it } from '@jest/globals';
import { at, checked, isGenerated } from '../src/repository.ts';
import { lineOf, passagesOf } from '../src/source-text.ts';
import { HIDDEN_ACTORS_AT_MOST, hiddenActors, replacedWords } from './replaced-words.ts';

/** They list the words themselves. */
const LISTS = ['docs/internals/glossary.md', 'infra/tidy/test/replaced-words.ts'];
const passages = checked
  .filter((file) => !isGenerated(file) && !LISTS.includes(file))
  .flatMap((file) => passagesOf(file));

describe('comments, strings and prose', () => {
  it.each(replacedWords)('avoid %s (write “%s”)', (pattern, replacement, files = /^/) => {
    const found = passages
      .filter(({ file }) => files.test(file))
      .flatMap((passage) =>
        [...passage.text.matchAll(new RegExp(pattern, 'gi'))].map((match) =>
          at(passage.file, lineOf(passage, match.index), `“${match[0]}”: write “${replacement}”`),
        ),
      );
    expect(found).toEqual([]);
  });

  it(`name who acts: at most ${HIDDEN_ACTORS_AT_MOST} times “nobody”, “somebody” and the like`, () => {
    const found = passages.flatMap((passage) =>
      [...passage.text.matchAll(hiddenActors)].map((match) => at(passage.file, lineOf(passage, match.index), match[0])),
    );
    expect(found.length <= HIDDEN_ACTORS_AT_MOST ? [] : found).toEqual([]);
  });
});
