import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { STATES, STATES_FOLDER } from './checkout/states.ts';
import { COLORS, SCREENSHOT_FOLDER, SCREENSHOTS } from './dashboard/pages.ts';

const root = path.join(import.meta.dirname, '../../..');

describe.each([
  { of: 'dashboard', guide: 'dashboard.md', folder: SCREENSHOT_FOLDER, names: SCREENSHOTS, bytesMax: 2_000_000 },
  {
    of: 'payment page',
    guide: 'let-people-pay.md',
    folder: STATES_FOLDER,
    names: Object.keys(STATES),
    bytesMax: 850_000,
  },
])('the screenshots of the $of', ({ guide, folder, names, bytesMax }) => {
  const expected = names.flatMap((name) => COLORS.map((color) => `${name}-${color}.webp`));

  it('are those of each page or state in light and dark colors, and no others, and small', async () => {
    const files = await readdir(path.join(root, folder));
    expect(files.toSorted()).toEqual(expected.toSorted());
    const sizes = await Promise.all(files.map(async (file) => (await stat(path.join(root, folder, file))).size));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(bytesMax);
  });

  it('are all shown in the guide', async () => {
    const text = await readFile(path.join(root, 'docs/guide', guide), 'utf8');
    for (const name of expected) expect(text).toContain(name);
  });
});
