import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';

const KIB = 1_024;
/** What a phone loads until a person has paid, on whichever chain, compressed. Nothing more is loaded than this. */
const BUDGET_BYTES = 120 * KIB;
/** Until it shows the payment. */
const FIRST_BUDGET_BYTES = 60 * KIB;
const FOLDER = path.join(import.meta.dirname, '../dist');

const chunk = z.object({
  file: z.string(),
  imports: z.array(z.string()).default([]),
  css: z.array(z.string()).default([]),
  isEntry: z.boolean().default(false),
});

describe('the payment page', () => {
  it('loads little, whatever the chain, the language and the way to pay are', async () => {
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
    const sizeOf = async (names: readonly string[]): Promise<number> => {
      const files = new Set(['index.html', ...names.flatMap((name) => [...filesOf(name)])]);
      const sizes = await Promise.all(
        [...files].map(async (file) => gzipSync(await readFile(path.join(FOLDER, file)), { level: 9 }).length),
      );
      return sizes.reduce((sum, size) => sum + size, 0);
    };
    const [entry = ''] = Object.entries(manifest).find(([, { isEntry }]) => isEntry) ?? [];
    const more = ['src/i18n/ja.json', 'src/ui/qr.tsx'];
    const chains = [
      ['src/check/solana.ts', 'src/wallets/solana.ts'],
      ['src/check/evm.ts', 'src/wallets/evm.ts'],
    ];
    for (const name of [entry, ...more, ...chains.flat()]) expect(manifest).toHaveProperty([name]);
    expect(await sizeOf([entry])).toBeLessThanOrEqual(FIRST_BUDGET_BYTES);
    for (const chain of chains) expect(await sizeOf([entry, ...more, ...chain])).toBeLessThanOrEqual(BUDGET_BYTES);
  });

  it('has no script and no style in its text', async () => {
    const html = await readFile(path.join(FOLDER, 'index.html'), 'utf8');
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/i);
    expect(
      [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url]) => url).filter((url) => !url?.startsWith('/')),
    ).toEqual([]);
  });
});
