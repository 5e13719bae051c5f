import { type LinkNews, PAYMENT_LINK_STATES, type PaymentLinkState } from '@pf/domain';
import { z } from 'zod';
import { accept, amount, attribution, chain, metadata, must, text, token, ttlSeconds, wallet } from './api/fields.ts';
import { IDEMPOTENCY_KEY_LENGTH_MAX, TTL_SECONDS } from './api/limits.ts';
import { pageQuery, pageResponse } from './api/paging.ts';
import { replayedResponse } from './api/replayed.ts';
import { PAYMENT_LINK_SECRET } from './client-secrets.ts';
import { newEventId } from './ids.ts';
import { address, chainId, intentId, tokenAddress } from './scalars.ts';

/** Ways to pay that a link may offer. */
const OFFERS_MAX = 20;
/** Intents that the payers of one link may begin: an offer has another one only after its last one has ended unpaid. */
export const LINK_INTENTS_MAX = 50;

const offersRule = must(`a list of 1 to ${OFFERS_MAX} offers, each with chain, token and requestor`);
const offer = z.strictObject({ chain, token, requestor: wallet }, must('an object with chain, token and requestor'));

/** POST /payment-links. What depends on the chains of the offers is parsed by their adapters. */
export const createPaymentLinkRequest = z.strictObject({
  amount,
  attribution: attribution.optional(),
  accept: accept.optional(),
  offers: z.array(offer, offersRule).min(1, offersRule).max(OFFERS_MAX, offersRule),
  idempotencyKey: text(1, IDEMPOTENCY_KEY_LENGTH_MAX).optional(),
  ttlSeconds: ttlSeconds.default(TTL_SECONDS.default),
  metadata: metadata.nullish(),
});
export type CreatePaymentLinkRequest = z.infer<typeof createPaymentLinkRequest>;

/** GET /payment-links. */
export const listPaymentLinksQuery = z.strictObject(pageQuery);

const offerRule = must('the number of an offer of the link, from 0');
/** POST /payment-links/{id}/choose. */
export const chooseOfferRequest = z.strictObject({
  offer: z
    .int(offerRule)
    .min(0, offerRule)
    .max(OFFERS_MAX - 1, offerRule),
});

const time = z.iso.datetime({ precision: 3 });

/** A way to pay. */
const shownOffer = z.strictObject({ chain: chainId, token: z.string(), tokenAddress, requestor: address });
/** What a payer has begun. */
const shownIntent = z.strictObject({
  offer: z.number().int().nonnegative(),
  intentId,
  paid: z.boolean(),
  createdAt: time,
});

/** A payment link in responses and webhooks. */
export const paymentLink = z.strictObject({
  id: z.string(),
  amount: z.string(),
  attribution: z.literal('amount').exactOptional(),
  accept: z.literal('at_least').exactOptional(),
  offers: z.array(shownOffer),
  state: z.enum(PAYMENT_LINK_STATES),
  intents: z.array(shownIntent),
  paidBy: intentId.nullable(),
  metadata: z.record(z.string(), z.string()).nullable(),
  ttlSeconds: z.number().int(),
  expiresAt: time,
  createdAt: time,
  paidAt: time.nullable(),
  cancelledAt: time.nullable(),
  livemode: z.boolean(),
});
export type ShownPaymentLink = z.infer<typeof paymentLink>;
export type ShownOffer = z.infer<typeof shownOffer>;

/** What payers see of a link. */
export const payerPaymentLink = paymentLink.omit({ metadata: true });
type PayerPaymentLink = z.infer<typeof payerPaymentLink>;

/** What payers see of a link. Fields that are added later are left out until they are named here. */
export const payerLinkView = (link: ShownPaymentLink): PayerPaymentLink => payerPaymentLink.strip().parse(link);

const forPayer = {
  clientSecret: z
    .string()
    .regex(PAYMENT_LINK_SECRET)
    .meta({
      description:
        'Opens this one payment link to its payer: fetch and `choose`, with `Authorization: Bearer <clientSecret>`. ' +
        'Keep it out of logs and out of URLs that reach a server.',
    }),
  url: z.url().nullable().meta({
    description: 'The page on which the payer chooses and pays; `null` if this service has no such page.',
  }),
};
export const createdPaymentLinkResponse = z.strictObject({ paymentLink, ...forPayer });
/** The response to a create whose idempotency key was used before. */
export const replayedPaymentLinkResponse = createdPaymentLinkResponse.extend(replayedResponse);
/** Keys get with the link what its payer needs; in the dashboard, those who may see secrets do. */
export const fetchPaymentLinkResponse = z.strictObject({
  paymentLink,
  clientSecret: forPayer.clientSecret.exactOptional(),
  url: forPayer.url.exactOptional(),
});
export const payerPaymentLinkResponse = z.strictObject({ paymentLink: payerPaymentLink });
export const paymentLinkResponse = z.strictObject({ paymentLink });
export const paymentLinksResponse = z.strictObject({ paymentLinks: z.array(paymentLink), ...pageResponse });

// Events --------------------------------------------------------------------------------------------------------------
/** Events of payment links. `extra_payment`: a link that is paid was paid again, by another of its intents. */
export const PAYMENT_LINK_EVENT_TYPES = [
  'payment_link.paid',
  'payment_link.extra_payment',
  'payment_link.cancelled',
  'payment_link.expired',
] as const satisfies readonly (LinkNews | `payment_link.${PaymentLinkState}`)[];
export type PaymentLinkEventType = (typeof PAYMENT_LINK_EVENT_TYPES)[number];

const linkEvent = <Type extends PaymentLinkEventType, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.strictObject({
    eventId: z.string(),
    type: z.literal(type),
    createdAt: time,
    livemode: z.boolean(),
    data: z.strictObject({ paymentLink, ...shape }),
  });
const paying = { intentId };

/** The bodies of their webhooks. */
export const paymentLinkEvents = {
  'payment_link.paid': linkEvent('payment_link.paid', paying),
  'payment_link.extra_payment': linkEvent('payment_link.extra_payment', paying),
  'payment_link.cancelled': linkEvent('payment_link.cancelled', {}),
  'payment_link.expired': linkEvent('payment_link.expired', {}),
} as const satisfies Readonly<Record<PaymentLinkEventType, z.ZodType>>;

/**
 * The event and the exact text of its webhook.
 * @param intentId the intent that was paid, if one was
 */
export function paymentLinkEvent(
  type: PaymentLinkEventType,
  link: ShownPaymentLink,
  at: Date,
  paidIntent?: string,
): { readonly eventId: string; readonly type: PaymentLinkEventType; readonly body: string } {
  const eventId = newEventId();
  const data = { paymentLink: link, ...(paidIntent !== undefined && { intentId: paidIntent }) };
  return { eventId, type, body: JSON.stringify({ eventId, type, createdAt: at, livemode: link.livemode, data }) };
}
