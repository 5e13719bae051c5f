import type { Authorization, RelayedCall, TypedData, X402Settlement } from '@pf/contracts';
import type {
  AccountId,
  Address,
  Arrival,
  Build,
  Deposit,
  DepositId,
  DepositObservation,
  Direction,
  Instant,
  IntentId,
  IntentStatus,
  Lifetime,
  Observation,
  PaymentTerms,
  PreparedTransaction,
  Reference,
  Settlement,
  Submission,
  TransactionHash,
  Transfer,
  UnsignedTransaction,
} from '@pf/domain';
import type { ServiceCall } from '@pf/rpc';
import type { Network, Token } from './networks.ts';

export type { ChainFamily, Network, Token } from './networks.ts';

export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

export interface BuildRequest {
  readonly intentId: IntentId;
  readonly terms: PaymentTerms;
  readonly direction: Direction;
  readonly fulfiller: Address;
  /** The transaction must not land after this, where the chain supports expiry. */
  readonly expiresAt: Instant;
  /**
   * Another account pays the fee: it signs for it after the fulfiller where the adapter takes `sponsors`; where it has
   * `paymasters`, whether the fulfiller has the fee is not looked at.
   */
  readonly sponsored?: boolean;
  /** The account that pays the fee of a sponsored transaction: where `sponsors` is `named`. */
  readonly feePayer?: Address | null;
}

/** Whose address a payment was asked for with. */
export type PartOfPayment = 'requestor' | 'fulfiller' | 'feePayer';

/**
 * Whether another account may pay the fee: no; `named`, before the fulfiller signs; or `any`, chosen after that.
 */
export type Sponsors = 'none' | 'named' | 'any';

export type BuildResult =
  | { readonly kind: 'built'; readonly transaction: UnsignedTransaction; readonly lifetime: Lifetime }
  /** The requestor cannot be paid, or another cannot pay, on this chain: 422 `address.not_payable`. */
  | { readonly kind: 'not_payable'; readonly param: PartOfPayment; readonly reason: string }
  /** The payer lacks the amount or the fee, or the simulation fails: 422 `transaction.rejected`. */
  | { readonly kind: 'rejected'; readonly reason: string };

/** Until when a transaction can land by itself. */
export interface Expiry {
  /** An estimate where the chain counts blocks. Null where it has no end, or none is known. */
  readonly expiresAt: Instant | null;
  /** The last block height in which it can land, where the chain counts blocks. */
  readonly lastValidBlockHeight: bigint | null;
}

/** A decoded signed transaction. `raw` is what goes to the node. */
export interface SignedTransaction {
  readonly hash: TransactionHash;
  readonly raw: Uint8Array;
  /** Its bytes are not known here but for the first: it cannot be broadcast. */
  readonly isPartial?: true;
}

/** A transaction that can land as it is, or the hash of one that the wallet sent itself. */
export type Complete =
  | { readonly kind: 'signed'; readonly transaction: SignedTransaction }
  | { readonly kind: 'sent'; readonly hash: TransactionHash };
/** What a submit's `signedTransaction` may hold: that, or what a sponsor is to sign yet, whose hash is not known. */
export type Submitted = Complete | { readonly kind: 'handed'; readonly bytes: Uint8Array };

/** The problem of what was handed over where there is no sponsor. */
export const LACKS_FEE_PAYER = 'lacks the signature of its fee payer';

/** The fields that differ from the intent's terms: `{recipient: {expected, actual}}`. Goes into `details`. */
export type Differences = Readonly<
  Record<string, { readonly expected: string | null; readonly actual: string | null }>
>;

/** A transfer that has moved the money of an intent without naming the intent. */
export interface UnnamedPayment {
  readonly transfer: Transfer;
  /** The time of its block. */
  readonly at: Instant;
  /** As confirmed as a payment that is observed. */
  readonly isConfirmed: boolean;
}

export type Verification =
  | {
      readonly kind: 'verified';
      readonly transaction: PreparedTransaction;
      /** It was judged by what it has paid. Its bytes were not judged, so nothing may broadcast them. */
      readonly hasLanded?: true;
    }
  /** It does not pay exactly this intent: 422 `transaction.mismatch`. */
  | {
      readonly kind: 'mismatch';
      readonly differs: Differences;
      /** What a transaction that was sent has paid: everything as the intent asks, but without any reference. */
      readonly unnamed?: UnnamedPayment;
    }
  /** It pays this intent but cannot land, or might never end (nonce, fee, gas, balance): 422 `transaction.rejected`. */
  | { readonly kind: 'rejected'; readonly reason: string }
  /** It was sent, and no upstream can show now for what it has paid: 503 `transaction.not_visible`. */
  | { readonly kind: 'unseen' };

export type BroadcastResult =
  /** A node has it, or knew it already. `isLanded`: it shows it in a block, although a reorg may still undo that. */
  | { readonly kind: 'taken'; readonly isLanded?: true }
  /** Every upstream that answered refused it, and none may have taken it. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** A node may have it (time-out, connection lost after sending): broadcast again later. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** What a charge of the Machine Payments Protocol asks for (paymentauth.org), without what binds it to a server. */
interface MppCharge {
  /** The protection space: one intent, named by its reference. Clients of Tempo write its fingerprint into the memo. */
  readonly realm: string;
  /** As JSON; amounts are base units as text. */
  readonly request: Readonly<Record<string, unknown>>;
}

/** How one chain is paid by the Machine Payments Protocol. */
export interface MppMethod {
  /** `tempo`, `solana`: the payment method in challenges and receipts. */
  readonly name: string;
  charge(terms: PaymentTerms): MppCharge;
  /** What a credential's payload submits. A problem: 422 `transaction.malformed`. */
  parse(payload: unknown): Parsed<Complete>;
  /** The wallet that pays by this transaction, which `verify` checks; null where the bytes name none. */
  senderOf(transaction: SignedTransaction): Address | null;
}

/** An authorization and its signature: `0x` hex, of a key or of what the wallet's contract asks for. */
export interface SignedAuthorization {
  readonly authorization: Authorization;
  readonly signature: string;
}

/** The token does not know authorizations: 422 `token.not_available`. */
interface Unsupported {
  readonly kind: 'unsupported';
}

export type AuthorizationResult =
  | { readonly kind: 'built'; readonly typedData: TypedData }
  | Exclude<BuildResult, { readonly kind: 'built' }>
  | Unsupported;

export type AuthorizationVerification =
  /** Anyone may send the call, or have it settled by x402. `transaction` claims the intent while it can move money. */
  | {
      readonly kind: 'verified';
      readonly transaction: PreparedTransaction;
      readonly call: RelayedCall;
      readonly x402: X402Settlement;
    }
  | Exclude<Verification, { readonly kind: 'verified' | 'unseen' }>
  | Unsupported;

/**
 * How one chain is paid by an authorization (EIP-3009): the payer signs what the token is to do, and whoever sends it
 * pays the gas. Both methods throw RpcUnavailableError when no upstream responds.
 */
export interface Authorizations {
  /** What the fulfiller is to sign. Each call returns another lifetime. */
  build(request: BuildRequest): Promise<AuthorizationResult>;
  /** Compares by meaning, and simulates it. @param expiresAt the end of the intent, after which it must not live */
  verify(
    signed: SignedAuthorization,
    terms: PaymentTerms,
    fulfiller: Address,
    expiresAt: Instant,
  ): Promise<AuthorizationVerification>;
}

/**
 * How a sponsor of an account signs for fees on this chain: what it is asked over JSON-RPC, and how its answers are
 * checked. It is trusted in nothing. `handed` is what `parseSubmitted` has returned.
 */
export interface Sponsoring {
  /** Asks which account pays the fee; null where the payer does not sign for it. */
  readonly feePayerCall: ServiceCall<string> | null;
  /** Compares as `verify` does, but for the signature that is missing. Makes no request. */
  differences(handed: Uint8Array, terms: PaymentTerms, fulfiller: Address): Promise<Differences>;
  /** Asks for the signature. The result is what a wallet would submit. */
  signCall(handed: Uint8Array): ServiceCall<string>;
  /** Whether this is what was handed over, with a valid signature of a fee payer and nothing else added or changed. */
  isSigned(handed: Uint8Array, signed: SignedTransaction): Promise<boolean>;
}

/** The calls of a paymaster service (ERC-7677): what an operation would cost with it, then its promise to pay. */
export type PaymasterMethod = 'pm_getPaymasterStubData' | 'pm_getPaymasterData';

/** What the chain says of an operation. */
export type OperationJudgment =
  /** It would make the payment now, at a price of the chain. */
  | { readonly kind: 'pays' }
  /** It would not, or costs more than the chain asks for: 422 `transaction.rejected`. */
  | { readonly kind: 'rejected'; readonly reason: string };

/** A user operation of a smart account for which its wallet asks who pays the gas. */
export interface AskedOperation {
  /** The smart account. */
  readonly sender: Address;
  /** Why the account of the intent should not pay for it, whatever it does; null where nothing speaks against it. */
  readonly excess: string | null;
  /** What differs from an operation that makes one payment of these terms, and does nothing else. */
  readonly differences: (terms: PaymentTerms) => Differences;
  /**
   * Simulates it, for these terms. Null where no upstream that responds can: then nothing is known of what it does.
   * @throws RpcUnavailableError when none responds
   */
  readonly judge: (terms: PaymentTerms) => Promise<OperationJudgment | null>;
  /** What a paymaster is asked with, in the account's context. The result is what the wallet gets. */
  readonly call: (context: Readonly<Record<string, unknown>>) => ServiceCall<Readonly<Record<string, unknown>>>;
}

/**
 * How a paymaster of an account pays the gas of smart accounts on this chain. It is trusted in nothing: what it answers
 * can change who pays, and not what the operation does.
 */
export interface Paymasters {
  /** A problem: 422 `transaction.malformed`. Makes no request, and so does nothing that it returns but `judge`. */
  parse(method: PaymasterMethod, params: readonly unknown[]): Parsed<AskedOperation>;
}

/**
 * One chain behind the gateway: everything about paying that is particular to it. Methods that call the chain throw
 * RpcUnavailableError when no upstream responds; the others neither wait nor throw.
 */
export interface ChainAdapter {
  readonly network: Network;
  /** How it is paid by the Machine Payments Protocol; null where that has no form which names our intents. */
  readonly mpp: MppMethod | null;
  /** How it is paid without gas; null where no token of it is. */
  readonly authorizations: Authorizations | null;
  readonly sponsors: Sponsors;
  /** Null where no sponsor can be set. */
  readonly sponsoring: Sponsoring | null;
  /** Null where no paymaster can be set. */
  readonly paymasters: Paymasters | null;
  /** A new random correlation reference in the chain's form. */
  newReference(): Reference;
  /**
   * The canonical form of a wallet's address; a problem where it is not one, or cannot be paid (zero address, token,
   * precompile).
   */
  parseAddress(text: string): Parsed<Address>;
  /**
   * The account that gets what is paid to this one; null where the chain does not know it. Absent where it is always
   * the same one. Calls the chain only for addresses that stand for another.
   */
  payee?(address: Address): Promise<Address | null>;
  /**
   * Why money that is sent back to whoever has paid may reach no person ("is a contract …"): the payer is a program.
   * Null for the wallet of a person, as far as the chain shows it: exchanges pay from ordinary wallets, too.
   */
  refundProblem(payer: Address): Promise<string | null>;
  /** The canonical form of a transaction hash or signature, for filters and `sent` submissions. */
  parseHash(text: string): Parsed<TransactionHash>;
  /** By one of its names (any case) or its address. */
  token(text: string): Token | null;
  build(request: BuildRequest): Promise<BuildResult>;
  /**
   * Whether the bytes of this build are handed out again: while most of their life is left. Those of a sponsored one
   * are until they can provably no longer land.
   * @param expiresAt of the intent: on some chains a transaction lives no longer
   */
  isReusable(build: Build, expiresAt: Instant): Promise<boolean>;
  /** Until when what lives so long can land. Asks no node: it is known from the last build, or from `isReusable`. */
  expiryOf(lifetime: Lifetime): Expiry;
  /**
   * Decodes a wallet's submission: base64, or 0x hex on EVM chains. A problem: 422 `transaction.malformed`. It is
   * bounded in size by what a payment needs, and takes 5 ms at most, whatever the text is. What is done with it later
   * gets the same bytes, which are not decoded again.
   */
  parseSubmitted(text: string): Parsed<Submitted>;
  /**
   * Reads from the chain a transaction that the wallet sent itself; null while no upstream returns it.
   * @param look how often it was looked for before, by whoever looks again: one upstream is asked, another each time.
   *   Absent: all are, one after the other
   */
  fetchSent(hash: TransactionHash, look?: number): Promise<SignedTransaction | null>;
  /** Compares by meaning, not bytes: the fulfiller signed it, and it pays exactly these terms and does nothing else.
   * @param sent the wallet has sent it: whether it can land is not checked */
  verify(transaction: SignedTransaction, terms: PaymentTerms, fulfiller: Address, sent: boolean): Promise<Verification>;
  broadcast(transaction: SignedTransaction): Promise<BroadcastResult>;
  /** A well-formed hash and address for simulated payments. */
  synthetic(): { readonly hash: TransactionHash; readonly address: Address };
  /** True when an upstream responds. */
  ready(timeoutMs: number): Promise<boolean>;
}

// Watching -----------------------------------------------------------------------------------------------------------

/** What a watcher needs to know about an intent. */
export interface WatchedIntent {
  readonly id: IntentId;
  readonly status: IntentStatus;
  readonly terms: PaymentTerms;
  /** The live submission, if any. */
  readonly submission: Submission | null;
  readonly settlement: Settlement | null;
  readonly createdAt: Instant;
}

/** What a watcher needs to know about a deposit. */
export type OpenDeposit = Pick<Deposit, 'id' | 'accountId' | 'livemode' | 'chain' | 'reason' | 'intentId' | 'arrival'>;

/** The intents of one network that are watched now, indexed for matching. Changes only between steps. */
export interface WatchSet {
  readonly size: number;
  /**
   * Reads back from the ledger those of the intents with these names (references, or what `aliasOf` makes of them) that
   * have long ended, so that they are found by them during this step. The others are here already.
   */
  recall(names: Iterable<string>): Promise<void>;
  byReference(reference: Reference): WatchedIntent | undefined;
  /** By the other name that payments on this network may give an intent: that of `aliasOf`. */
  byAlias(alias: string): WatchedIntent | undefined;
  /** True where some watched intent is to be paid to this address. */
  hasRecipient(address: Address): boolean;
  /** All recipients, each once. */
  recipients(): readonly Address[];
  /** The accounts whose intents are to be paid to this address: what one does must not delay another. */
  ownersOf(recipient: Address): readonly AccountId[];
  /** Whether what pays no intent is a deposit: where it is not, it need not be looked for. */
  readonly hasDeposits: boolean;
  /** Whose deposit a transfer to this address is, if it is one: of the accounts whose intents are to be paid to it. */
  depositsOf(
    arrival: Pick<Arrival, 'hash' | 'index' | 'to'>,
  ): readonly { readonly accountId: AccountId; readonly depositId: DepositId }[];
  /** Deposits that are confirmed, and not final yet. */
  openDeposits(): Iterable<OpenDeposit>;
  /** The recipients of intents that were made recently, which are paid soonest. */
  awaited(): Iterable<Address>;
  /** Intents with a payment under way: in `created`, acknowledged by `detected`, with no live submission. */
  expected(): Iterable<WatchedIntent>;
  /** Intents that expired recently with nothing under way: their payments are looked for one last time. */
  lapsed(): Iterable<WatchedIntent>;
  /** Intents with a live submission. */
  submitted(): Iterable<WatchedIntent & { readonly submission: Submission }>;
  /** Intents whose settlement is not finalized. */
  settling(): Iterable<WatchedIntent & { readonly settlement: Settlement }>;
}

/** An observer's position as JSON, which only the observer understands. */
export type Cursor = Readonly<Record<string, unknown>>;

/** How far the payments to one recipient were read: text, which only the observer understands. */
export type Bookmark = string;
/** All stored bookmarks, by recipient, with those of steps whose cursor is not stored yet. */
export type Bookmarks = () => Promise<ReadonlyMap<string, Bookmark>>;

export interface Step {
  readonly observations: readonly Observation[];
  /** What has arrived without paying an intent. */
  readonly deposits?: readonly DepositObservation[];
  /** Stored after the observations are acknowledged by the log. */
  readonly cursor: Cursor;
  /** Stored with the cursor: the bookmarks that changed, by recipient; null for one that is no longer needed. */
  readonly bookmarks?: ReadonlyMap<Address, Bookmark | null>;
  /** For logs and metrics: the head's block or slot, and how far behind it this step ended. */
  readonly head: bigint;
  readonly behind: bigint;
  /** For the operator: the chain is a different one, its head is below the cursor, or nothing can be proven. */
  readonly warnings: readonly string[];
  /** How many transactions could not be judged, and wait to be looked at again (packages/chains/src/set-aside.ts). */
  readonly setAside?: number;
  /** How many of these are looked at no more: for a day in vain, or others had their places. */
  readonly givenUp?: number;
  /**
   * How many payments and deposits are final by one upstream, and have waited for a second one to show them for over a
   * minute (packages/chains/src/unshown.ts).
   */
  readonly unshown?: number;
  /** How many payments that have settled an intent were found to carry the reference of another one, each once. */
  readonly disproved?: number;
  /** Ms since when there are further blocks, and none is read a second time (evm/observe/standstill.ts). */
  readonly readOnceMs?: number;
}

/** The signed bytes of a transaction that may have to be broadcast again; null where they are not stored. */
export type KeptBytes = (hash: TransactionHash) => Promise<Uint8Array | null>;

/**
 * Follows one network. A step is: learn the head, let the caller bring the watch set up to the log's end (so that no
 * block is passed before its intents are known), then scan up to that head. Everything needed after a restart is in the
 * cursor and in bookmarks; memory only saves work. Repeating a step gives the same observations: the domain counts each
 * once.
 */
export interface ChainObserver {
  readonly network: Network;
  /** Pause between steps when there is nothing to catch up with. */
  readonly intervalMs: number;
  /**
   * Resolves when a step may find something before the pause is over, or the signal aborts; absent: nothing says so.
   */
  readonly hinted?: (signal: AbortSignal) => Promise<void>;
  step(cursor: Cursor | null, synchronize: () => Promise<WatchSet>, bookmarks?: Bookmarks): Promise<Step>;
  /**
   * Reads a transaction once more, and judges what it pays these intents by the rules of today, as a step would: by
   * nothing that was verified, observed or remembered before. What failed pays nothing. Null where no upstream returns
   * it, or what is needed to judge it.
   * @throws RpcUnavailableError when no upstream responds
   */
  judge(hash: TransactionHash, watch: WatchSet): Promise<readonly Observation[] | null>;
}
