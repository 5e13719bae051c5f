/** A wallet to be screened: CAIP-2 chain, and the address in that chain's canonical form. */
export interface ScreenedWallet {
  readonly chain: string;
  readonly address: string;
}

/** What a part knows of a wallet that is sanctioned: for the operator's eyes only. */
export interface Finding {
  readonly part: 'list' | 'api';
  /** Under which the address is listed: `ETH`; null where the part does not say. */
  readonly label: string | null;
  /** Of the list's entry; null where the part has none. */
  readonly uid: string | null;
  /** Whose address it is, as the part names them; null where it does not. */
  readonly name: string | null;
}

export type Verdict =
  { readonly kind: 'clean' } | { readonly kind: 'match'; readonly wallet: ScreenedWallet; readonly finding: Finding };

/** No answer, so nobody may pass. */
export class ScreeningUnavailableError extends Error {
  override readonly name = 'ScreeningUnavailableError';
  /** After so many seconds another try may be worth it. */
  readonly retryAfterSeconds: number;

  constructor(
    message: string,
    { retryAfterSeconds = 5, cause }: { readonly retryAfterSeconds?: number; readonly cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Asked before money may move. */
export interface Screening {
  /**
   * Screens all of them with every part that is on. A wallet that any part knows as sanctioned is a match.
   * @throws ScreeningUnavailableError where a part gave no answer about a wallet and no wallet is a match
   */
  screen(wallets: readonly ScreenedWallet[]): Promise<Verdict>;
  close(): Promise<void>;
}

/** One source of knowledge. */
export interface Screener {
  /** What is known of this wallet, null for nothing. @throws ScreeningUnavailableError */
  find(wallet: ScreenedWallet): Promise<Finding | null>;
  close(): Promise<void>;
}
