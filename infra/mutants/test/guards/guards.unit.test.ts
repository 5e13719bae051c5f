import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { mutants } from '../../src/mutants.ts';
import { titleOfTest } from '../../src/test-titles.ts';

const read = (file: string): string => readFileSync(path.join(import.meta.dirname, '../../../..', file), 'utf8');

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
      titleOfTest(test.suite ?? test.file, test.name) !== undefined ||
      (test.suite !== undefined && read(test.suite).includes(`name: '${test.name}'`));
    expect({ ...test, exists }).toEqual({ ...test, exists: true });
  });
});
