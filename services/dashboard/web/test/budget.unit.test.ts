import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Bundle } from '@pf/testing/bundle';

const KIB = 1_024;
/** What a browser loads before a page can be used, compressed. */
const BUDGET_BYTES = 200 * KIB;
const FOLDER = path.join(import.meta.dirname, '../../dist/web');

describe('the web application', () => {
  it(`loads at most ${BUDGET_BYTES / KIB} KiB for its first page, whichever that is`, async () => {
    const bundle = await Bundle.read(FOLDER);
    expect(bundle.pages.length).toBeGreaterThan(5);
    for (const page of bundle.pages) {
      const total = await bundle.sizeOf([bundle.entry, page]);
      expect([page, total <= BUDGET_BYTES ? 'within' : total]).toEqual([page, 'within']);
    }
  });
});
