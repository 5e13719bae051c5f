import type { Connection } from '../api/follow.ts';
import type { Intent, Merchant, Unsigned } from '../api/schemas.ts';
import type { Payment } from '../check/check.ts';
import type { Difference } from '../check/checked.ts';
import type { Terms } from '../check/terms.ts';
import type { Session, Wallet } from '../wallets/wallet.ts';
import type { Money } from './money.ts';
import type { Problem } from './problem.ts';

/** How far the person is with a wallet. */
export type Step =
  | { readonly kind: 'choosing' }
  | { readonly kind: 'connecting' | 'building'; readonly wallet: Wallet }
  /** What was built for a sponsor may still be sent by it: nothing else is built until that is over. */
  | { readonly kind: 'ending'; readonly wallet: Wallet }
  | ({ readonly kind: 'ready' | 'confirming' } & Ready)
  /** What was built is not what is shown. */
  | { readonly kind: 'stopped'; readonly differs: readonly Difference[] };

export interface Ready {
  readonly wallet: Wallet;
  readonly session: Session;
  readonly unsigned: Unsigned;
  readonly payment: Payment;
  /** What the payment was compared with. */
  readonly terms: Terms;
  /** ms, by the service's clock: from then on it is built again before a wallet signs it. */
  readonly signBy: number;
}

/** Everything that the page shows. */
export interface State {
  readonly intent: Intent | null;
  readonly merchant: Merchant | null;
  readonly solanaPayToken: string | null;
  /** Whether the merchant offers to pay the fee, and the person has not chosen to pay it. */
  readonly hasSponsor: boolean;
  readonly connection: Connection;
  readonly money: Money;
  readonly step: Step;
  readonly problem: Problem | null;
  /** Why the payment itself cannot be shown. */
  readonly missing: 'unknown' | 'unreachable' | null;
}
