import { mkdtemp, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { freePorts, until } from '@pf/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { callRpc } from '@pf/rpc/client';
import { ANVILS } from '../../src/chains/local-chains.ts';
import { startBlockClock } from '../../src/chains/block-clock.ts';
import { startReaper } from '../../src/processes/reaper.ts';
import { anvilSpec } from '../../src/chains/anvil.ts';
import { readSettings } from '../../src/stack/settings.ts';
import { Supervised } from '../../src/processes/supervised-process.ts';
import { placeTokens, TOKENS, wallets } from '../../src/chains/tokens.ts';

/** Until the chain is full: ten times fewer than it is in use. */
const BLOCKS = 300;

describe('a long-running local chain', () => {
  let data: string;
  let chain: Supervised;
  let url: string;
  const reaper = startReaper();
  const output: string[] = [];

  beforeEach(async () => {
    data = await mkdtemp(path.join(os.tmpdir(), 'pf-chain-'));
    const [port = 0] = await freePorts(1);
    const settings = readSettings({ PF_DATA: data, BASE_PORT: String(port) }, '/repository');
    const { spec, url: at } = anvilSpec(settings, ANVILS.base);
    chain = new Supervised(spec, {
      logs: data,
      environment: process.env,
      reaper,
      say: (text) => void output.push(text),
      changed: () => undefined,
    });
    await chain.start();
    url = at;
  });
  afterEach(async () => {
    await chain.stop();
    reaper.close();
    await rm(data, { recursive: true });
  });

  const height = async (): Promise<number> => Number(await callRpc(url, 'eth_blockNumber'));

  it('drops only empty blocks: height, balances, transactions and their logs stay', async () => {
    await placeTokens(url, TOKENS.base);
    const [payer] = wallets();
    const usdc = TOKENS.base[0].address;
    // transfer(0x…dead, 1)
    const hash = await callRpc(url, 'eth_sendTransaction', [
      { from: payer?.address, to: usdc, data: `0xa9059cbb${'dead'.padStart(64, '0')}${'1'.padStart(64, '0')}` },
    ]);
    await callRpc(url, 'evm_mine');
    const firstPid = chain.pid;

    let before = 0;
    const stop = startBlockClock(url, { blockMs: 1, baseFee: null, blocksUntilFull: BLOCKS }, async () => {
      before = await height();
      await chain.renew();
    });
    try {
      await until(
        'the chain to be renewed',
        async () => chain.pid !== null && chain.pid !== firstPid && (await height()) > 0,
        60_000,
      );
      await until('blocks to go on', async () => (await height()) > before);
      await until('the final block to be one of them', async () => (await height()) > before + 20);
    } finally {
      stop();
    }

    expect(before).toBeGreaterThan(BLOCKS);
    expect(output).toEqual([]);
    expect(await callRpc(url, 'eth_getTransactionReceipt', [hash])).toMatchObject({ status: '0x1' });
    expect(
      await callRpc(url, 'eth_getLogs', [
        { fromBlock: '0x0', toBlock: 'latest', address: usdc, topics: [null, null, `0x${'dead'.padStart(64, '0')}`] },
      ]),
    ).toHaveLength(1);
    expect(await callRpc(url, 'eth_getBlockByNumber', ['0x0', false])).toMatchObject({ number: '0x0' });
    // The restart drops earlier states: some blocks later the finalized block has one again.
    expect(
      await until('a state at the final block', () =>
        callRpc(url, 'eth_getTransactionCount', [payer?.address, 'finalized']),
      ),
    ).toBe('0x1');
    // 600 empty blocks of 1.6 KB and the state; 3,000 blocks take 5 MB.
    expect((await stat(path.join(data, 'chains', 'base.json'))).size).toBeLessThan(3_000_000);
  });
});
