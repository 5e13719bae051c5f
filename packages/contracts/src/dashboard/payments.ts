import type { OPERATIONS } from '../operations.ts';
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
  intentEvents: ROLES,
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
