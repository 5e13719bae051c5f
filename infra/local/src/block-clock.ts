import { rpc } from './rpc.ts';

/**
 * Mines a block on a local chain every `everyMs`, as the real one does, whether or not there is something in it.
 * While the chain is down it keeps trying: the supervisor starts it again.
 * @returns stops the clock
 */
export function startBlockClock(url: string, everyMs: number): () => void {
  let stopped = false;
  let timer: NodeJS.Timeout;
  let next = performance.now();
  async function tick(): Promise<void> {
    await rpc(url, 'evm_mine').catch(() => undefined);
    if (stopped) return;
    // From when it was due, not from now: five blocks a second stay five. After a stall there is no burst.
    next = Math.max(next + everyMs, performance.now());
    timer = setTimeout(() => void tick(), Math.max(0, next - performance.now()));
  }
  timer = setTimeout(() => void tick(), 0);
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
