import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '@pf/testing';
import { rpc } from '../../rpc.ts';

/** Longer than anybody holds a chain; the stack's own clock stands back while a chain has an interval. */
const INTERVAL_SECONDS = 3600;
/** More than two ticks of the slowest clock. */
const STILL_MS = 1200;

/** Nothing gets into a block of this chain until it is released: the time in which things go wrong. */
export async function hold(url: string): Promise<void> {
  await rpc(url, 'evm_setIntervalMining', [INTERVAL_SECONDS]);
  await until('the chain to stand still', async () => {
    const height = await rpc(url, 'eth_blockNumber');
    await sleep(STILL_MS);
    return (await rpc(url, 'eth_blockNumber')) === height;
  });
}

/** Gives the chain back to the stack's clock. */
export const release = (url: string): Promise<unknown> => rpc(url, 'evm_setIntervalMining', [0]);
