export * from './account.ts';
export * from './sticky-partitioner.ts';
export * from './api/index.ts';
export * from './client-secrets.ts';
export * from './errors.ts';
export { EVENT_MEANINGS, EVENT_TYPES, eventSchemas, type JsonSchema } from './event-schemas.ts';
export * from './evolution.ts';
export * from './dead-letter.ts';
export * from './deliveries.ts';
export * from './deposit-messages.ts';
export { assignDepositRequest, listDepositsQuery } from './deposits.ts';
export * from './endpoint-events.ts';
export * from './endpoints.ts';
export * from './ids.ts';
export * from './intent-events.ts';
export * from './intent-state.ts';
export * from './messages.ts';
export * from './observation-signature.ts';
export {
  type Access,
  type AccessRules,
  allows,
  type Answered,
  errorsOf,
  jsonOf,
  type Operation,
  statusesOf,
  type Success,
  TAGS,
} from './operation.ts';
export { OPERATIONS } from './operations.ts';
export * from './payment-links.ts';
export * from './quotas.ts';
export * from './replays.ts';
export * from './scalars.ts';
export * from './sponsors.ts';
