import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { COLORS, SCREENSHOT_FOLDER, SCREENSHOTS } from './pages.ts';

const BYTES_MAX = 2_000_000;
const root = path.join(import.meta.dirname, '../../../..');
const folder = path.join(root, SCREENSHOT_FOLDER);

describe('the screenshots of the dashboard', () => {
  it('are those of every page in light and dark colors, and of no others, within 2 MB', async () => {
    const files = await readdir(folder);
    const expected = SCREENSHOTS.flatMap((name) => COLORS.map((color) => `${name}-${color}.webp`));
    expect(files.toSorted()).toEqual(expected.toSorted());
    const sizes = await Promise.all(files.map(async (file) => (await stat(path.join(folder, file))).size));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(BYTES_MAX);
  });

  it('are all shown in the guide', async () => {
    const guide = await readFile(path.join(root, 'docs/guide/dashboard.md'), 'utf8');
    for (const name of SCREENSHOTS) for (const color of COLORS) expect(guide).toContain(`${name}-${color}.webp`);
  });
});
