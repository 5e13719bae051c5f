import { type Logger, variables } from '@pf/runtime';
import { z } from 'zod';
import { COMPRESSIONS } from './compression.ts';
import type { EventLogOptions } from './options.ts';

/** The variables of every service that uses Kafka, to be spread into its loadConfig(). */
export const kafkaVariables = {
  KAFKA_BROKERS: variables.kafkaBrokers,
  KAFKA_PARTITIONS: variables.kafkaPartitions,
  /** Prefix of topics, groups and transactional ids, so that several stacks can share a cluster. */
  KAFKA_PREFIX: z
    .string()
    .regex(/^[\w.-]*$/)
    .default(''),
  KAFKA_REPLICATION: z.coerce.number().int().min(1).max(5).default(1),
  KAFKA_SESSION_TIMEOUT_MS: z.coerce.number().int().min(500).max(60_000).default(6_000),
  /** Versions before zstd read gzip and none: keep gzip while one of them may come back. */
  KAFKA_COMPRESSION: z.enum(COMPRESSIONS).default('zstd'),
  KAFKA_TLS: variables.flag,
  KAFKA_SASL_MECHANISM: z.enum(['plain', 'scram-sha-256', 'scram-sha-512']).optional(),
  KAFKA_SASL_USERNAME: z.string().optional(),
  KAFKA_SASL_PASSWORD: z.string().optional(),
};
type KafkaEnvironment = z.infer<z.ZodObject<typeof kafkaVariables>>;

/** The options of createEventLog() from the environment. */
export function eventLogOptions(environment: KafkaEnvironment, clientId: string, logger: Logger): EventLogOptions {
  const {
    KAFKA_SASL_MECHANISM: mechanism,
    KAFKA_SASL_USERNAME: username = '',
    KAFKA_SASL_PASSWORD: password = '',
  } = environment;
  return {
    brokers: environment.KAFKA_BROKERS,
    partitions: environment.KAFKA_PARTITIONS,
    clientId,
    prefix: environment.KAFKA_PREFIX,
    replication: environment.KAFKA_REPLICATION,
    compression: environment.KAFKA_COMPRESSION,
    ssl: environment.KAFKA_TLS,
    ...(mechanism && { sasl: { mechanism, username, password } }),
    sessionTimeoutMs: environment.KAFKA_SESSION_TIMEOUT_MS,
    logger,
  };
}
