export { PaymentClient } from './client.ts';
export * from './errors.ts';
export type { Followed, FollowOptions } from './follow.ts';
export type { CallOptions, ClientOptions, CreateOptions } from './http.ts';
export { type Page, Pages } from './pages.ts';
export type { Payment } from './pay.ts';
export { PayerClient, type PayerClientOptions } from './payer.ts';
export type {
  BuiltIntent,
  CreateEndpoint,
  CreateIntent,
  CreatePaymentLink,
  CreateReplay,
  DeliveryAttempt,
  Deposit,
  Differences,
  EventType,
  IntentEvent,
  IntentState,
  ListDeliveries,
  ListDeposits,
  ListIntents,
  ListPaymentLinks,
  ListReplays,
  PayableIntent,
  PayableLink,
  PayerEvent,
  PayerIntent,
  PaymentIntent,
  PaymentLink,
  SetSponsor,
  Sponsor,
  SubmittedIntent,
  TargetState,
  Transaction,
  UnexpectedPayment,
  UpdateEndpoint,
  UpdateIntent,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEvent,
  WebhookReplay,
} from './types.ts';
export {
  type VerifyOptions,
  verifyWebhook,
  WebhookEndpoints,
  type WebhookHeaders,
  WebhookReplays,
  webhooks,
} from './webhooks.ts';
