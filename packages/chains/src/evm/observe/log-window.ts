import { limited, type RpcNode, RpcRefusedError, RpcUpstreamError } from '@pf/rpc';
import { type Block, getBlock, getLogs, type Log, type LogFilter } from '../calls.ts';

/**
 * Blocks of one eth_getLogs while catching up. Providers' limits differ: the window halves when one refuses, and grows
 * again.
 */
const BLOCKS_MAX = 2_000n;
/**
 * Up to this many recipients are part of the filter; with more, the node returns all transfers of our tokens and we
 * match them.
 */
export const RECIPIENTS_MAX = 200;

/** The logs of a range that was read, and the last block of it: its hash at that time. */
export interface LogRange {
  readonly logs: readonly Log[];
  readonly end: Block;
}

/** The logs to look for in a range of blocks; null where there are none to look for. */
export type Wanted = Pick<LogFilter, 'address' | 'topics'> | null;

/** Reads logs in ranges as long as the upstream allows. */
export class LogWindow {
  #blocks = BLOCKS_MAX;

  /**
   * Reads the wanted logs from a block on, up to `to` or as far as one call may reach. The same request reads the last
   * block: a node that does not have it, or has another one than `expected`, would leave out logs, so its response does
   * not count.
   */
  async read(node: RpcNode, wanted: Wanted, from: bigint, to: bigint, expected: string | null): Promise<LogRange> {
    for (;;) {
      const last = to - from < this.#blocks ? to : from + this.#blocks - 1n;
      const [logs, end] = await this.#ask(node, wanted, from, last);
      if (logs instanceof RpcRefusedError) {
        // Usually too many blocks or logs for this provider. A single refused block is another matter.
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
      return await node.batch([limited(getLogs({ ...wanted, fromBlock, toBlock })), getBlock(toBlock)]);
    } catch (error) {
      // It may have been too much to return in time: the next call asks for less.
      this.#shrink();
      throw error;
    }
  }

  #shrink(): void {
    this.#blocks = this.#blocks > 1n ? this.#blocks / 2n : 1n;
  }
}
