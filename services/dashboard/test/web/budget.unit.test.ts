import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';

const KIB = 1_024;
/** What a browser loads before a page can be used, compressed. */
const BUDGET_BYTES = 200 * KIB;
const FOLDER = path.join(import.meta.dirname, '../../dist/web');

const chunk = z.object({
  file: z.string(),
  imports: z.array(z.string()).default([]),
  dynamicImports: z.array(z.string()).default([]),
  css: z.array(z.string()).default([]),
  isEntry: z.boolean().default(false),
});

describe('the web application', () => {
  it(`loads at most ${BUDGET_BYTES / KIB} KiB for its first page, whichever that is`, async () => {
    const manifest = z
      .record(z.string(), chunk)
      .parse(JSON.parse(await readFile(path.join(FOLDER, '.vite/manifest.json'), 'utf8')));
    /** The files of a chunk, and of those without which it cannot run. */
    const filesOf = (name: string, seen = new Set<string>()): Set<string> => {
      const { file, css, imports } = manifest[name] ?? { file: '', css: [], imports: [] };
      if (seen.has(file)) return seen;
      for (const one of [file, ...css]) seen.add(one);
      for (const one of imports) filesOf(one, seen);
      return seen;
    };
    const sizes = new Map<string, number>();
    const sizeOf = async (file: string): Promise<number> => {
      const known = sizes.get(file) ?? gzipSync(await readFile(path.join(FOLDER, file)), { level: 9 }).length;
      sizes.set(file, known);
      return known;
    };
    const [entry] = Object.entries(manifest).find(([, { isEntry }]) => isEntry) ?? [''];
    const pages = manifest[entry]?.dynamicImports ?? [];
    expect(pages.length).toBeGreaterThan(5);
    for (const page of pages) {
      let total = await sizeOf('index.html');
      for (const file of new Set([...filesOf(entry), ...filesOf(page)])) total += await sizeOf(file);
      expect([page, total <= BUDGET_BYTES ? 'within' : total]).toEqual([page, 'within']);
    }
  });
});
