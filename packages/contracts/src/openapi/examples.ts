import type { z } from 'zod';
import type {
  buildIntentRequest,
  createIntentRequest,
  simulateIntentRequest,
  submitIntentRequest,
  updateIntentRequest,
} from '../api/index.ts';
import type { createPaymentLinkRequest } from '../payment-links.ts';
import { CREATED_AT, FULFILLER, INTENT_EXAMPLE, REQUESTOR } from './event-examples.ts';

const createIntent: z.input<typeof createIntentRequest> = {
  chain: 'eip155:84532',
  token: 'USDC',
  amount: '12.50',
  requestor: REQUESTOR,
  metadata: { order: '1042' },
};
const createPaymentLink: z.input<typeof createPaymentLinkRequest> = {
  amount: '12.50',
  offers: [{ chain: 'eip155:84532', token: 'USDC', requestor: REQUESTOR }],
  metadata: { order: '1042' },
};
const buildIntent: z.input<typeof buildIntentRequest> = { fulfiller: FULFILLER };
const submitIntent: z.input<typeof submitIntentRequest> = { signedTransaction: 'AviQg…', fulfiller: FULFILLER };
const updateIntent: z.input<typeof updateIntentRequest> = {
  updatedAt: CREATED_AT,
  metadata: { table: '7', order: null },
};
const simulateIntent: z.input<typeof simulateIntentRequest> = { targetState: 'confirmed' };

/** Examples by component. Those of requests work unchanged against a local stack. */
export const EXAMPLES: Readonly<Record<string, object>> = {
  PaymentIntent: INTENT_EXAMPLE,
  CreateIntentRequest: createIntent,
  CreatePaymentLinkRequest: createPaymentLink,
  BuildIntentRequest: buildIntent,
  SubmitIntentRequest: submitIntent,
  UpdateIntentRequest: updateIntent,
  SimulateIntentRequest: simulateIntent,
};
