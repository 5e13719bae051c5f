import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Bundle } from '@pf/testing/bundle';

const KIB = 1_024;
/** What a phone loads until a person has paid, on whichever chain, compressed. Nothing more is loaded than this. */
const BUDGET_BYTES = 120 * KIB;
/** Until it shows the payment. */
const FIRST_BUDGET_BYTES = 60 * KIB;
const FOLDER = path.join(import.meta.dirname, '../dist');

describe('the payment page', () => {
  it('loads little, whatever the chain, the language and the way to pay are', async () => {
    const bundle = await Bundle.read(FOLDER);
    const more = ['src/i18n/ja.ts', 'src/ui/qr.tsx'];
    const chains = [
      ['src/check/solana.ts', 'src/wallets/solana.ts'],
      ['src/check/evm.ts', 'src/wallets/evm.ts'],
    ];
    for (const name of [bundle.entry, ...more, ...chains.flat()]) expect(bundle.names).toContain(name);
    expect(await bundle.sizeOf([bundle.entry])).toBeLessThanOrEqual(FIRST_BUDGET_BYTES);
    for (const chain of chains)
      expect(await bundle.sizeOf([bundle.entry, ...more, ...chain])).toBeLessThanOrEqual(BUDGET_BYTES);
  });

  it('has no script and no style in its text', async () => {
    const html = await readFile(path.join(FOLDER, 'index.html'), 'utf8');
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/i);
    expect(
      [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url]) => url).filter((url) => !url?.startsWith('/')),
    ).toEqual([]);
  });
});
