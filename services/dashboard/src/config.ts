import { redisUrl } from '@pf/redis';
import { ConfigurationError, telemetryVariables, variables } from '@pf/runtime';
import { z } from 'zod';
import type { OidcOptions } from './identity/oidc.ts';

const LOCAL_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Every environment variable of this service. Tests check the deployments against it. */
export const dashboardVariables = {
  ...telemetryVariables,
  DATABASE_URL: variables.databaseUrl,
  DATABASE_CONNECTIONS: variables.databaseConnections,
  REDIS_URL: redisUrl,
  DASHBOARD_PORT: variables.port.default(4004),
  /** Probes are answered here, so that nothing but the dashboard is reachable from outside. */
  HEALTH_PORT: variables.port.default(4005),
  /** Where people open the dashboard: links in mails lead there, and requests from other origins are refused. */
  DASHBOARD_URL: variables.origin,
  /** Where the gateway is: what people do with payments is forwarded to it. */
  GATEWAY_URL: variables.origin,
  /** Where programs reach the payment API: what the dashboard tells them to use. */
  API_URL: variables.origin,
  /** Shared with the gateway. */
  DASHBOARD_PASS_SECRET: variables.sharedSecrets,
  /** Signs session cookies and encrypts the secrets of second factors. */
  SESSION_SECRET: z.string().min(32, 'must have at least 32 characters'),
  /** `smtp://user:password@host:587`, `smtps://…`, or `log:`, which writes mails into the log: for development. */
  MAIL_URL: z.string().regex(/^(log:$|smtps?:\/\/)/, 'must be an smtp:// or smtps:// URL, or log:'),
  MAIL_FROM: z.string().min(3, 'must be an e-mail address'),
  /** The OpenID provider at which people can sign in, too; with the client that is registered there. */
  OIDC_ISSUER: z
    .url({ protocol: /^https?$/, error: 'must be an https:// URL' })
    .transform((text) => new URL(text))
    .refine(
      ({ protocol, hostname }) => protocol === 'https:' || LOCAL_HOSTS.has(hostname),
      'must be an https:// URL, or an http:// URL of this machine',
    )
    .optional(),
  OIDC_CLIENT_ID: z.string().optional(),
  OIDC_CLIENT_SECRET: z.string().optional(),
  /** What people call it: on the button. */
  OIDC_NAME: z.string().max(40, 'must have at most 40 characters').default('single sign-on'),
  /** Multiplies all rate limits, for tests. */
  RATE_LIMIT_FACTOR: z.coerce.number().positive().max(1e6).default(1),
  TRUSTED_PROXIES: variables.trustedProxies,
  KEEP_ALIVE_SECONDS: variables.keepAliveSeconds,
} as const;

type OidcVariables = z.output<
  z.ZodObject<Pick<typeof dashboardVariables, 'OIDC_ISSUER' | 'OIDC_CLIENT_ID' | 'OIDC_CLIENT_SECRET' | 'OIDC_NAME'>>
>;

/** Null without an issuer. @throws ConfigurationError where something is missing */
export function oidcOptions(config: OidcVariables): OidcOptions | null {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret, OIDC_NAME: name } = config;
  if (issuer === undefined && clientId === undefined && clientSecret === undefined) return null;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined)
    throw new ConfigurationError('Set OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET together, or none of them.');
  return { issuer, clientId, clientSecret, name };
}
