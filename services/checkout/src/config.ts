import { telemetryVariables, variables } from '@pf/runtime';
import { z } from 'zod';

/** Every environment variable of this service. Tests check the deployments against it. */
export const checkoutVariables = {
  ...telemetryVariables,
  DATABASE_URL: variables.databaseUrl,
  DATABASE_CONNECTIONS: variables.databaseConnections,
  CHECKOUT_PORT: variables.port.default(4007),
  /** Probes are answered here, so that nothing but the page is reachable from outside. */
  HEALTH_PORT: variables.port.default(4008),
  /** Where people pay: links in wallets lead there. An origin of its own, which nothing else is served from. */
  CHECKOUT_URL: variables.origin,
  /** Where the gateway is: what the page asks of the payment API is forwarded to it. */
  GATEWAY_URL: variables.origin,
  /** Multiplies all limits of an address, for tests. */
  RATE_LIMIT_FACTOR: z.coerce.number().positive().max(1e6).default(1),
  TRUSTED_PROXIES: variables.trustedProxies,
  KEEP_ALIVE_SECONDS: variables.keepAliveSeconds,
} as const;
