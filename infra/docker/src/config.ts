import { kafkaVariables } from '@pf/event-log';
import { variables } from '@pf/runtime';

/** The variables of the job `migrate`. */
export const migrateVariables = { DATABASE_URL: variables.databaseUrl, LOG_LEVEL: variables.logLevel } as const;

/** The variables of `operator`, which `pf` needs for its commands on accounts and on the log. */
export const operatorVariables = {
  ...kafkaVariables,
  DATABASE_URL: variables.databaseUrl,
  SECRETS_KEY: variables.secretsKey,
} as const;

/** The variables of the job `topics`. */
export const topicsVariables = { ...kafkaVariables, LOG_LEVEL: variables.logLevel } as const;
