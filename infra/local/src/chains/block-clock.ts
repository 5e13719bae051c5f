import { type JsonRpcRequest, RpcClient } from '@pf/rpc/client';
import { z } from 'zod';

/** Mined after a start, so that calls at `safe` and `finalized` find a state. */
const BLOCKS_AFTER_START = 12;

const hex = (value: number | bigint): string => `0x${value.toString(16)}`;

export interface Pace {
  /** Milliseconds between blocks. */
  readonly blockMs: number;
  /** The base fee of every block in wei, where the real network's does not follow demand; null: it follows demand. */
  readonly baseFee: bigint | null;
  /** The number of blocks with which the chain is full. Default: it never is. */
  readonly blocksUntilFull?: number;
}

/**
 * Mines blocks, also empty ones, on a local chain at the pace of the real network. While the chain is down it keeps
 * trying: the supervisor restarts it. It pauses while a control has set an interval (`evm_setIntervalMining`) and
 * continues when the interval is 0 again; one block may still follow the control's call.
 * @param onFull called when the chain has many blocks and no pending transaction: the moment to drop empty blocks
 * @returns stops the clock
 */
export function startBlockClock(
  url: string,
  { blockMs, baseFee, blocksUntilFull = Infinity }: Pace,
  onFull: () => Promise<void>,
): () => void {
  let stopped = false;
  let timer: NodeJS.Timeout;
  let due = performance.now();
  let mined: number | null = null; // null: the chain has just started, or is down.
  let paused = false;

  const client = new RpcClient(url);
  const interval: JsonRpcRequest = { method: 'anvil_getIntervalMining', params: [] };

  /** Runs after each block, which changes the fee: so the fee that the chain proposes to wallets is right, too. */
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
    // One batch: a separate request before each block would cost as much as the block.
    const [own] = await client.batch(paused ? [interval] : [interval, { method: 'evm_mine', params: [] }]);
    if (!paused) {
      mined += 1;
      await setFee();
    }
    paused = own !== null;
    if (paused || mined < blocksUntilFull) return;
    const pool = await client.call('txpool_status', [], z.object({ pending: z.string() }));
    if (BigInt(pool.pending) > 0n) return;
    mined = null;
    await onFull();
  }

  async function tick(): Promise<void> {
    try {
      await mine();
    } catch {
      // The chain is down; the supervisor is restarting it.
      mined = null;
      paused = false;
    }
    if (stopped) return;
    // Counted from the due time: five blocks a second stay five. After a stall there is no burst.
    due = Math.max(due + blockMs, performance.now());
    timer = setTimeout(() => void tick(), Math.max(0, due - performance.now()));
  }

  timer = setTimeout(() => void tick(), 0);
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
