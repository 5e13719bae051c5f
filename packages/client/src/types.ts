import type { components } from './generated/api.ts';

type Schemas = components['schemas'];

export type PaymentIntent = Schemas['PaymentIntent'];
/** An intent as its payers see it. A `PaymentIntent` has all of its fields. */
export type PayerIntent = Schemas['PayerIntent'];
export type IntentState = PaymentIntent['state'];
export type Transaction = Schemas['Transaction'];
export type WebhookDelivery = Schemas['WebhookDelivery'];
/** The body of a webhook: its `type` says what `data` has. Ignore types that you do not know: more may be added. */
export type WebhookEvent = Schemas['WebhookEvent'];
/** The body of a webhook about an intent, and of an event in its history. */
export type IntentEvent = Extract<WebhookEvent, { readonly type: `intent.${string}` }>;
export type EventType = IntentEvent['type'];
/** An event as payers see it. */
export type PayerEvent = Omit<Schemas['PayerEvent'], 'type'> & { readonly type: EventType };
/** In `data.payment` of the events of payments that the intent did not ask for. */
export type UnexpectedPayment = Schemas['UnexpectedPayment'];

export type Deposit = Schemas['Deposit'];
export type ListDeposits = Schemas['ListDepositsQuery'];

export type PaymentLink = Schemas['PaymentLink'];
export type CreatePaymentLink = Schemas['CreatePaymentLinkRequest'];
export type ListPaymentLinks = Schemas['ListPaymentLinksQuery'];

export type Sponsor = Schemas['Sponsor'];
export type SetSponsor = Schemas['SetSponsorRequest'];

export type WebhookEndpoint = Schemas['WebhookEndpoint'];
export type DeliveryAttempt = Schemas['DeliveryAttempt'];
export type CreateEndpoint = Schemas['CreateEndpointRequest'];
export type WebhookReplay = Schemas['WebhookReplay'];
export type CreateReplay = Schemas['CreateReplayRequest'];
export type UpdateEndpoint = Schemas['UpdateEndpointRequest'];

export type CreateIntent = Schemas['CreateIntentRequest'];
export type UpdateIntent = Schemas['UpdateIntentRequest'];
export type TargetState = Schemas['SimulateIntentRequest']['targetState'];
export type ListIntents = Schemas['ListIntentsQuery'];
export type ListDeliveries = Schemas['ListDeliveriesQuery'];
export type ListReplays = Schemas['ListReplaysQuery'];

/** What a repeated create asked for otherwise than what exists, by the path of the field. */
export type Differences = Readonly<
  Record<string, { readonly existing: string | number | null; readonly requested: string | number | null }>
>;
/** Of a create whose `idempotencyKey` was used before. */
interface Replayed {
  /** Whether an earlier request made it. */
  readonly replayed?: true;
  /** Absent where nothing differs. */
  readonly differs?: Differences;
}
/** An intent, and what its payer needs. */
export interface PayableIntent extends Replayed {
  readonly intent: PaymentIntent;
  /** Opens this one intent to its payer: for `PayerClient`. Keep it out of logs. */
  readonly clientSecret: string;
  /** The page on which the payer pays; null if the service has none. */
  readonly paymentUrl: string | null;
}
/** A payment link, and what its payer needs. */
export interface PayableLink extends Replayed {
  readonly paymentLink: PaymentLink;
  /** Opens this one link to its payer. Keep it out of logs. */
  readonly clientSecret: string;
  /** The page on which the payer chooses and pays; null if the service has none. */
  readonly url: string | null;
}
export interface BuiltIntent<Intent = PaymentIntent> {
  readonly intent: Intent;
  readonly transaction: Transaction;
}
export interface SubmittedIntent<Intent = PaymentIntent> {
  readonly intent: Intent;
  /** Solana signature or EVM transaction hash. */
  readonly txSignature: string;
}
