import { archiveUrl, bucketVariables } from '@pf/archive/url';
import { upstreamVariables } from '@pf/chains';
import { egressVariables } from '@pf/egress';
import { kafkaVariables } from '@pf/event-log';
import { redisUrl } from '@pf/redis';
import { telemetryVariables, variables } from '@pf/runtime';
import { screeningVariables } from '@pf/screening';
import { z } from 'zod';

/** Every environment variable of this service. Tests check the deployments against it. */
export const gatewayVariables = {
  ...telemetryVariables,
  ...kafkaVariables,
  ...upstreamVariables,
  ...egressVariables,
  ...screeningVariables,
  DATABASE_URL: variables.databaseUrl,
  /** At least six: some are for lists by metadata, some not for test mode. */
  DATABASE_CONNECTIONS: z.coerce.number().int().min(6).max(200).optional(),
  REDIS_URL: redisUrl,
  /** Prefix of all keys, so that several stacks can share a Redis. */
  REDIS_PREFIX: variables.redisPrefix,
  SECRETS_KEY: variables.secretsKey,
  /** Whether commands are sealed, which earlier versions of the intent service cannot read. */
  SEAL_PERSONAL_DATA: variables.flag,
  /** Shared with the intent services: what proves that a reply is theirs. */
  REPLY_SECRET: variables.sharedSecrets,
  DASHBOARD_PASS_SECRET: variables.sharedSecrets,
  /** Whether intents may be paid by their amount: the watchers report deposits then (DEPOSITS). */
  PAY_BY_AMOUNT: variables.flag,
  /** Where payers open the payment page, an origin. Without it `paymentUrl` is null. */
  CHECKOUT_URL: variables.origin.optional(),
  /** Allows live webhook endpoints and sponsors at http:// URLs. */
  WEBHOOK_ALLOW_HTTP: variables.flag,
  /** The archive's store, from which intents are served that have left Postgres. */
  ARCHIVE_URL: archiveUrl.optional(),
  ...bucketVariables,
  GATEWAY_PORT: variables.port.default(4000),
  /** Probes are answered here, so that nothing but the API is reachable from outside. */
  HEALTH_PORT: variables.port.default(4006),
  /** Multiplies all rate limits, for load tests. */
  RATE_LIMIT_FACTOR: z.coerce.number().positive().max(1e6).default(1),
  TRUSTED_PROXIES: variables.trustedProxies,
  KEEP_ALIVE_SECONDS: variables.keepAliveSeconds,
} as const;
