import { z } from 'zod';

/** A configuration that cannot be run with: the message names each variable and what is wrong with it. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/**
 * Reads a service's configuration from the environment, once, at the start. The keys of `shape` are the names of the
 * variables. Secrets get no default. This is the only reader of process.env.
 *
 * @throws ConfigurationError naming every variable that is missing or wrong; their values are not repeated
 */
export function loadConfig<Shape extends z.ZodRawShape>(
  shape: Shape,
  environment: NodeJS.ProcessEnv = process.env,
): z.infer<z.ZodObject<Shape>> {
  const names = Object.keys(shape);
  // An empty variable is an absent one: manifests and shells make them easily.
  const given = Object.fromEntries(
    names.map((name) => [name, environment[name] === '' ? undefined : environment[name]]),
  );
  const result = z.object(shape).safeParse(given);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) => {
    const name = String(issue.path[0]);
    return `  ${name}: ${given[name] === undefined ? 'is not set' : issue.message}`;
  });
  throw new ConfigurationError(`The configuration cannot be used:\n${problems.join('\n')}`);
}

const port = z.coerce.number().int().min(1).max(65535);
const list = z
  .string()
  .transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  )
  .refine((parts) => parts.length > 0, 'needs at least one entry');

/** The variables that several services share, each described once. */
export const variables = {
  databaseUrl: z.string().regex(/^postgres(ql)?:\/\//, 'must be a postgresql:// URL'),
  redisUrl: z.string().regex(/^rediss?:\/\//, 'must be a redis:// URL'),
  /** Before the keys in Redis: several stacks can share one. */
  redisPrefix: z
    .string()
    .regex(/^[\w.-]*$/)
    .default(''),
  kafkaBrokers: list,
  kafkaPartitions: z.coerce.number().int().min(1).max(200),
  host: z.string().default('127.0.0.1'),
  port,
  list,
  urls: list.refine((urls) => urls.every((url) => URL.canParse(url)), 'must be URLs, comma-separated'),
  /** 32 bytes, base64. */
  secretsKey: z
    .base64()
    .refine((text) => Buffer.from(text, 'base64').length === 32, 'must be 32 bytes in base64')
    .transform((text) => Buffer.from(text, 'base64')),
  flag: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true'),
  logLevel: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
} as const;
