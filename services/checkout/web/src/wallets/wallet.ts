import type { Network } from '@pf/chains/networks';
import type { Payment } from '../check/check.ts';
import type { CallsStatus } from '../pay/money.ts';
import { Problem } from '../pay/problem.ts';

/** What a wallet made of a payment. */
export type Outcome =
  /** Signed, for the service to broadcast. `hash`: null where another account signs, too, and decides it. */
  | { readonly kind: 'signed'; readonly transaction: string; readonly hash: string | null }
  /**
   * Sent by the wallet itself. `signed`: the whole transaction where it is proven to be this one, so that the service
   * can prove that it will never land; null where only the wallet knows what it has sent.
   */
  | { readonly kind: 'sent'; readonly hash: string; readonly signed: () => Promise<string | null> }
  /** Sent by a smart wallet, in a transaction that it names when it is asked for these calls. */
  | { readonly kind: 'calls'; readonly id: string };

/** An account of a wallet that is ready to pay. */
export interface Session {
  readonly account: string;
  /** Whether it signs without sending: only then can another account sign for the fee. */
  readonly signsOnly: boolean;
  /** Whether it asks the paymaster that it was given to pay the fee. */
  readonly asksPaymaster: boolean;
  /**
   * Opens the wallet.
   * @param onAsk called before the wallet is asked for anything that may move money
   * @throws Problem
   */
  pay(payment: Payment, onAsk: () => void): Promise<Outcome>;
  /** Calls when the person has chosen another account or network in the wallet. @returns how to stop */
  onChange(listener: () => void): () => void;
}

/** A wallet of this browser. Its name and icon are whatever the extension says. */
export interface Wallet {
  readonly id: string;
  /** Names it, also after a reload. */
  readonly key: string;
  readonly name: string;
  /** A data URL of an image. */
  readonly icon: string | null;
  /**
   * Asks for an account that may pay.
   * @param payer the only account that may; null where every one may, except `not`
   * @throws Problem
   */
  connect(wanted: Wanted): Promise<Session>;
  /** What it says of the calls that it was given, without opening it. */
  readonly callsOf?: (id: string) => Promise<Calls>;
}
export interface Calls {
  readonly status: CallsStatus;
  /** The one transaction that it has sent for them; null where it names none, or several. */
  readonly hash: string | null;
}
export interface Wanted {
  readonly network: Network;
  readonly payer: string | null;
  readonly not: string;
  /** Where a smart wallet asks who pays the gas (ERC-7677); null where the payer pays it. */
  readonly paymasterUrl: string | null;
}

/** The wallets of a kind: they announce themselves, some of them late. */
export interface Wallets {
  readonly get: () => readonly Wallet[];
  readonly subscribe: (listener: () => void) => () => void;
}

/** More than a browser has. */
export const WALLETS_MAX = 24;
const NAME_MAX = 32;
const ICON_MAX = 200_000;
const ICON = /^data:image\/(?:png|svg\+xml|webp|jpeg|gif)[;,]/i;

/** A name that cannot break out of its line: no control or formatting characters, no length. */
export const cleanName = (name: unknown): string =>
  typeof name === 'string'
    ? [...name.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '').trim()].slice(0, NAME_MAX).join('') || '?'
    : '?';

/** Only images that are in the text itself: no request goes out for one. */
export const cleanIcon = (icon: unknown): string | null =>
  typeof icon === 'string' && icon.length <= ICON_MAX && ICON.test(icon.trim()) ? icon.trim() : null;

/** The account to pay with. @throws Problem */
export function accountAmong(accounts: readonly string[], wallet: string, { payer, not }: Wanted): string {
  const isSame = (a: string, b: string): boolean =>
    a.startsWith('0x') ? a.toLowerCase() === b.toLowerCase() : a === b;
  if (payer !== null) {
    const found = accounts.find((account) => isSame(account, payer));
    if (found === undefined) throw new Problem('wrong_account', { wallet, account: payer });
    return payer;
  }
  const found = accounts.find((account) => !isSame(account, not));
  if (found === undefined) throw new Problem(accounts.length > 0 ? 'own_wallet' : 'no_account', { wallet });
  return found;
}

/** EIP-1193 and EIP-1474. */
const CODES = { rejected: 4001, unauthorized: 4100, unsupported: 4200, open: -32002, noMethod: -32601 };

export const codeOf = (cause: unknown): number | null => {
  const { code, data } = (cause ?? {}) as { readonly code?: unknown; readonly data?: unknown };
  const inner = ((data ?? {}) as { readonly originalError?: { readonly code?: unknown } }).originalError?.code;
  return typeof inner === 'number' ? inner : typeof code === 'number' ? code : null;
};
/** By the code alone: such words are also in the errors of wallets that have sent. */
export const isUnsupported = (cause: unknown): boolean =>
  [CODES.unsupported, CODES.noMethod].includes(codeOf(cause) ?? 0);
const messageOf = (cause: unknown): string => {
  const { message } = (cause ?? {}) as { readonly message?: unknown };
  return typeof message === 'string' ? message.slice(0, 200) : '';
};

/** Runs what a wallet does. @throws Problem */
export async function asking<Answer>(wallet: string, work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (cause) {
    throw problemIn(wallet, cause);
  }
}

/**
 * What an error of a wallet means for a payer: it is seldom written for one. Only the code is a person's refusal: nodes
 * reject and requests are cancelled after a wallet has sent.
 */
export function problemIn(wallet: string, cause: unknown): Problem {
  if (cause instanceof Problem) return cause;
  const code = codeOf(cause);
  const reason = cleanReason(messageOf(cause));
  if (code === CODES.rejected) return new Problem('declined', { wallet }, { cause });
  if (code === CODES.open) return new Problem('request_open', { wallet }, { cause });
  if (code === CODES.unauthorized) return new Problem('no_account', { wallet }, { cause });
  return new Problem('wallet_failed', { wallet, reason }, { cause });
}

const cleanReason = (reason: string): string => reason.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ').trim();
