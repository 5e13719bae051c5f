import type { PublicEventType } from './event.ts';
import type { Instant, IntentId } from './ids.ts';

/** `open`: its payer may choose. `paid` overrules the others, as a late payment does. */
export const PAYMENT_LINK_STATES = ['open', 'paid', 'cancelled', 'expired'] as const;
export type PaymentLinkState = (typeof PAYMENT_LINK_STATES)[number];

/** An intent that a payer of the link has begun. */
export interface LinkedIntent {
  readonly intentId: IntentId;
  /** The version of the event that was followed last; 0 before. */
  readonly version: number;
  /** Whether its payment stands. */
  readonly paid: boolean;
  /** Whether it is neither paid nor over. */
  readonly open: boolean;
}

/** A payment link, as far as its payments change it. */
export interface FollowedLink {
  readonly state: PaymentLinkState;
  /** The intent whose payment came first, of those that stand. */
  readonly paidBy: IntentId | null;
  readonly paidAt: Instant | null;
  readonly cancelledAt: Instant | null;
  readonly expiresAt: Instant;
  /** In the order in which they were begun. */
  readonly intents: readonly LinkedIntent[];
}

/** What the account is told of an event of one of its intents. */
export type LinkNews = 'payment_link.paid' | 'payment_link.extra_payment';

/** The events of an intent that concern its link. */
const FOLLOWED = [
  'intent.confirmed',
  'intent.failed',
  'intent.expired',
  'intent.cancelled',
] as const satisfies readonly PublicEventType[];
type FollowedType = (typeof FOLLOWED)[number];
export const concernsLink = (type: string): type is FollowedType => (FOLLOWED as readonly string[]).includes(type);

/**
 * The link after an event of one of its intents. The first payment pays the link, in whatever state it is: the money
 * has moved. Another one is extra. If the payment is undone, another that stands takes its place, or the link is what
 * it was.
 * @returns the same link for an event that was followed before, and for one of an intent that is not the link's
 */
export function followPayment<Link extends FollowedLink>(
  link: Link,
  { type, intentId, version }: { readonly type: FollowedType; readonly intentId: IntentId; readonly version: number },
  now: Instant,
): { readonly link: Link; readonly news: LinkNews | null } {
  const known = link.intents.find((intent) => intent.intentId === intentId);
  if (!known || version <= known.version) return { link, news: null };
  const paid = type === 'intent.confirmed';
  const intents = link.intents.map((intent) => (intent === known ? { ...intent, version, paid, open: false } : intent));
  if (paid && link.paidBy === null)
    return {
      link: { ...link, intents, state: 'paid', paidBy: intentId, paidAt: now },
      news: 'payment_link.paid',
    };
  if (paid) return { link: { ...link, intents }, news: link.paidBy === intentId ? null : 'payment_link.extra_payment' };
  if (link.paidBy !== intentId) return { link: { ...link, intents }, news: null };
  const other = intents.find((intent) => intent.paid);
  if (other) return { link: { ...link, intents, paidBy: other.intentId }, news: null };
  return { link: { ...link, intents, state: unpaidState(link, now), paidBy: null, paidAt: null }, news: null };
}

const unpaidState = ({ cancelledAt, expiresAt }: FollowedLink, now: Instant): PaymentLinkState =>
  cancelledAt !== null ? 'cancelled' : now >= expiresAt ? 'expired' : 'open';

/** The intents that are to be cancelled, because the link is no longer open. */
export const toBeCancelled = ({ state, intents }: FollowedLink): readonly IntentId[] =>
  state === 'open' ? [] : intents.filter(({ open }) => open).map(({ intentId }) => intentId);
