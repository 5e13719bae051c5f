import { egressVariables } from '@pf/egress';
import { kafkaVariables } from '@pf/event-log';
import { redisUrl } from '@pf/redis';
import { telemetryVariables, variables } from '@pf/runtime';
import { z } from 'zod';

/** Every variable of this service; the deployments are checked against it. */
export const webhookVariables = {
  ...telemetryVariables,
  ...kafkaVariables,
  ...egressVariables,
  DATABASE_URL: variables.databaseUrl,
  DATABASE_CONNECTIONS: variables.databaseConnections,
  REDIS_URL: redisUrl,
  REDIS_PREFIX: variables.redisPrefix,
  HEALTH_PORT: variables.port.default(4003),
  SECRETS_KEY: variables.secretsKey,
  /** How many deliveries of an account and mode replays make due in a second. */
  WEBHOOK_REPLAY_RATE: z.coerce.number().int().min(1).max(10_000).default(100),
} as const;
