import type { Balances, BlockRange, Moved, WalletHistory } from '@pf/chains';
import type { ToldTransfer } from '@pf/database';
import type { Address, Instant, IntentId, TokenAddress, TransactionHash } from '@pf/domain';
import { compare, type Comparison } from './compare.ts';

/** Transfers of one audit, on the chain and in the ledger: some 100 MB of memory. */
const TRANSFERS_MAX = 200_000;
/** Transactions of the ledger that are looked up at once. */
const LOOKED_UP_AT_ONCE = 50;
/** The clocks of chains and services differ by less. */
const CLOCKS_MS = 3_600_000;

/** The range has more transfers than one audit takes. */
export class TooManyTransfersError extends Error {
  override readonly name = 'TooManyTransfersError';
}

export interface AuditOptions {
  readonly history: Omit<WalletHistory, 'readFew'>;
  /** What the ledger tells of transfers to the wallet, that was told or changed since then. */
  readonly readTold: (since: Instant, take: (page: readonly ToldTransfer[]) => void) => Promise<readonly IntentId[]>;
  readonly wallet: Address;
  readonly range: BlockRange;
  readonly ended: AbortSignal;
}

export interface WalletReport extends Comparison {
  readonly range: BlockRange;
  /** When its first and its last block were made; null where the chain does not tell it. */
  readonly times: { readonly from: Instant | null; readonly to: Instant | null };
  readonly balances: ReadonlyMap<TokenAddress, Balances>;
  /** Intents that this version cannot read. */
  readonly unreadable: readonly IntentId[];
}

/**
 * Compares what arrived in a wallet with what the ledger tells. The chain is read first: the ledger has all of that by
 * then. What the ledger has and the chain did not show is looked up by its transaction: it may be in another block, or,
 * on Solana, in another account of the wallet.
 */
export async function auditWallet({ history, readTold, wallet, range, ended }: AuditOptions): Promise<WalletReport> {
  const append = <T>(all: T[], page: readonly T[]): void => {
    ended.throwIfAborted();
    if (all.length + page.length > TRANSFERS_MAX)
      throw new TooManyTransfersError(`The range has more than ${TRANSFERS_MAX} transfers.`);
    all.push(...page);
  };
  const moved: Moved[] = [];
  const balances = await history.read(wallet, range, (page) => append(moved, page));
  const [from, to] = [await history.timeOf(range.from), await history.timeOf(range.to)];
  const all: ToldTransfer[] = [];
  const unreadable = await readTold(from === null ? 0 : from - CLOCKS_MS, (page) =>
    append(
      all,
      page.filter(({ place }) => place === null || isIn(range, place.block)),
    ),
  );
  const shown = new Set<TransactionHash>(moved.map(({ hash }) => hash));
  // What was told so long after the range, and is not in it, is of later blocks.
  const isLater = ({ hash, place, toldAt }: ToldTransfer): boolean =>
    place === null && to !== null && toldAt > to + CLOCKS_MS && !shown.has(hash);
  const told = all.filter((one) => !isLater(one));
  const unseen = [...new Set(told.map(({ hash }) => hash))].filter((hash) => !shown.has(hash));
  const elsewhere = new Set<TransactionHash>();
  for (let at = 0; at < unseen.length; at += LOOKED_UP_AT_ONCE) {
    ended.throwIfAborted();
    const found = await history.inTransactions(wallet, unseen.slice(at, at + LOOKED_UP_AT_ONCE));
    for (const [hash, itsMoves] of found) {
      const here = itsMoves.filter(({ block }) => isIn(range, block));
      if (here.length < itsMoves.length) elsewhere.add(hash);
      append(moved, here);
    }
  }
  return {
    ...compare(
      moved,
      told.filter(({ hash }) => !elsewhere.has(hash)),
    ),
    range,
    times: { from, to },
    balances,
    unreadable,
  };
}

const isIn = ({ from, to }: BlockRange, block: bigint): boolean => block >= from && block <= to;
