import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { foundByProperties } from '../../src/by-properties.ts';
import { mutants } from '../../src/mutants.ts';
import { titleOfTest } from '../../src/test-titles.ts';

const read = (file: string): string => readFileSync(path.join(import.meta.dirname, '../../../..', file), 'utf8');

const guards = new Set(mutants.map(({ name }) => name));
const all = [...mutants, ...foundByProperties.filter(({ name }) => !guards.has(name))];

describe('guards', () => {
  it.each(all)('stand exactly once in their file: $name', ({ file, guard }) => {
    expect({ file, guard, times: read(file).split(guard).length - 1 }).toEqual({ file, guard, times: 1 });
  });

  it.each(all)('leave a source that can be compiled when they are taken out: $name', ({ file, guard, instead }) => {
    const source = read(file).replace(guard, () => instead);
    // SQL and configuration files are not compiled.
    if (file.endsWith('.ts')) expect(stripTypeScriptTypes(source)).not.toBe('');
  });

  it.each(all)('name a test that exists: $name', ({ test }) => {
    // A suite may be data: its cases are named, not called.
    const exists =
      titleOfTest(test.suite ?? test.file, test.name) !== undefined ||
      (test.suite !== undefined && read(test.suite).includes(`name: '${test.name}'`));
    expect({ ...test, exists }).toEqual({ ...test, exists: true });
  });

  it('are among at least 20 faults that random transactions find', () => {
    expect(new Set(foundByProperties.map(({ name }) => name)).size).toBeGreaterThanOrEqual(20);
  });
});
