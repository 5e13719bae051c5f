import { limited, type RpcNode, RpcRefusedError, RpcUpstreamError } from '@pf/rpc';
import { type Block, getBlock, getLogs, type Log, type LogFilter } from '../calls.ts';

/** Blocks of one eth_getLogs while catching up, where an upstream's own limit is not known. */
const BLOCKS_MAX = 2_000n;
/** A limit that was learned is forgotten after this time: providers change theirs. */
const LEARNED_MS = 60 * 60_000;
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

/** How many blocks one upstream takes in a call. */
interface Reach {
  readonly blocks: bigint;
  /** The longest range that it may take: what it refused was longer. */
  readonly most: bigint;
  /** When that is forgotten, by performance.now(). */
  readonly until: number;
}

/**
 * Reads logs in ranges as long as each upstream allows: by its plan, or learned from what it refuses, halving down and
 * approaching the limit again by halves.
 */
export class LogWindow {
  readonly #reaches = new WeakMap<RpcNode, Reach>();

  /**
   * Reads the wanted logs from a block on, up to `to` or as far as one call may reach. The same request reads the last
   * block: a node that does not have it, or has another one than `expected`, would leave out logs, so its response does
   * not count.
   */
  async read(node: RpcNode, wanted: Wanted, from: bigint, to: bigint, expected: string | null): Promise<LogRange> {
    const { historyBlocks } = node.plan;
    if (wanted !== null && historyBlocks !== undefined && to - from >= BigInt(historyBlocks))
      throw new RpcUpstreamError(
        `${node.name} has the logs of ${historyBlocks} blocks, and ${to - from + 1n} are unread`,
        'no',
        undefined,
        'unsupported',
      );
    const before = this.#reachOf(node);
    for (;;) {
      const { blocks } = this.#reachOf(node);
      const last = to - from < blocks ? to : from + blocks - 1n;
      const [logs, end] = await this.#ask(node, wanted, from, last);
      if (logs instanceof RpcRefusedError) {
        // Usually too many blocks or logs for this provider. A single refused block is another matter: its age, or the
        // method. That says nothing about the length of other ranges.
        if (last === from) {
          this.#reaches.set(node, before);
          const problem = `${node.name} refuses the logs of block ${from}: ${logs.message}`;
          throw new RpcUpstreamError(problem, 'no', undefined, 'unsupported');
        }
        this.#refused(node, last - from + 1n);
        continue;
      }
      if (end === null || (last === to && expected !== null && end.hash !== expected)) {
        throw new RpcUpstreamError(`${node.name} no longer has block ${last} that it reported before`, 'no');
      }
      this.#passed(node, last - from + 1n);
      return { logs, end };
    }
  }

  async #ask(
    node: RpcNode,
    wanted: Wanted,
    fromBlock: bigint,
    toBlock: bigint,
  ): Promise<readonly [readonly Log[] | RpcRefusedError, Block | null]> {
    if (wanted === null) return [[], await node.call(getBlock(toBlock))];
    try {
      const calls = partsOf(wanted.address, node.plan.logAddresses).map((address) =>
        limited(getLogs({ ...wanted, address, fromBlock, toBlock })),
      );
      const [end, ...parts] = await node.batch([getBlock(toBlock), ...calls] as const);
      return [
        parts.find((part) => part instanceof RpcRefusedError) ?? (parts as readonly (readonly Log[])[]).flat(),
        end,
      ];
    } catch (error) {
      // It may have been too much to return in time: the next call asks for less.
      const { blocks, ...reach } = this.#reachOf(node);
      this.#reaches.set(node, { ...reach, blocks: halfOf(blocks) });
      throw error;
    }
  }

  #reachOf(node: RpcNode): Reach {
    const known = this.#reaches.get(node);
    if (known !== undefined && performance.now() < known.until) return known;
    const most = BigInt(node.plan.logRange ?? BLOCKS_MAX);
    return { blocks: most, most, until: performance.now() + LEARNED_MS };
  }

  #refused(node: RpcNode, blocks: bigint): void {
    this.#reaches.set(node, { blocks: halfOf(blocks), most: blocks - 1n, until: performance.now() + LEARNED_MS });
  }

  #passed(node: RpcNode, blocks: bigint): void {
    const reach = this.#reachOf(node);
    // Only a range that was as long as allowed says that a longer one may pass.
    if (blocks < reach.blocks || reach.blocks >= reach.most) return;
    this.#reaches.set(node, { ...reach, blocks: reach.blocks + (reach.most - reach.blocks + 1n) / 2n });
  }
}

const halfOf = (blocks: bigint): bigint => (blocks > 1n ? blocks / 2n : 1n);

/** A list in parts of so many items; undefined: all in one. */
const partsOf = (items: readonly string[], most = items.length): readonly (readonly string[])[] =>
  Array.from({ length: Math.ceil(items.length / most) }, (_, part) => items.slice(part * most, (part + 1) * most));
