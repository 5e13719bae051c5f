import type { Address, Instant, TokenAddress, TransactionHash } from '@pf/domain';

/** What one transaction has moved of one token of a wallet, in base units. */
export interface Moved {
  readonly hash: TransactionHash;
  /** Block number or slot. */
  readonly block: bigint;
  readonly tokenAddress: TokenAddress;
  readonly came: bigint;
  readonly went: bigint;
  /** Who has sent what came; null where that is not one wallet, or nothing tells. */
  readonly from: Address | null;
}

/** Blocks, or slots: the first and the last of them. */
export interface BlockRange {
  readonly from: bigint;
  readonly to: bigint;
}

/** What a wallet had of a token before the first block of a range, and after the last. */
export type Balances = { readonly before: bigint; readonly after: bigint } | { readonly unknown: string };

/** What moved in the first blocks of a range. */
export interface Few {
  readonly moved: readonly Moved[];
  /** The last of these blocks, all of which was read. */
  readonly through: bigint;
}

/** What moved in a wallet, by the chain alone: nothing of it is compared with intents or deposits. */
export interface WalletHistory {
  /** The newest final block: what is after it may be undone. */
  final(): Promise<bigint>;
  /** Null where the node does not tell it. */
  timeOf(block: bigint): Promise<Instant | null>;
  /**
   * Hands over all that moved of the network's tokens, page by page.
   * @param take may throw, which ends it
   * @returns the balances by token
   * @throws RpcUnavailableError where no upstream can show all of the range
   */
  read(
    wallet: Address,
    range: BlockRange,
    take: (page: readonly Moved[]) => void,
  ): Promise<ReadonlyMap<TokenAddress, Balances>>;
  /**
   * The first that moved in a range, in the order of the chain: as much of it as a few calls read.
   * @returns null where that is more than `most` transactions: a wallet as busy as an exchange's
   * @throws RpcUnavailableError
   */
  readFew(wallet: Address, range: BlockRange, most: number): Promise<Few | null>;
  /**
   * What these transactions have moved. One that no upstream shows in a block is absent; one that moved nothing of the
   * wallet has none.
   */
  inTransactions(
    wallet: Address,
    hashes: readonly TransactionHash[],
  ): Promise<ReadonlyMap<TransactionHash, readonly Moved[]>>;
}
