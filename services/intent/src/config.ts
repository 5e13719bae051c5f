import { archiveUrl, bucketVariables } from '@pf/archive/url';
import { kafkaVariables } from '@pf/event-log';
import { redisUrl } from '@pf/redis';
import { telemetryVariables, variables } from '@pf/runtime';
import { z } from 'zod';

/** Every variable of this service; the deployments are checked against it. */
export const intentVariables = {
  ...telemetryVariables,
  ...kafkaVariables,
  DATABASE_URL: variables.databaseUrl,
  DATABASE_CONNECTIONS: variables.databaseConnections,
  REDIS_URL: redisUrl,
  /** Shared with the gateways: signs the replies to them. */
  REPLY_SECRET: variables.sharedSecrets,
  /** The watchers' keys follow from it, each of one network: tells which of them has written an observation. */
  OBSERVATION_SECRET: variables.sharedSecrets,
  /** While watchers of an earlier version run: what they write has no signature, and is believed. */
  ACCEPT_UNSIGNED_OBSERVATIONS: variables.flag,
  HEALTH_PORT: variables.port,
  /** Needed where events are sealed, or have been (docs/operations/privacy.md). */
  SECRETS_KEY: variables.secretsKey.optional(),
  SEAL_PERSONAL_DATA: variables.flag,
  /** Personal data is erased when it is this old. Without it, only on request. */
  PRIVACY_RETENTION_DAYS: z.coerce.number().int().min(1).max(36_500).optional(),
  /**
   * Intents leave Postgres when they ended so many days ago. Without it they stay. Later than deliveries are deleted,
   * and than idempotency keys end.
   */
  LEDGER_HOT_DAYS: z.coerce.number().int().min(35).max(36_500).optional(),
  /** Where they go: the archive's store. Needed as long as any has left. */
  ARCHIVE_URL: archiveUrl.optional(),
  ...bucketVariables,
} as const;
