import { z } from 'zod';
import {
  authorization,
  buildAuthorizationRequest,
  buildIntentRequest,
  builtTransaction,
  createIntentRequest,
  payerIntent,
  publicIntent,
  relayedCall,
  simulateIntentRequest,
  submitAuthorizationRequest,
  submitIntentRequest,
  typedData,
  updateIntentRequest,
  x402Settlement,
} from '../api/index.ts';
import { webhookDelivery } from '../deliveries.ts';
import { publicDeposit } from '../deposits.ts';
import { createEndpointRequest, deliveryAttempt, updateEndpointRequest, webhookEndpoint } from '../endpoints.ts';
import { errorResponse } from '../errors.ts';
import { intentEvent, overpayment, payerEvent, paymentClaim, unexpectedPayment } from '../intent-events.ts';
import { createPaymentLinkRequest, payerPaymentLink, paymentLink } from '../payment-links.ts';
import { createReplayRequest, webhookReplay } from '../replays.ts';
import { setSponsorRequest, sponsor } from '../sponsors.ts';
import { WEBHOOK_BODIES, webhookEvent } from './webhooks.ts';

/** The schemas that become named types in the OpenAPI document and in clients. */
const COMPONENTS: Readonly<Record<string, z.ZodType>> = {
  PaymentIntent: publicIntent,
  PayerIntent: payerIntent,
  Transaction: builtTransaction,
  Authorization: authorization,
  TypedData: typedData,
  RelayedCall: relayedCall,
  X402Settlement: x402Settlement,
  Event: intentEvent,
  PayerEvent: payerEvent,
  WebhookEvent: webhookEvent,
  ...Object.fromEntries(Object.entries(WEBHOOK_BODIES).map(([type, body]) => [`${nameOf(type)}Event`, body])),
  UnexpectedPayment: unexpectedPayment,
  PaymentClaim: paymentClaim,
  Overpayment: overpayment,
  Deposit: publicDeposit,
  WebhookDelivery: webhookDelivery,
  DeliveryAttempt: deliveryAttempt,
  WebhookEndpoint: webhookEndpoint,
  Error: errorResponse,
  CreateIntentRequest: createIntentRequest,
  BuildIntentRequest: buildIntentRequest,
  BuildAuthorizationRequest: buildAuthorizationRequest,
  SubmitIntentRequest: submitIntentRequest,
  SubmitAuthorizationRequest: submitAuthorizationRequest,
  UpdateIntentRequest: updateIntentRequest,
  SimulateIntentRequest: simulateIntentRequest,
  CreateEndpointRequest: createEndpointRequest,
  UpdateEndpointRequest: updateEndpointRequest,
  WebhookReplay: webhookReplay,
  CreateReplayRequest: createReplayRequest,
  Sponsor: sponsor,
  SetSponsorRequest: setSponsorRequest,
  PaymentLink: paymentLink,
  PayerPaymentLink: payerPaymentLink,
  CreatePaymentLinkRequest: createPaymentLinkRequest,
};

/** @param type `intent.created` @returns `IntentCreated` */
function nameOf(type: string): string {
  return `_${type}`.replaceAll(/[._](\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Registers the name of each component's schema. Idempotent. */
export function nameComponents(): void {
  for (const [id, schema] of Object.entries(COMPONENTS))
    if (!z.globalRegistry.has(schema)) z.globalRegistry.add(schema, { id });
}
