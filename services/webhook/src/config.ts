import { kafkaVariables } from '@pf/event-log';
import { telemetryVariables, variables } from '@pf/runtime';

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
} as const;
