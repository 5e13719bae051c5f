import { describe, expect, it } from '@jest/globals';
import { at, checked, files, isGenerated, read } from '../src/repository.ts';

const WIDTH = 120;
/** An attribute of a Prisma model has no line breaks. */
const UNBREAKABLE = /^ {2}@@index\(/;

describe('files of the repository', () => {
  it('are listed by git', () => {
    expect(files).toContain('infra/tidy/src/repository.ts');
    expect(files.length).toBeGreaterThan(500);
  });
});

describe('line width', () => {
  it(`stays within ${WIDTH} characters outside generated and foreign files`, () => {
    const long = checked
      .filter((file) => !isGenerated(file))
      .flatMap((file) =>
        read(file)
          .split('\n')
          .flatMap((line, index) =>
            [...line].length > WIDTH && !UNBREAKABLE.test(line)
              ? [at(file, index + 1, `${[...line].length} characters`)]
              : [],
          ),
      );
    expect(long).toEqual([]);
  });
});
