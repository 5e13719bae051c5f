/** A wallet to be screened: CAIP-2 chain, and the address in that chain's canonical form. */
export interface ScreenedWallet {
  readonly chain: string;
  readonly address: string;
}

/**
 * Whose wallets they are. What is screened for test mode, or for one account, must not keep others' wallets from being
 * screened.
 */
export interface ScreeningOrigin {
  readonly livemode: boolean;
  /** Null for what no account has asked for. */
  readonly accountId: string | null;
}

/** What a screener knows of a sanctioned wallet: only for the operator. */
export interface Finding {
  readonly part: 'list' | 'api';
  /** The currency label of the address, such as `ETH`; null if the screener has none. */
  readonly label: string | null;
  /** The id of the list's entry; null if the screener has none. */
  readonly uid: string | null;
  /** The owner of the address; null if the screener has no name. */
  readonly name: string | null;
}

export type Verdict =
  { readonly kind: 'clean' } | { readonly kind: 'match'; readonly wallet: ScreenedWallet; readonly finding: Finding };

/** A wallet cannot be screened now, so the request is refused. */
export class ScreeningUnavailableError extends Error {
  override readonly name = 'ScreeningUnavailableError';
  /** When to retry. */
  readonly retryAfterSeconds: number;
  /** No source is unavailable: the account, or test mode, has too many wallets screened at once. */
  readonly limited: boolean;

  constructor(
    message: string,
    {
      retryAfterSeconds = 5,
      limited = false,
      cause,
    }: { readonly retryAfterSeconds?: number; readonly limited?: boolean; readonly cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.retryAfterSeconds = retryAfterSeconds;
    this.limited = limited;
  }
}

/** Screens wallets before money may move. */
export interface Screening {
  /**
   * Screens all wallets with every screener. A wallet that any screener knows as sanctioned is a match.
   * @throws ScreeningUnavailableError if a wallet could not be screened and no other is a match
   */
  screen(wallets: readonly ScreenedWallet[], origin: ScreeningOrigin): Promise<Verdict>;
  close(): Promise<void>;
}

/** One source of sanctions data. */
export interface Screener {
  /** What is known of this wallet; null if nothing. @throws ScreeningUnavailableError */
  find(wallet: ScreenedWallet, origin: ScreeningOrigin): Promise<Finding | null>;
  close(): Promise<void>;
}
