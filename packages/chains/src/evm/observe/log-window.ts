import { refusable, type RpcNode, RpcRefusedError, RpcUpstreamError } from '@pf/rpc';
import { type Block, getBlock, getLogs, type Log, type LogFilter } from '../calls.ts';

/** Blocks of one eth_getLogs while catching up. Providers' limits differ: it halves when one refuses, and grows again. */
const BLOCKS_MAX = 2_000n;
/** Up to this many recipients are told to the node; with more it gives all transfers of our tokens and we match here. */
export const RECIPIENTS_MAX = 200;

/** The logs of a range that was read, and the last block of it: its hash at that time. */
export interface LogRange {
  readonly logs: readonly Log[];
  readonly end: Block;
}

/** What is looked for in a range of blocks; null where there is nothing to look for. */
export type Wanted = Pick<LogFilter, 'address' | 'topics'> | null;

/** Reads logs in ranges as long as the upstream gives them. */
export class LogWindow {
  #blocks = BLOCKS_MAX;

  /**
   * The wanted logs from one block on, up to `to` or as far as one question may reach. The last block is asked for in the
   * same request: a node that does not have it, or has another one than `expected`, would leave out logs, so its answer
   * does not count.
   */
  async read(node: RpcNode, wanted: Wanted, from: bigint, to: bigint, expected: string | null): Promise<LogRange> {
    for (;;) {
      const last = to - from < this.#blocks ? to : from + this.#blocks - 1n;
      const [logs, end] = await this.#ask(node, wanted, from, last);
      if (logs instanceof RpcRefusedError) {
        // Too many blocks or logs for this provider, as a rule. A single block that is refused is another matter.
        if (last === from)
          throw new RpcUpstreamError(`${node.name} refuses the logs of block ${from}: ${logs.message}`, 'no');
        this.#shrink();
        continue;
      }
      if (end === null || (last === to && expected !== null && end.hash !== expected)) {
        throw new RpcUpstreamError(`${node.name} no longer has block ${last} that it reported before`, 'no');
      }
      this.#blocks = this.#blocks * 2n > BLOCKS_MAX ? BLOCKS_MAX : this.#blocks * 2n;
      return { logs, end };
    }
  }

  async #ask(
    node: RpcNode,
    wanted: Wanted,
    fromBlock: bigint,
    toBlock: bigint,
  ): Promise<[readonly Log[] | RpcRefusedError, Block | null]> {
    if (wanted === null) return [[], await node.call(getBlock(toBlock))];
    try {
      return await node.batch([refusable(getLogs({ ...wanted, fromBlock, toBlock })), getBlock(toBlock)]);
    } catch (error) {
      // It may have been too much to answer in time: less of it next time.
      this.#shrink();
      throw error;
    }
  }

  #shrink(): void {
    this.#blocks = this.#blocks > 1n ? this.#blocks / 2n : 1n;
  }
}
