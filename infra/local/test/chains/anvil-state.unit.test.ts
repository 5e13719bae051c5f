import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { tidyState } from '../../src/chains/anvil-state.ts';

interface Dump {
  best_block_number: string;
  accounts: object;
  blocks: { header: { number: string; timestamp: string }; transactions: unknown[] }[];
}

const hex = (number: number): string => `0x${number.toString(16)}`;
/** A chain of empty blocks, but for one transaction in block 7. */
const chain = (head: number): Dump => ({
  best_block_number: hex(head),
  accounts: { '0x01': { balance: '0x5' } },
  blocks: Array.from({ length: head + 1 }, (_, number) => ({
    header: { number: hex(number), timestamp: hex(1000 + number) },
    transactions: number === 7 ? ['a transfer'] : [],
  })),
});

describe('the saved state of a local chain', () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'pf-state-'));
    file = path.join(folder, 'base.json');
  });
  afterEach(() => rm(folder, { recursive: true }));
  const state = async (): Promise<Dump> => JSON.parse(await readFile(file, 'utf8')) as Dump;

  it('drops old empty blocks, but not the first, recent ones or those with a transaction', async () => {
    await writeFile(file, JSON.stringify(chain(2000)));
    await tidyState(file);
    const { blocks, accounts } = await state();
    const numbers = blocks.map(({ header }) => Number(header.number));
    expect(numbers.slice(0, 3)).toEqual([0, 7, 1401]);
    expect(numbers.at(-1)).toBe(2000);
    expect(accounts).toEqual({ '0x01': { balance: '0x5' } });
  });

  it('keeps the first block of all, although each start adds one', async () => {
    const begun = chain(3);
    const later = [1005, 1002].map((timestamp) => ({
      header: { number: '0x0', timestamp: hex(timestamp) },
      transactions: [],
    }));
    await writeFile(file, JSON.stringify({ ...begun, blocks: [later[0], ...begun.blocks, later[1]] }));
    await tidyState(file);
    expect((await state()).blocks).toEqual(begun.blocks);
  });

  it('is restored from its last complete copy when a kill truncated it', async () => {
    await writeFile(file, JSON.stringify(chain(10)));
    await tidyState(file);
    await writeFile(file, JSON.stringify(chain(20)).slice(0, 300));
    await tidyState(file);
    expect((await state()).best_block_number).toBe(hex(10));
  });

  it('is absent before the first start', async () => {
    await tidyState(file);
    await expect(readFile(file)).rejects.toThrow('ENOENT');
  });
});
