import { rpc } from './rpc.ts';

/** Filled after a start, so that questions at `safe` and `finalized` have a state to answer from. */
const BLOCKS_AFTER_START = 12;
/** Ten minutes of the testnet. anvil keeps every block in memory and writes them all each time it saves. */
const BLOCKS_UNTIL_FULL = 3000;

/**
 * Mines a block on a local chain every `everyMs`, as the real one does, whether or not there is something in it.
 * While the chain is down it keeps trying: the supervisor starts it again.
 * @param onFull is called when the chain holds many blocks and no transaction waits: the moment to forget empty ones
 * @returns stops the clock
 */
export function startBlockClock(url: string, everyMs: number, onFull: () => Promise<void>): () => void {
  let stopped = false;
  let timer: NodeJS.Timeout;
  let due = performance.now();
  let mined: number | null = null; // null: the chain has just started, or is down.

  async function mine(): Promise<void> {
    if (mined === null) {
      await rpc(url, 'anvil_mine', [`0x${BLOCKS_AFTER_START.toString(16)}`]);
      mined = BLOCKS_AFTER_START;
    } else {
      await rpc(url, 'evm_mine');
      mined += 1;
    }
    if (mined < BLOCKS_UNTIL_FULL) return;
    const pool = (await rpc(url, 'txpool_status')) as { pending: string };
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
    }
    if (stopped) return;
    // From when it was due, not from now: five blocks a second stay five. After a stall there is no burst.
    due = Math.max(due + everyMs, performance.now());
    timer = setTimeout(() => void tick(), Math.max(0, due - performance.now()));
  }

  timer = setTimeout(() => void tick(), 0);
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
