import { describe, expect, it } from '@jest/globals';
import { subjectsSince } from '../src/repository.ts';

const LENGTH = 72;
/** Earlier ones stay as they are: other commits and notes name them. */
const SINCE = '2026-11-29T10:42:00Z';

describe('subjects of commits', () => {
  it(`have at most ${LENGTH} characters, as CONTRIBUTING.md says`, () => {
    expect(subjectsSince(SINCE).filter((subject) => [...subject].length > LENGTH)).toEqual([]);
  });
});
