import { telemetryVariables, variables } from '@pf/runtime';
import { z } from 'zod';

/** Every environment variable of this service. Tests check the deployments against it. */
export const dashboardVariables = {
  ...telemetryVariables,
  DATABASE_URL: variables.databaseUrl,
  DATABASE_CONNECTIONS: variables.databaseConnections,
  REDIS_URL: variables.redisUrl,
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
  DASHBOARD_PASS_SECRET: variables.passSecrets,
  /** Signs session cookies and encrypts the secrets of second factors. */
  SESSION_SECRET: z.string().min(32, 'must have at least 32 characters'),
  /** `smtp://user:password@host:587`, `smtps://…`, or `log:`, which writes mails into the log: for development. */
  MAIL_URL: z.string().regex(/^(log:$|smtps?:\/\/)/, 'must be an smtp:// or smtps:// URL, or log:'),
  MAIL_FROM: z.string().min(3, 'must be an e-mail address'),
  /** Multiplies all rate limits, for tests. */
  RATE_LIMIT_FACTOR: z.coerce.number().positive().max(1e6).default(1),
  /** Number of trusted proxies in front of this process, whose X-Forwarded-For entries are believed. */
  TRUSTED_PROXIES: z.coerce.number().int().min(0).max(10).default(0),
} as const;
