import type { components } from './generated/api.ts';

type Schemas = components['schemas'];

export type PaymentIntent = Schemas['PaymentIntent'];
export type IntentState = PaymentIntent['state'];
export type Transaction = Schemas['Transaction'];
export type WebhookDelivery = Schemas['WebhookDelivery'];
/** The body of a webhook and of an event in the history. */
export type WebhookEvent = Schemas['Event'];
export type EventType = WebhookEvent['type'];
/** In `data.payment` of the events of payments that the intent did not ask for. */
export type UnexpectedPayment = Schemas['UnexpectedPayment'];

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

export interface BuiltIntent {
  readonly intent: PaymentIntent;
  readonly transaction: Transaction;
}
export interface SubmittedIntent {
  readonly intent: PaymentIntent;
  /** Solana signature or EVM transaction hash. */
  readonly txSignature: string;
}
