import type { Address } from '@pf/domain';
import { boundedTo, isTooLong, limited, type RpcCall, type RpcNode, RpcRefusedError, RpcUpstreamError } from '@pf/rpc';
import { inPieces, partsOf } from '../../parts.ts';
import { wordOf } from '../account.ts';
import { checksummed } from '../checksummed.ts';
import {
  type Block,
  getBlock,
  getHeadNumber,
  getLogs,
  type Log,
  type LogFilter,
  STRANGERS_MAX_BYTES,
} from '../calls.ts';

/** Blocks of one eth_getLogs while catching up, where an upstream's own limit is not known. */
const BLOCKS_MAX = 2_000n;
/** A limit that was learned is forgotten after this time: providers change theirs. */
const LEARNED_MS = 60 * 60_000;
/** Recipients in the filter of one call, and contracts: geth takes no more values in a position. */
const VALUES_MAX = 1_000;
/**
 * Lists of recipients of one reading. With more of them one call for the logs of all recipients costs less, whatever
 * the number of ours: one account may name any number of wallets.
 */
const LISTS_MAX = 16;
/** A refusal of the list of contracts: as publicnode says it, and Ankr. */
const OF_ADDRESSES = /parameter: \S*address|(?:number|many) (?:of )?address/i;
/** A refusal of the filter, not of the range: as geth, Infura and web servers say it. */
const OF_FILTER = /topics|filters|request.* too large/i;
/** A refusal of old blocks, whatever their number: as publicnode says it. */
const OF_HISTORY = /archive|pruned/i;
/** A refusal of so many results: another range as long as this may pass. */
const OF_RESULTS = /results|logs|size/i;
/** The range that may pass, as Alchemy, Infura and reth say it. */
const SUGGESTED = /range[^[\d]*\[?(0x[\da-f]+|\d+)(?:, ?|-)(0x[\da-f]+|\d+)/i;

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
  /** Their second topic is, in its place: what these have sent. */
  readonly bySender?: boolean;
} | null;

/** What one upstream takes in a call. */
interface Reach {
  /** Blocks, and the longest range that it may take: what it refused was longer. */
  readonly range: { readonly blocks: bigint; readonly most: bigint };
  readonly addresses: number;
  readonly recipients: number;
  /** How many blocks back it has logs; null: all. */
  readonly history: number | null;
}

/** What was learned of one upstream, and when each is forgotten, by performance.now(). */
type Learned = { readonly [Name in keyof Reach]?: { readonly value: Reach[Name]; readonly until: number } };

/**
 * Reads logs in ranges as long as each upstream allows, and for as many contracts and recipients at a time: by its
 * plan, or learned from what it refuses, as it suggests or halving down. Ranges approach the limit again by halves.
 * For very many recipients it reads the logs of all there are.
 */
export class LogWindow {
  readonly #learned = new WeakMap<RpcNode, Learned>();

  /**
   * Reads the wanted logs from a block on, up to `to` or as far as one call may reach. The same request reads the last
   * block: a node that does not have it, or has another one than `expected`, would leave out logs, so its response does
   * not count.
   */
  async read(node: RpcNode, wanted: Wanted, from: bigint, to: bigint, expected: string | null): Promise<LogRange> {
    const { history } = this.#reachOf(node);
    if (wanted !== null && history !== null && to - from >= BigInt(history))
      throw lacking(`${node.name} has the logs of ${history} blocks, and ${to - from + 1n} are unread`);
    const before = this.#learned.get(node) ?? {};
    for (;;) {
      const { blocks } = this.#reachOf(node).range;
      const last = to - from < blocks ? to : from + blocks - 1n;
      const [logs, end] = await this.#ask(node, wanted, from, last);
      if (logs instanceof RpcRefusedError) {
        if (OF_HISTORY.test(logs.message)) {
          await this.#refusedHistory(node, from);
          throw lacking(`${node.name} refuses the logs of block ${from}: ${logs.message}`);
        }
        if (wanted !== null && this.#shortened(node, wanted, logs.message)) continue;
        // Usually too many blocks or logs for this provider. A single refused block is another matter: its age, or the
        // method. That says nothing about the length of other ranges.
        if (last === from) {
          this.#learned.set(node, before);
          throw lacking(`${node.name} refuses the logs of block ${from}: ${logs.message}`);
        }
        this.#refused(node, from, last, logs.message);
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
      const most = this.#reachOf(node);
      const isOfAll = this.#asksForAll(node, wanted);
      const lists = isOfAll ? [null] : partsOf(wanted.recipients, most.recipients);
      const calls = partsOf(wanted.address, most.addresses).flatMap((address) =>
        lists.map((recipients) => limited(logsOf(filterOf({ ...wanted, address }, recipients, fromBlock, toBlock)))),
      );
      const [end, ...parts] = await node.batch([getBlock(toBlock), ...calls] as const);
      const refusal = parts.find((part) => part instanceof RpcRefusedError);
      if (refusal !== undefined) return [refusal, end];
      const logs = (parts as readonly (readonly Log[])[]).flat();
      return [isOfAll ? await ofRecipients(logs, wanted.recipients) : logs, end];
    } catch (error) {
      if (toBlock > fromBlock && error instanceof RpcUpstreamError && isTooLong(error.message))
        return [new RpcRefusedError('the logs are too long together', 0, undefined), null];
      // It may have been too much to return in time: the next call asks for less.
      const { range } = this.#reachOf(node);
      this.#adjust(node, { ...range, blocks: halfOf(range.blocks) });
      throw error;
    }
  }

  #asksForAll(node: RpcNode, { recipients }: NonNullable<Wanted>): boolean {
    return recipients.length > LISTS_MAX * this.#reachOf(node).recipients;
  }

  #reachOf(node: RpcNode): Reach {
    const { plan } = node;
    const most = BigInt(plan.logRange ?? BLOCKS_MAX);
    const { range, addresses, recipients, history } = this.#learned.get(node) ?? {};
    return {
      range: known(range) ?? { blocks: most, most },
      addresses: known(addresses) ?? plan.logAddresses ?? VALUES_MAX,
      recipients: known(recipients) ?? plan.logTopics ?? VALUES_MAX,
      history: known(history) ?? plan.historyBlocks ?? null,
    };
  }

  #learn<Name extends keyof Reach>(node: RpcNode, name: Name, value: Reach[Name], until = now() + LEARNED_MS): void {
    this.#learned.set(node, { ...this.#learned.get(node), [name]: { value, until } });
  }

  /** Another range, forgotten when what was learned of ranges is. */
  #adjust(node: RpcNode, range: Reach['range']): void {
    const learned = this.#learned.get(node)?.range;
    this.#learn(node, 'range', range, known(learned) === undefined ? undefined : learned?.until);
  }

  /** Takes the range that the refusal suggests, or half of this one. */
  #refused(node: RpcNode, from: bigint, last: bigint, message: string): void {
    const asked = last - from + 1n;
    const [, first, end] = SUGGESTED.exec(message) ?? [];
    const suggested = first === undefined || end === undefined || BigInt(first) !== from ? 0n : BigInt(end) - from + 1n;
    const isUseful = suggested > 0n && suggested < asked;
    const isLimit = isUseful && !OF_RESULTS.test(message.replace('eth_getLogs', ''));
    this.#learn(node, 'range', {
      blocks: isUseful ? suggested : halfOf(asked),
      most: isLimit ? suggested : asked - 1n,
    });
  }

  /** Halves the list of contracts, or of recipients, that this refusal is about. @returns false where it is not */
  #shortened(node: RpcNode, wanted: NonNullable<Wanted>, message: string): boolean {
    for (const [name, text, list] of [
      ['addresses', OF_ADDRESSES, wanted.address],
      ['recipients', OF_FILTER, this.#asksForAll(node, wanted) ? [] : wanted.recipients],
    ] as const) {
      const longest = Math.min(this.#reachOf(node)[name], list.length);
      if (!text.test(message) || longest <= 1) continue;
      this.#learn(node, name, Math.ceil(longest / 2));
      return true;
    }
    return false;
  }

  /** How far back its logs reach is less than to this block. */
  async #refusedHistory(node: RpcNode, block: bigint): Promise<void> {
    const depth = Number((await node.call(getHeadNumber())) - block);
    if (depth > 0) this.#learn(node, 'history', depth);
  }

  #passed(node: RpcNode, passed: bigint): void {
    const { blocks, most } = this.#reachOf(node).range;
    // Only a range that was as long as allowed says that a longer one may pass.
    if (passed < blocks || blocks >= most) return;
    this.#adjust(node, { blocks: blocks + (most - blocks + 1n) / 2n, most });
  }
}

const now = (): number => performance.now();
const known = <T>(learned: { readonly value: T; readonly until: number } | undefined): T | undefined =>
  learned !== undefined && now() < learned.until ? learned.value : undefined;
/** The upstream cannot do it, and others may. */
const lacking = (message: string): RpcUpstreamError => new RpcUpstreamError(message, 'no', undefined, 'unsupported');
const halfOf = (blocks: bigint): bigint => (blocks > 1n ? blocks / 2n : 1n);

/** Of several blocks no more than takes little room: else fewer are asked for. One is read whatever it has. */
const logsOf = (filter: LogFilter): RpcCall<readonly Log[]> =>
  filter.toBlock > filter.fromBlock ? boundedTo(STRANGERS_MAX_BYTES, getLogs(filter)) : getLogs(filter);

/** An address as a log's topic has it. */
export const topicOf = (address: Address): string => `0x${wordOf(address)}`;

/** @param recipients null: all there are */
const filterOf = (
  { address, events, bySender = false }: Omit<NonNullable<Wanted>, 'recipients'>,
  recipients: readonly Address[] | null,
  fromBlock: bigint,
  toBlock: bigint,
): LogFilter => ({
  fromBlock,
  toBlock,
  address,
  topics: recipients === null ? [events] : [events, ...(bySender ? [] : [null]), recipients.map(topicOf)],
});

/** Recipients that are compared at a time. */
const COMPARED = 20_000;

/** Those of these logs that have one of the recipients. Of both there may be very many. */
async function ofRecipients(logs: readonly Log[], recipients: readonly Address[]): Promise<readonly Log[]> {
  const recipientsOf = await inPieces(logs, ({ topics: [, , to] }): (Address | null)[] => [
    to === undefined ? null : checksummed(`0x${to.slice(26)}`),
  ]);
  const logged = new Set<Address | null>(recipientsOf);
  const ours = new Set<Address | null>(await inPieces(recipients, (one) => (logged.has(one) ? [one] : []), COMPARED));
  return logs.filter((_log, place) => ours.has(recipientsOf[place] ?? null));
}
