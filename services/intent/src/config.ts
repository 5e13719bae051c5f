import { kafkaVariables } from '@pf/event-log';
import { telemetryVariables, variables } from '@pf/runtime';

/** Every variable of this service; the deployments are checked against it. */
export const intentVariables = {
  ...telemetryVariables,
  ...kafkaVariables,
  DATABASE_URL: variables.databaseUrl,
  DATABASE_CONNECTIONS: variables.databaseConnections,
  REDIS_URL: variables.redisUrl,
  HEALTH_PORT: variables.port,
} as const;
