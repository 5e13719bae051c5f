export * from './accounts/accounts.ts';
export * from './accounts/api-keys.ts';
export * from './accounts/intent-accounts.ts';
export * from './accounts/open-account.ts';
export { type AmountMatch, forgetReservedAmounts, type WantedAmount } from './amounts/reserved-amounts.ts';
export * from './dashboard/account-keys.ts';
export * from './dashboard/attempts.ts';
export * from './dashboard/attention.ts';
export * from './dashboard/audit.ts';
export * from './dashboard/device-requests.ts';
export * from './dashboard/invitations.ts';
export * from './dashboard/likely-intents.ts';
export * from './dashboard/members.ts';
export * from './dashboard/merchants.ts';
export * from './dashboard/passkeys.ts';
export * from './dashboard/passwords.ts';
export * from './dashboard/personal-tokens.ts';
export * from './dashboard/provider-identities.ts';
export * from './dashboard/rights.ts';
export * from './dashboard/sessions.ts';
export * from './dashboard/settings.ts';
export * from './dashboard/newest-events.ts';
export * from './dashboard/summary.ts';
export * from './ledger/checkpoints.ts';
export {
  bringBack,
  coldByBundle,
  type ColdClaim,
  type ColdPlace,
  type ColdRows,
  coldVersions,
  digestOfRows,
  eventsIn,
  findCold,
  findColdOf,
  findOldIntents,
  hasCold,
  intentIn,
  leave,
  newestCold,
  type OldIntent,
  type OldPlace,
} from './ledger/cold-intents.ts';
export * from './ledger/command-outcomes.ts';
export { decodeDepositState, decodeStateOrNull, UndecodableIntentError } from './ledger/decoding.ts';
export * from './ledger/deposits.ts';
export * from './ledger/fold.ts';
export * from './ledger/settlements.ts';
export * from './ledger/told-transfers.ts';
export * from './ledger/intent-events.ts';
export * from './ledger/intent-list.ts';
export * from './ledger/intent-states.ts';
export * from './ledger/intents.ts';
export * from './ledger/projection.ts';
export * from './ledger/rebuild.ts';
export * from './links/payment-links.ts';
export * from './links/keeping.ts';
export * from './postgres/database.ts';
export * from './postgres/database-time.ts';
export { migrate } from './postgres/migrate.ts';
export * from './postgres/roles.ts';
export * from './postgres/schema-version.ts';
export { forAll, forOwner, type Owner, OwnerBusyError, ownerNow } from './postgres/owners.ts';
export * from './postgres/share.ts';
export * from './privacy/command-seal.ts';
export * from './privacy/erase.ts';
export * from './privacy/erasures.ts';
export * from './privacy/import-sealer.ts';
export * from './privacy/intent-keys.ts';
export { type IntentKey } from './privacy/sealing.ts';
export * from './requests/request-records.ts';
export * from './sponsors/gas-promises.ts';
export { openColdKey, sealColdKey } from './ledger/cold-keys.ts';
export * from './sponsors/sponsors.ts';
export * from './store.ts';
export * from './watching/network-watches.ts';
export { isOfShard, type Shard, SHARDS_MAX, UNSPLIT } from './watching/shards.ts';
export * from './watching/signed-transactions.ts';
export * from './watching/unscreened-payments.ts';
export * from './watching/watched-intents.ts';
export type { WatchedWallet } from './watching/watched-wallets.ts';
export { type CatchUpStep, forgetMissedEvents, stepCatchUp } from './webhooks/catch-ups.ts';
export * from './webhooks/deliveries.ts';
export * from './webhooks/delivery-list.ts';
export * from './webhooks/ended-deliveries.ts';
export * from './webhooks/endpoints.ts';
export * from './webhooks/idempotent-answers.ts';
export * from './webhooks/keyring.ts';
export * from './webhooks/lanes.ts';
export * from './webhooks/managed-endpoints.ts';
export * from './webhooks/new-deliveries.ts';
export * from './webhooks/news.ts';
export * from './webhooks/outstanding.ts';
export * from './webhooks/positions.ts';
export * from './webhooks/removed-endpoints.ts';
export * from './webhooks/replaying.ts';
export * from './webhooks/replays.ts';
export * from './webhooks/secrets.ts';
export * from './webhooks/secrets-key.ts';
export * from './webhooks/sending.ts';
export * from './webhooks/surplus-deliveries.ts';
