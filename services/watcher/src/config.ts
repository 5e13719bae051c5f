import { upstreamVariables } from '@pf/chains';
import { kafkaVariables } from '@pf/event-log';
import { telemetryVariables, variables } from '@pf/runtime';
import { screeningVariables } from '@pf/screening';
import { z } from 'zod';

/** Every variable of this service; the deployments are checked against it. */
export const watcherVariables = {
  ...telemetryVariables,
  DATABASE_URL: variables.databaseUrl,
  DATABASE_CONNECTIONS: variables.databaseConnections,
  ...kafkaVariables,
  ...upstreamVariables,
  ...screeningVariables,
  /** CAIP-2 ids, comma-separated. */
  NETWORKS: variables.list,
  /** How long an intent is watched after it was settled, failed, expired or cancelled. */
  WATCH_DAYS: z.coerce.number().min(0).max(3_650).default(30),
  /** How long after a watcher was killed another one takes over its networks. */
  WATCH_LEASE_SECONDS: z.coerce.number().min(1).max(300).default(10),
  HEALTH_PORT: variables.port,
} as const;
