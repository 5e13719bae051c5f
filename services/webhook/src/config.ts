import { kafkaVariables } from '@pf/event-log';
import { telemetryVariables, variables } from '@pf/runtime';
import { z } from 'zod';

/** Every variable of this service; the deployments are checked against it. */
export const webhookVariables = {
  ...telemetryVariables,
  ...kafkaVariables,
  DATABASE_URL: variables.databaseUrl,
  DATABASE_CONNECTIONS: variables.databaseConnections,
  REDIS_URL: variables.redisUrl,
  REDIS_PREFIX: variables.redisPrefix,
  HEALTH_PORT: variables.port.default(4003),
  SECRETS_KEY: variables.secretsKey,
  WEBHOOK_ALLOW_PRIVATE_HOSTS: variables.flag,
  /** An HTTP proxy through which all webhooks go. */
  WEBHOOK_PROXY_URL: z
    .url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
    .transform((text) => new URL(text))
    .optional(),
  /** Name servers for the hosts of receivers: addresses, comma-separated. Without it: those of the system. */
  WEBHOOK_NAME_SERVERS: variables.list.optional(),
  /** How many deliveries of an account and mode replays make due in a second. */
  WEBHOOK_REPLAY_RATE: z.coerce.number().int().min(1).max(10_000).default(100),
} as const;
