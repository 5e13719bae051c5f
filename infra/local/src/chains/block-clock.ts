import { type JsonRpcRequest, RpcClient } from '@pf/rpc/client';
import { z } from 'zod';

/** Filled after a start, so that questions at `safe` and `finalized` have a state to answer from. */
const BLOCKS_AFTER_START = 12;
/**
 * Ten minutes of Base, twenty-five of Tempo. anvil keeps every block in memory and writes them all each time it saves.
 */
const BLOCKS_UNTIL_FULL = 3000;

const hex = (value: number | bigint): string => `0x${value.toString(16)}`;

export interface Pace {
  /** Milliseconds between blocks. */
  readonly blockMs: number;
  /** Wei of each block's base fee, where the real network's does not follow demand; null: it follows. */
  readonly baseFee: bigint | null;
}

/**
 * Mines blocks on a local chain at the pace of the real one, whether or not there is something in them. While the chain
 * is down it keeps trying: the supervisor starts it again. While a control has given the chain an interval of its own
 * (`evm_setIntervalMining`) it stands back; 0 gives the chain back. One block more may come after that was said.
 * @param onFull is called when the chain holds many blocks and no transaction waits: the moment to forget empty ones
 * @returns stops the clock
 */
export function startBlockClock(url: string, { blockMs, baseFee }: Pace, onFull: () => Promise<void>): () => void {
  let stopped = false;
  let timer: NodeJS.Timeout;
  let due = performance.now();
  let mined: number | null = null; // null: the chain has just started, or is down.
  let another = false;

  const client = new RpcClient(url);
  const interval: JsonRpcRequest = { method: 'anvil_getIntervalMining', params: [] };

  /** After each block, which has made another fee of it: what the chain then proposes to wallets is right, too. */
  async function setFee(): Promise<void> {
    if (baseFee !== null) await client.call('anvil_setNextBlockBaseFeePerGas', [hex(baseFee)], z.unknown());
  }

  async function mine(): Promise<void> {
    if (mined === null) {
      await client.call('anvil_mine', [hex(BLOCKS_AFTER_START)], z.unknown());
      mined = BLOCKS_AFTER_START;
      await setFee();
      return;
    }
    // Asked in the same request: a question of its own before each block would cost as much as the block.
    const [own] = await client.batch(another ? [interval] : [interval, { method: 'evm_mine', params: [] }]);
    if (!another) {
      mined += 1;
      await setFee();
    }
    another = own !== null;
    if (another || mined < BLOCKS_UNTIL_FULL) return;
    const pool = await client.call('txpool_status', [], z.object({ pending: z.string() }));
    if (BigInt(pool.pending) > 0n) return;
    mined = null;
    await onFull();
  }

  async function tick(): Promise<void> {
    try {
      await mine();
    } catch {
      // It is down, and being started again.
      mined = null;
      another = false;
    }
    if (stopped) return;
    // From when it was due, not from now: five blocks a second stay five. After a stall there is no burst.
    due = Math.max(due + blockMs, performance.now());
    timer = setTimeout(() => void tick(), Math.max(0, due - performance.now()));
  }

  timer = setTimeout(() => void tick(), 0);
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
