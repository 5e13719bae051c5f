import { fullTitleOf, type TestCall, testCallsOf } from '../../tidy/src/test-titles.ts';

/** `%s`, `$name`: what `it.each` fills in. */
const PLACEHOLDER = /%\w|\$\w[\w.]*/;
/** A shorter fixed part of a title with placeholders says too little. */
const PART_MIN = 10;

/**
 * The full title of the test that a guard names by a part of it; undefined if the file has no such test.
 * @param name a part of the full title, with what `it.each` fills in
 */
export function titleOfTest(file: string, name: string): string | undefined {
  const tests = testCallsOf(file).filter(({ kind }) => kind === 'test');
  const literal = tests.find((call) => fullTitleOf(call).includes(name));
  if (literal) return readable(fullTitleOf(literal));
  const filledIn = tests.find(({ title, literal }) => isFilledIn(title ?? '', literal, name));
  if (filledIn) return readable(name.startsWith(subjectOf(filledIn)) ? name : `${subjectOf(filledIn)} ${name}`);
  return tests.some((call) => isFilledIn(subjectOf(call), true, name)) ? readable(name) : undefined;
}

const subjectOf = ({ blocks }: TestCall): string => blocks.map(({ title }) => title).join(' ');

/** Whether a title with substitutions can be `name`: they have a fixed part in common. */
function isFilledIn(title: string, literal: boolean, name: string): boolean {
  const parts = title.split(PLACEHOLDER);
  const isWhole = literal && parts.length === 1;
  return !isWhole && parts.some((part) => part.trim().length >= PART_MIN && name.includes(part));
}

/** Placeholders that stay, as those of a block, are not shown by their names. */
const readable = (title: string): string =>
  title
    .replaceAll(new RegExp(String.raw`(?:(?:${PLACEHOLDER.source})\s*)+`, 'g'), '… ')
    .replaceAll(/\s+/g, ' ')
    .trim();
