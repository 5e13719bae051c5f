import type { Address } from '@pf/domain';
import { limited, type RpcNode, RpcRefusedError, RpcUpstreamError } from '@pf/rpc';
import { partsOf } from '../../parts.ts';
import { wordOf } from '../account.ts';
import { type Block, getBlock, getLogs, type Log, type LogFilter } from '../calls.ts';

/** Blocks of one eth_getLogs while catching up, where an upstream's own limit is not known. */
const BLOCKS_MAX = 2_000n;
/** A limit that was learned is forgotten after this time: providers change theirs. */
const LEARNED_MS = 60 * 60_000;
/** Recipients in the filter of one call: geth takes no more values in a position. */
const RECIPIENTS_MAX = 1_000;
/** A refusal of the filter, not of the range: as geth, Infura and web servers say it. */
const OF_FILTER = /topics|filters|request.* too large/i;

/** The logs of a range that was read, and the last block of it: its hash at that time. */
export interface LogRange {
  readonly logs: readonly Log[];
  readonly end: Block;
}

/** The logs to look for in a range of blocks; null where there are none to look for. */
export type Wanted = {
  /** The contracts that write them. */
  readonly address: readonly string[];
  /** Their first topics. */
  readonly events: readonly string[];
  /** Their third topic is one of these. */
  readonly recipients: readonly Address[];
} | null;

/** How many blocks, and recipients, one upstream takes in a call. */
interface Reach {
  readonly blocks: bigint;
  /** The longest range that it may take: what it refused was longer. */
  readonly most: bigint;
  readonly recipients: number;
  /** When that is forgotten, by performance.now(). */
  readonly until: number;
}

/**
 * Reads logs in ranges as long as each upstream allows, and for as many recipients at a time: by its plan, or learned
 * from what it refuses, halving down. Ranges approach the limit again by halves.
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
        const longest = Math.min(this.#reachOf(node).recipients, wanted?.recipients.length ?? 0);
        if (OF_FILTER.test(logs.message) && longest > 1) {
          this.#refusedRecipients(node, longest);
          continue;
        }
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

  /** Whether one call takes so many recipients. */
  takesAll(node: RpcNode, recipients: number): boolean {
    return recipients <= this.#reachOf(node).recipients;
  }

  async #ask(
    node: RpcNode,
    wanted: Wanted,
    fromBlock: bigint,
    toBlock: bigint,
  ): Promise<readonly [readonly Log[] | RpcRefusedError, Block | null]> {
    if (wanted === null) return [[], await node.call(getBlock(toBlock))];
    try {
      const lists = partsOf(wanted.recipients, this.#reachOf(node).recipients);
      const calls = partsOf(wanted.address, node.plan.logAddresses).flatMap((address) =>
        lists.map((recipients) => limited(getLogs(filterOf({ ...wanted, address, recipients }, fromBlock, toBlock)))),
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
    const recipients = node.plan.logTopics ?? RECIPIENTS_MAX;
    return { blocks: most, most, recipients, until: performance.now() + LEARNED_MS };
  }

  #refused(node: RpcNode, blocks: bigint): void {
    this.#learn(node, { blocks: halfOf(blocks), most: blocks - 1n });
  }

  #refusedRecipients(node: RpcNode, recipients: number): void {
    this.#learn(node, { recipients: Math.ceil(recipients / 2) });
  }

  #learn(node: RpcNode, learned: Partial<Reach>): void {
    this.#reaches.set(node, { ...this.#reachOf(node), ...learned, until: performance.now() + LEARNED_MS });
  }

  #passed(node: RpcNode, blocks: bigint): void {
    const reach = this.#reachOf(node);
    // Only a range that was as long as allowed says that a longer one may pass.
    if (blocks < reach.blocks || reach.blocks >= reach.most) return;
    this.#reaches.set(node, { ...reach, blocks: reach.blocks + (reach.most - reach.blocks + 1n) / 2n });
  }
}

const halfOf = (blocks: bigint): bigint => (blocks > 1n ? blocks / 2n : 1n);

/** An address as a log's topic has it. */
export const topicOf = (address: Address): string => `0x${wordOf(address)}`;

const filterOf = (
  { address, events, recipients }: NonNullable<Wanted>,
  fromBlock: bigint,
  toBlock: bigint,
): LogFilter => ({ fromBlock, toBlock, address, topics: [events, null, recipients.map(topicOf)] });
