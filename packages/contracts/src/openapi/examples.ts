import type { PublicIntent } from '@pf/domain';
import type { z } from 'zod';
import type {
  buildIntentRequest,
  createIntentRequest,
  simulateIntentRequest,
  submitIntentRequest,
  updateIntentRequest,
} from '../api/index.ts';

const REQUESTOR = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const FULFILLER = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const CREATED_AT = '2026-11-21T12:00:00.000Z';

const createIntent: z.input<typeof createIntentRequest> = {
  chain: 'eip155:84532',
  token: 'USDC',
  amount: '12.50',
  requestor: REQUESTOR,
  metadata: { order: '1042' },
};
const buildIntent: z.input<typeof buildIntentRequest> = { fulfiller: FULFILLER };
const submitIntent: z.input<typeof submitIntentRequest> = { signedTransaction: 'AviQg…', fulfiller: FULFILLER };
const updateIntent: z.input<typeof updateIntentRequest> = {
  updatedAt: CREATED_AT,
  metadata: { table: '7', order: null },
};
const simulateIntent: z.input<typeof simulateIntentRequest> = { targetState: 'confirmed' };

const intent: Record<keyof PublicIntent, unknown> = {
  id: 'pi_5mUj8xNgYq3vWJ2hTfKd7',
  idempotencyKey: 'order-1042',
  chain: 'eip155:84532',
  token: 'USDC',
  tokenAddress: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  amount: '12.50',
  amountBaseUnits: '12500000',
  requestor: REQUESTOR,
  fulfiller: null,
  direction: 'request',
  state: 'created',
  retryRequired: false,
  pendingAtExpiry: false,
  reference: `0x${'5e'.repeat(32)}`,
  txSignature: null,
  detectedAt: null,
  ataRentLamports: null,
  ttlSeconds: 86_400,
  expiresAt: '2026-11-22T12:00:00.000Z',
  createdAt: CREATED_AT,
  updatedAt: CREATED_AT,
  confirmedAt: null,
  finalizedAt: null,
  metadata: { order: '1042' },
  refundedBy: null,
  refundOf: null,
  livemode: false,
};

/** Examples by component. Those of requests work unchanged against a local stack. */
export const EXAMPLES: Readonly<Record<string, object>> = {
  PaymentIntent: intent,
  CreateIntentRequest: createIntent,
  BuildIntentRequest: buildIntent,
  SubmitIntentRequest: submitIntent,
  UpdateIntentRequest: updateIntent,
  SimulateIntentRequest: simulateIntent,
};
