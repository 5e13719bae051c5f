import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { fullTitleOf, testCallsOf } from '../../../tidy/test/test-titles.ts';
import { mutants } from '../../src/mutants.ts';

const read = (file: string): string => readFileSync(path.join(import.meta.dirname, '../../../..', file), 'utf8');

/** `%s`, `$name`: what `it.each` fills in. */
const PLACEHOLDER = /%\w|\$\w[\w.]*/;
/** A shorter fixed part of a title with placeholders says too little. */
const PART_MIN = 10;

/** Whether a test of the file can have `name` in its full title. */
const hasTest = (file: string, name: string): boolean =>
  testCallsOf(file).some((call) => {
    if (fullTitleOf(call).includes(name)) return true;
    const parts = (call.title ?? '').split(PLACEHOLDER);
    const isWhole = call.literal && parts.length === 1;
    return !isWhole && parts.some((part) => part.trim().length >= PART_MIN && name.includes(part));
  });

describe('guards', () => {
  it.each(mutants)('stand exactly once in their file: $name', ({ file, guard }) => {
    expect({ file, guard, times: read(file).split(guard).length - 1 }).toEqual({ file, guard, times: 1 });
  });

  it.each(mutants)('leave a source that can be compiled when they are taken out: $name', ({ file, guard, instead }) => {
    const source = read(file).replace(guard, () => instead);
    // SQL and configuration files are not compiled.
    if (file.endsWith('.ts')) expect(stripTypeScriptTypes(source)).not.toBe('');
  });

  it.each(mutants)('name a test that exists: $name', ({ test }) => {
    // A suite may be data: its cases are named, not called.
    const exists =
      hasTest(test.suite ?? test.file, test.name) ||
      (test.suite !== undefined && read(test.suite).includes(`name: '${test.name}'`));
    expect({ ...test, exists }).toEqual({ ...test, exists: true });
  });
});
