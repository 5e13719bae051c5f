import { ExplainedError } from '../api/error.ts';
import type { Of } from '../api/types.ts';

/** An unsigned transaction that pays a payment. */
export type Unsigned = Of<'buildIntent'>['transaction'];

interface Payable {
  /** CAIP-2. */
  readonly chain: string;
  /** The address that pays. */
  readonly payer: string;
  /** Builds the transaction. It is called when the wallet is ready, because on Solana it soon expires. */
  readonly build: () => Promise<Unsigned>;
}

/** A wallet of this browser. */
export interface BrowserWallet {
  readonly id: string;
  readonly name: string;
  /** A data URL. */
  readonly icon: string | null;
  /**
   * Lets the person sign in the wallet.
   * @returns what `submit` takes: the signed transaction, or the hash of one that the wallet has sent
   * @throws WalletError
   */
  sign(payable: Payable): Promise<string>;
}

/** The wallets of a kind: they announce themselves, some of them late. */
export interface Wallets {
  readonly get: () => readonly BrowserWallet[];
  readonly subscribe: (listener: () => void) => () => void;
}

/** A wallet did not sign. */
export class WalletError extends ExplainedError {
  override readonly name = 'WalletError';
}

export const wrongAccount = (wallet: string, payer: string): WalletError =>
  new WalletError(`${wallet} does not share the account ${payer} with this page. Choose it there, then try again.`);

/** Runs what a wallet does: its errors are seldom written for people. @throws WalletError */
export async function asking<Answer>(wallet: string, work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof WalletError) throw cause;
    const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown };
    const rejected = code === USER_REJECTED || /reject|denied|cancel/i.test(String(message));
    throw new WalletError(
      rejected
        ? `You have declined in ${wallet}. No money has moved.`
        : `${wallet} could not do it: ${typeof message === 'string' ? message : 'it gave no reason'}`,
      { cause },
    );
  }
}

/** EIP-1193. */
const USER_REJECTED = 4001;
