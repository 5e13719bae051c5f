import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { bugs } from '../../src/planted/bugs.ts';
import { plantedIn } from '../../src/planted/planted.ts';

const root = path.join(import.meta.dirname, '../../../..');

describe('the planted bugs', () => {
  it('can each be applied to the current sources', () => {
    for (const bug of bugs) {
      const source = readFileSync(path.join(root, bug.file), 'utf8');
      expect(plantedIn(source, bug)).not.toBe(source);
    }
  });

  it('are at least 25, each with a name of its own', () => {
    expect(bugs.length).toBeGreaterThanOrEqual(25);
    expect(new Set(bugs.map(({ name }) => name)).size).toBe(bugs.length);
  });
});
