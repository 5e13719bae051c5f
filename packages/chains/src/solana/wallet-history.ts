import type { Address as WalletAddress, TokenAddress, TransactionHash } from '@pf/domain';
import { refusable, type RpcPool, RpcRefusedError, RpcUpstreamError } from '@pf/rpc';
import type { Network, Token } from '../networks.ts';
import { partsOf } from '../parts.ts';
import type { Balances, BlockRange, Few, Moved, WalletHistory } from '../wallet-history.ts';
import { getBlockTime, getEpochInfo, getFirstAvailableBlock, getSignaturesForAddress } from './calls.ts';
import { lookTwice } from './observe/looking.ts';
import { goesOn, LONG_PAGE, type PageEnd, restOf } from './observe/paging.ts';
import { keyOf, wholeGainOf } from './observe/paid.ts';
import type { Holding, Reading } from './observe/reading.ts';
import { tokenAccountOf } from './payment.ts';

type Pool = Pick<RpcPool, 'run' | 'call' | 'onAnother'>;

/** Transactions that are read at once. */
const READ_AT_ONCE = 50;
/** Pages of a list for a look at a few transactions: of 2,000 that name an account of the wallet. */
const FEW_PAGES = 2;
/** How often a transaction is asked for that a list names, before the audit ends. */
const LOOKS_MAX = 5;

/**
 * What moved in the associated token accounts of a wallet: their lists of transactions from the newest on, and of each
 * transaction the balances before and after it, which the chain itself has written. No node tells a balance of a past
 * slot: those at the ends are what the first transaction found and the last one left.
 */
export class SolanaWalletHistory implements WalletHistory {
  readonly #network: Network;
  readonly #pool: Pool;

  constructor(network: Network, pool: Pool) {
    this.#network = network;
    this.#pool = pool;
  }

  async final(): Promise<bigint> {
    return (await this.#pool.call(getEpochInfo('finalized'))).absoluteSlot;
  }

  /** A slot without a block has no time. */
  async timeOf(slot: bigint): Promise<number | null> {
    const seconds = await this.#pool.call(refusable(getBlockTime(slot)));
    return seconds === null || seconds instanceof RpcRefusedError ? null : seconds * 1_000;
  }

  async read(
    wallet: WalletAddress,
    range: BlockRange,
    take: (page: readonly Moved[]) => void,
  ): Promise<ReadonlyMap<TokenAddress, Balances>> {
    const balances = new Map<TokenAddress, Balances>();
    const read = new Set<TransactionHash>();
    for (const token of this.#network.tokens) {
      const ends = new Ends(keyIn(wallet, token));
      // The newest first, as they are listed.
      // Never null without a bound.
      const listed = (await this.#listed(wallet, token, range)) ?? [];
      for (const part of partsOf(listed, READ_AT_ONCE)) {
        const readings = await this.#readingsOf(part);
        for (const reading of readings) ends.note(reading);
        // One transaction may have moved several tokens.
        take(readings.filter(({ hash }) => !read.has(hash)).flatMap((one) => this.#movedIn(wallet, one)));
        for (const { hash } of readings) read.add(hash);
      }
      balances.set(token.address, ends.balances());
    }
    return balances;
  }

  /** A list goes from the newest back, so that a range is read whole or not at all. */
  async readFew(wallet: WalletAddress, range: BlockRange, most: number): Promise<Few | null> {
    const hashes = new Set<TransactionHash>();
    for (const token of this.#network.tokens) {
      const listed = await this.#listed(wallet, token, range, FEW_PAGES);
      if (listed === null) return null;
      for (const hash of listed) hashes.add(hash);
      if (hashes.size > most) return null;
    }
    const moved: Moved[] = [];
    for (const part of partsOf([...hashes], READ_AT_ONCE))
      moved.push(...(await this.#readingsOf(part)).flatMap((one) => this.#movedIn(wallet, one)));
    return { moved, through: range.to };
  }

  async inTransactions(
    wallet: WalletAddress,
    hashes: readonly TransactionHash[],
  ): Promise<ReadonlyMap<TransactionHash, readonly Moved[]>> {
    const looks = await this.#pool.run((node) => lookTwice(this.#pool, node, hashes));
    return new Map(
      looks.flatMap((look) =>
        look.kind === 'read' ? [[look.reading.hash, this.#movedIn(wallet, look.reading)] as const] : [],
      ),
    );
  }

  /**
   * The transactions of the range that name the wallet's account of a token, the newest first.
   * @returns null where they are on more pages than `most`
   */
  async #listed(
    wallet: WalletAddress,
    token: Token,
    { from, to }: BlockRange,
    most = Infinity,
  ): Promise<readonly TransactionHash[] | null> {
    const account = await tokenAccountOf(wallet, token.address);
    const listed: TransactionHash[] = [];
    let pages = 0;
    for (let paging: PageEnd | null | undefined; paging !== null; pages += 1) {
      if (pages === most) return null;
      const after: PageEnd | null = paging ?? null;
      const page = await this.#pool.run(async (node) => {
        const [found, first] = await node.batch([
          getSignaturesForAddress(account, { limit: LONG_PAGE, before: after?.before, atLeast: to }),
          getFirstAvailableBlock(),
        ]);
        if (first > from)
          throw new RpcUpstreamError(
            `${node.name} has the transactions from slot ${first} on`,
            'no',
            undefined,
            'unsupported',
          );
        if (!goesOn(after, found))
          throw new RpcUpstreamError(`${node.name} lists other transactions than before`, 'no');
        return found;
      });
      // The first of a further page was the last of the one before.
      for (const { signature, slot, err } of after === null ? page : page.slice(1))
        if (slot >= from && slot <= to && err === null) listed.push(signature);
      paging = restOf(after, page, LONG_PAGE, (last) => last.slot < from);
    }
    return listed;
  }

  /** In their order. @throws RpcUnavailableError where one of them cannot be read: what it moved would be missing */
  async #readingsOf(hashes: readonly TransactionHash[]): Promise<readonly Reading[]> {
    const found = new Map<TransactionHash, Reading>();
    for (let look = 1; found.size < hashes.length; look += 1) {
      const open = hashes.filter((hash) => !found.has(hash));
      await this.#pool.run(async (node) => {
        const looks = await lookTwice(this.#pool, node, open);
        for (const one of looks) if (one.kind === 'read') found.set(one.reading.hash, one.reading);
        const [missing] = open.filter((hash) => !found.has(hash));
        if (missing !== undefined && look === LOOKS_MAX)
          throw new RpcUpstreamError(`${node.name} does not show ${missing} so that it can be read`, 'no');
      });
    }
    return hashes.flatMap((hash) => found.get(hash) ?? []);
  }

  #movedIn(wallet: WalletAddress, reading: Reading): readonly Moved[] {
    if (reading.failure !== null) return [];
    return this.#network.tokens.flatMap((token): Moved[] => {
      const owned = keyIn(wallet, token);
      const gained = wholeGainOf(reading, owned);
      if (gained === 0n) return [];
      const { hash, slot } = reading;
      return [
        {
          hash,
          block: slot,
          tokenAddress: token.address,
          came: gained > 0n ? gained : 0n,
          went: gained < 0n ? -gained : 0n,
          from: gained > 0n ? senderIn(reading, owned) : null,
        },
      ];
    });
  }
}

const keyIn = (wallet: WalletAddress, { address }: Token): string =>
  keyOf({ owner: wallet as string, mint: address as string, amount: 0n } as Holding);

/** The one owner who has paid into these accounts; null where it is not one. */
function senderIn({ transfers, before, after }: Reading, owned: string): WalletAddress | null {
  const holds = (place: number): boolean => {
    const held = after.get(place) ?? before.get(place);
    return held !== undefined && keyOf(held) === owned;
  };
  const senders = new Set(
    transfers
      .filter(({ source, destination }) => holds(destination) && !holds(source))
      .map(({ authority }) => authority as string as WalletAddress),
  );
  return senders.size === 1 ? ([...senders][0] ?? null) : null;
}

/** What a wallet's account had before the oldest of the transactions, and after the newest. */
class Ends {
  readonly #owned: string;
  #after: bigint | undefined;
  #before: bigint | undefined;
  #hasOthers = false;

  constructor(owned: string) {
    this.#owned = owned;
  }

  /** From the newest on. */
  note({ before, after }: Reading): void {
    const [was, is] = [before, after].map((holdings) =>
      [...holdings.values()].filter((one) => keyOf(one) === this.#owned),
    ) as [Holding[], Holding[]];
    if (was.length + is.length === 0) return;
    this.#hasOthers ||= was.length > 1 || is.length > 1;
    this.#after ??= is[0]?.amount ?? 0n;
    this.#before = was[0]?.amount ?? 0n;
  }

  balances(): Balances {
    if (this.#hasOthers) return { unknown: 'a transaction has several accounts of this wallet' };
    if (this.#before === undefined || this.#after === undefined)
      return { unknown: 'no transaction of the range shows one: nodes tell none of a past slot' };
    return { before: this.#before, after: this.#after };
  }
}
