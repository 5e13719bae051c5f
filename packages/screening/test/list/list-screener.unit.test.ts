import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLogger } from '@pf/runtime';
import { ListScreener, type ListedAddress, ScreeningUnavailableError, writeListFile } from '../../src/index.ts';

const HOUR_MS = 3_600_000;
const START = Date.parse('2026-11-21T12:00:00Z');
const ETH = { address: '0x5a9c1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b', label: 'USDT', uid: '90001', name: 'JANE DOE' };
const SOL = { address: 'GMRoaytLGHyTLWCvHnfFP8aPYNjvrTYyu4QvazbjCVoB', label: 'SOL', uid: '90002', name: 'EXCHANGE' };
const evm = (address: string) => ({ chain: 'eip155:8453', address });
const solana = (address: string) => ({ chain: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', address });

describe('ListScreener', () => {
  let folder: string;
  let file: string;
  let now: number;
  let screener: ListScreener;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'pf-list-'));
    file = path.join(folder, 'list.json');
    now = START;
    screener = new ListScreener({ file, log: createLogger('test', 'silent'), now: () => now });
  });
  afterEach(() => rm(folder, { recursive: true }));

  const write = (addresses: ListedAddress[], fetchedAt = START): Promise<void> =>
    writeListFile(file, {
      version: 1,
      source: 'test',
      publishedOn: null,
      fetchedAt: new Date(fetchedAt).toISOString(),
      count: addresses.length,
      addresses,
    });

  it('finds EVM addresses in any case under any label, and says whose they are', async () => {
    await write([ETH, SOL]);
    for (const address of [
      ETH.address,
      ETH.address.toUpperCase().replace('0X', '0x'),
      '0x5A9C1A2b3C4D5E6f708192A3b4C5d6e7F8091a2b',
    ]) {
      expect(await screener.find(evm(address))).toEqual({
        part: 'list',
        label: 'USDT',
        uid: '90001',
        name: 'JANE DOE',
      });
    }
    expect(await screener.find(evm(`${ETH.address.slice(0, -1)}c`))).toBeNull();
  });

  it('finds base58 addresses exactly', async () => {
    await write([ETH, SOL]);
    expect(await screener.find(solana(SOL.address))).toMatchObject({ uid: '90002' });
    expect(await screener.find(solana(SOL.address.toLowerCase()))).toBeNull();
  });

  it('reads a new file within a second', async () => {
    await write([ETH]);
    expect(await screener.find(solana(SOL.address))).toBeNull();
    await write([ETH, SOL]);
    now += 1_000;
    expect(await screener.find(solana(SOL.address))).not.toBeNull();
  });

  it('is unavailable if the list was not fetched for 48 hours, until it is fetched again', async () => {
    await write([ETH]);
    now = START + 48 * HOUR_MS;
    expect(await screener.find(solana(SOL.address))).toBeNull();
    now += 1;
    await expect(screener.find(solana(SOL.address))).rejects.toThrow(ScreeningUnavailableError);
    await write([ETH], now);
    now += 1_000;
    expect(await screener.find(solana(SOL.address))).toBeNull();
  });

  it('is unavailable if the list is from the future, which would never become stale', async () => {
    await write([ETH], START + HOUR_MS);
    await expect(screener.find(solana(SOL.address))).rejects.toThrow('in the future');
  });

  it('is unavailable without a list, and available as soon as there is one', async () => {
    await expect(screener.find(evm(ETH.address))).rejects.toThrow('there is no sanctions list');
    await write([ETH]);
    expect(await screener.find(evm(ETH.address))).not.toBeNull();
  });

  it.each([
    ['truncated', '{"version":1,"source":"te'],
    [
      'inconsistent in its number of addresses',
      JSON.stringify({
        version: 1,
        source: 'x',
        publishedOn: null,
        fetchedAt: '2026-11-21T11:00:00.000Z',
        count: 2,
        addresses: [ETH],
      }),
    ],
  ])('keeps the last valid list until it is stale if the file is %s', async (_name, content) => {
    await write([ETH]);
    expect(await screener.find(evm(ETH.address))).not.toBeNull();
    await writeFile(file, content);
    now += 1_000;
    expect(await screener.find(evm(ETH.address))).not.toBeNull();
    now = START + 48 * HOUR_MS + 1;
    await expect(screener.find(evm(ETH.address))).rejects.toThrow(ScreeningUnavailableError);
    await expect(
      new ListScreener({ file, log: createLogger('test', 'silent') }).find(evm(ETH.address)),
    ).rejects.toThrow(ScreeningUnavailableError);
  });
});
