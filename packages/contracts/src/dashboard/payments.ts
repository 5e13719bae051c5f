import type { OPERATIONS } from '../operations.ts';
import type { AuditAction } from './audit-actions.ts';
import { type Role, ROLES } from './roles.ts';

export type PaymentOperationId = keyof typeof OPERATIONS;
type Roles = readonly [Role, ...Role[]];

const DEVELOPERS: Roles = ['owner', 'developer'];
const SUPPORT: Roles = ['owner', 'developer', 'support'];

/**
 * The roles with which a person may make each request of the payment API in the dashboard. What returns a secret is for
 * owners and developers. Support refunds, so it may also build and submit: the wallet that pays decides.
 */
export const PAYMENT_ACCESS: Readonly<Record<PaymentOperationId, Roles>> = {
  createIntent: DEVELOPERS,
  getIntent: ROLES,
  listIntents: ROLES,
  updateIntent: DEVELOPERS,
  cancelIntent: SUPPORT,
  refundIntent: SUPPORT,
  detectIntent: DEVELOPERS,
  buildIntent: SUPPORT,
  submitIntent: SUPPORT,
  buildAuthorization: SUPPORT,
  submitAuthorization: SUPPORT,
  askPaymaster: DEVELOPERS,
  payByMpp: DEVELOPERS,
  intentEvents: ROLES,
  createPaymentLink: DEVELOPERS,
  listPaymentLinks: ROLES,
  listDeposits: ROLES,
  getDeposit: ROLES,
  ignoreDeposit: SUPPORT,
  reopenDeposit: SUPPORT,
  assignDeposit: SUPPORT,
  unassignDeposit: SUPPORT,
  getPaymentLink: ROLES,
  cancelPaymentLink: SUPPORT,
  chooseOffer: DEVELOPERS,
  setSponsor: DEVELOPERS,
  listSponsors: ROLES,
  removeSponsor: DEVELOPERS,
  listDeliveries: ROLES,
  retryDelivery: SUPPORT,
  deliveryAttempts: ROLES,
  createEndpoint: DEVELOPERS,
  listEndpoints: ROLES,
  getEndpoint: ROLES,
  updateEndpoint: DEVELOPERS,
  removeEndpoint: DEVELOPERS,
  enableEndpoint: DEVELOPERS,
  rotateEndpointSecret: DEVELOPERS,
  testEndpoint: DEVELOPERS,
  createReplay: SUPPORT,
  listReplays: ROLES,
  getReplay: ROLES,
  cancelReplay: SUPPORT,
  simulateIntent: SUPPORT,
};

/**
 * The roles with which a person may send a field of a request, where they are fewer. Who chooses where the account's
 * money goes needs the right to pay out: to create an intent of any recipient.
 */
export const FIELD_ACCESS: Readonly<Partial<Record<PaymentOperationId, Readonly<Record<string, Roles>>>>> = {
  refundIntent: { to: PAYMENT_ACCESS.createIntent },
};

/** The roles that also get what only opens something to a payer: the address of a payment link. */
export const SECRETS_ACCESS: Roles = DEVELOPERS;

/** What only reads. */
type Reading = {
  [Id in PaymentOperationId]: (typeof OPERATIONS)[Id]['method'] extends 'get' ? Id : never;
}[PaymentOperationId];
/** What changes something. */
export type PaymentChange = Exclude<PaymentOperationId, Reading>;

/** The name under which the audit log records a change, and the fields of the request that it shows: no secret. */
export interface RecordedChange {
  readonly action: AuditAction;
  readonly fields: readonly string[];
}

/** How the audit log records the changes that people make over the payment API. */
export const PAYMENT_CHANGES: Readonly<Record<PaymentChange, RecordedChange>> = {
  createIntent: { action: 'intent.created', fields: ['chain', 'token', 'amount', 'direction'] },
  updateIntent: { action: 'intent.updated', fields: ['amount', 'ttlSeconds'] },
  cancelIntent: { action: 'intent.cancelled', fields: [] },
  refundIntent: { action: 'intent.refunded', fields: ['to'] },
  detectIntent: { action: 'intent.detected', fields: [] },
  buildIntent: { action: 'intent.built', fields: ['fulfiller'] },
  submitIntent: { action: 'intent.submitted', fields: ['fulfiller'] },
  buildAuthorization: { action: 'intent.built', fields: ['fulfiller'] },
  submitAuthorization: { action: 'intent.submitted', fields: [] },
  askPaymaster: { action: 'intent.paymaster_asked', fields: [] },
  payByMpp: { action: 'intent.challenged', fields: [] },
  simulateIntent: { action: 'intent.simulated', fields: ['targetState'] },
  createPaymentLink: { action: 'payment_link.created', fields: ['amount', 'ttlSeconds'] },
  cancelPaymentLink: { action: 'payment_link.cancelled', fields: [] },
  chooseOffer: { action: 'payment_link.chosen', fields: ['offer'] },
  ignoreDeposit: { action: 'deposit.ignored', fields: [] },
  reopenDeposit: { action: 'deposit.reopened', fields: [] },
  assignDeposit: { action: 'deposit.assigned', fields: ['intentId'] },
  unassignDeposit: { action: 'deposit.unassigned', fields: [] },
  setSponsor: { action: 'sponsor.set', fields: [] },
  removeSponsor: { action: 'sponsor.removed', fields: [] },
  retryDelivery: { action: 'delivery.retried', fields: [] },
  createEndpoint: { action: 'endpoint.created', fields: ['url', 'name', 'eventTypes', 'apiVersion'] },
  updateEndpoint: { action: 'endpoint.updated', fields: ['name', 'eventTypes', 'apiVersion', 'paused'] },
  removeEndpoint: { action: 'endpoint.removed', fields: [] },
  enableEndpoint: { action: 'endpoint.enabled', fields: ['replay'] },
  rotateEndpointSecret: { action: 'endpoint.secret_rotated', fields: ['validFrom'] },
  testEndpoint: { action: 'endpoint.tested', fields: [] },
  createReplay: {
    action: 'replay.created',
    fields: ['since', 'until', 'endpointId', 'toEndpointId', 'eventTypes', 'status'],
  },
  cancelReplay: { action: 'replay.cancelled', fields: [] },
};
