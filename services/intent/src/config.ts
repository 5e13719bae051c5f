import { kafkaVariables } from '@pf/event-log';
import { variables } from '@pf/runtime';

/** Every variable of this service; the deployments are checked against it. */
export const intentVariables = {
  ...kafkaVariables,
  DATABASE_URL: variables.databaseUrl,
  REDIS_URL: variables.redisUrl,
  HOST: variables.host,
  HEALTH_PORT: variables.port,
} as const;
