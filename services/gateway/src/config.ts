import { upstreamVariables } from '@pf/chains';
import { kafkaVariables } from '@pf/event-log';
import { telemetryVariables, variables } from '@pf/runtime';
import { screeningVariables } from '@pf/screening';
import { z } from 'zod';

/** Every variable of this service; the deployments are checked against it. */
export const gatewayVariables = {
  ...telemetryVariables,
  ...kafkaVariables,
  ...upstreamVariables,
  ...screeningVariables,
  DATABASE_URL: variables.databaseUrl,
  REDIS_URL: variables.redisUrl,
  /** Before our keys: several stacks can share a Redis. */
  REDIS_PREFIX: variables.redisPrefix,
  GATEWAY_PORT: variables.port.default(4000),
  /** Multiplies all rate limits: for load tests. */
  RATE_LIMIT_FACTOR: z.coerce.number().positive().max(1e6).default(1),
  /** How many proxies of ours stand before this process: what they say of the client's address is believed. */
  TRUSTED_PROXIES: z.coerce.number().int().min(0).max(10).default(0),
} as const;
