import { ConfigurationError, type Logger, variables } from '@pf/runtime';
import { z } from 'zod';
import { clientCredentials, reusedToken } from './bearer-token.ts';
import { COMPRESSIONS } from './compression.ts';
import { mskIamTokens } from './msk-iam.ts';
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
  KAFKA_SASL_MECHANISM: z.enum(['plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer', 'aws-msk-iam']).optional(),
  KAFKA_SASL_USERNAME: z.string().optional(),
  KAFKA_SASL_PASSWORD: z.string().optional(),
  /** With oauthbearer: where tokens are issued by the client-credentials grant, and to whom. */
  KAFKA_OAUTH_TOKEN_URL: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' }).optional(),
  KAFKA_OAUTH_CLIENT_ID: z.string().optional(),
  KAFKA_OAUTH_CLIENT_SECRET: z.string().optional(),
  KAFKA_OAUTH_SCOPE: z.string().optional(),
  /** With aws-msk-iam: that of the cluster. Amazon sets it in pods whose service account has a role. */
  AWS_REGION: z
    .string()
    .regex(/^[a-z0-9-]+$/, 'must be a region of AWS, such as eu-central-1')
    .optional(),
};
type KafkaEnvironment = z.infer<z.ZodObject<typeof kafkaVariables>>;

/**
 * The options of createEventLog() from the environment.
 * @throws ConfigurationError if oauthbearer or aws-msk-iam lacks what it needs
 */
export function eventLogOptions(environment: KafkaEnvironment, clientId: string, logger: Logger): EventLogOptions {
  const sasl = saslOf(environment);
  return {
    brokers: environment.KAFKA_BROKERS,
    partitions: environment.KAFKA_PARTITIONS,
    clientId,
    prefix: environment.KAFKA_PREFIX,
    replication: environment.KAFKA_REPLICATION,
    compression: environment.KAFKA_COMPRESSION,
    ssl: environment.KAFKA_TLS,
    ...(sasl && { sasl }),
    sessionTimeoutMs: environment.KAFKA_SESSION_TIMEOUT_MS,
    logger,
  };
}

function saslOf(environment: KafkaEnvironment): EventLogOptions['sasl'] {
  const {
    KAFKA_SASL_MECHANISM: mechanism,
    KAFKA_SASL_USERNAME: username = '',
    KAFKA_SASL_PASSWORD: password = '',
    KAFKA_OAUTH_TOKEN_URL: tokenUrl,
    KAFKA_OAUTH_CLIENT_ID: oauthClientId,
    KAFKA_OAUTH_CLIENT_SECRET: clientSecret,
    KAFKA_OAUTH_SCOPE: scope,
    AWS_REGION: region,
  } = environment;
  if (mechanism === undefined) return undefined;
  if (mechanism === 'aws-msk-iam') {
    if (region === undefined || !environment.KAFKA_TLS)
      throw new ConfigurationError(
        'The configuration is invalid:\n  KAFKA_SASL_MECHANISM: aws-msk-iam needs AWS_REGION and KAFKA_TLS=true',
      );
    return { mechanism: 'oauthbearer', oauthBearerProvider: reusedToken(mskIamTokens(region)) };
  }
  if (mechanism !== 'oauthbearer') return { mechanism, username, password };
  if (tokenUrl === undefined || oauthClientId === undefined || clientSecret === undefined)
    throw new ConfigurationError(
      'The configuration is invalid:\n  KAFKA_SASL_MECHANISM: oauthbearer needs KAFKA_OAUTH_TOKEN_URL, ' +
        'KAFKA_OAUTH_CLIENT_ID and KAFKA_OAUTH_CLIENT_SECRET',
    );
  const request = clientCredentials({ tokenUrl, clientId: oauthClientId, clientSecret, scope });
  return { mechanism, oauthBearerProvider: reusedToken(request) };
}
