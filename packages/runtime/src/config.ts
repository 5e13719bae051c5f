import { z } from 'zod';

/** An invalid configuration: the message names each variable and what is wrong with it. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/**
 * Reads a service's configuration from the environment, once, at the start. The keys of `shape` are the names of the
 * variables. Secrets get no default. This is the only reader of process.env.
 *
 * @throws ConfigurationError naming every variable that is missing or invalid, without their values
 */
export function loadConfig<Shape extends z.ZodRawShape>(
  shape: Shape,
  environment: NodeJS.ProcessEnv = process.env,
): z.infer<z.ZodObject<Shape>> {
  const names = Object.keys(shape);
  // An empty variable counts as absent: manifests and shells set them easily.
  const present = Object.fromEntries(
    names.map((name) => [name, environment[name] === '' ? undefined : environment[name]]),
  );
  const result = z.object(shape).safeParse(present);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) => {
    const name = String(issue.path[0]);
    return `  ${name}: ${present[name] === undefined ? 'is not set' : issue.message}`;
  });
  throw new ConfigurationError(`The configuration is invalid:\n${problems.join('\n')}`);
}

/**
 * What to listen on for HOST: `::` stands for every address of IPv6 and IPv4, so it becomes undefined, for which Node
 * takes `0.0.0.0` where the system has no IPv6.
 */
export const boundTo = (host: string): string | undefined => (host === '::' ? undefined : host);

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
  /** The most connections of the process to Postgres; without it the service's own number. */
  databaseConnections: z.coerce.number().int().min(1).max(200).optional(),
  /** Prefix of the keys in Redis: several stacks can share one server. */
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
  /** Keys of 32 bytes in base64, comma-separated: the first encrypts, all decrypt. */
  secretsKey: list
    .refine(
      (keys) => keys.every((key) => z.base64().safeParse(key).success && Buffer.from(key, 'base64').length === 32),
      'must be 32 bytes in base64, or several of these, comma-separated',
    )
    .transform((keys) => keys.map((key) => Buffer.from(key, 'base64'))),
  /**
   * What two services sign with what one tells the other: texts of at least 32 characters, comma-separated. The first
   * signs, all are accepted.
   */
  sharedSecrets: list
    .refine(
      (secrets) => secrets.every((secret) => secret.length >= 32),
      'must have at least 32 characters, or be several of these, comma-separated',
    )
    // A list has at least one entry.
    .transform((secrets) => secrets.map((secret) => Buffer.from(secret)) as [Buffer, ...Buffer[]]),
  origin: z
    .url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
    .transform((text) => new URL(text))
    .refine((url) => url.href === `${url.origin}/`, 'must be an origin, without a path'),
  flag: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true'),
  /** Number of trusted proxies in front of a process, whose X-Forwarded-For entries are believed. */
  trustedProxies: z.coerce.number().int().min(0).max(10).default(0),
  /**
   * Seconds for which a server keeps an idle connection: longer than any proxy does. Google's load balancers keep them
   * for 600 s, Envoy for an hour unless it is told otherwise.
   */
  keepAliveSeconds: z.coerce.number().int().min(5).max(7_200).default(650),
  logLevel: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
} as const;
