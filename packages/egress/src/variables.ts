import { variables } from '@pf/runtime';
import { z } from 'zod';
import type { SenderOptions } from './sender.ts';

/** How the URLs of accounts are reached, in every service that does. They have the name of the first one. */
export const egressVariables = {
  WEBHOOK_ALLOW_PRIVATE_HOSTS: variables.flag,
  /** An HTTP proxy through which all requests go. */
  WEBHOOK_PROXY_URL: z
    .url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
    .transform((text) => new URL(text))
    .optional(),
  /** Name servers for the hosts of these URLs: addresses, comma-separated. Without it: those of the system. */
  WEBHOOK_NAME_SERVERS: variables.list.optional(),
} as const;

export type EgressOptions = Pick<SenderOptions, 'allowPrivate' | 'proxy' | 'nameServers'>;
type EgressConfig = Readonly<z.output<z.ZodObject<typeof egressVariables>>>;

/** What the variables say, for `createSender`. */
export const egressOptions = (config: EgressConfig): EgressOptions => ({
  allowPrivate: config.WEBHOOK_ALLOW_PRIVATE_HOSTS,
  proxy: config.WEBHOOK_PROXY_URL,
  nameServers: config.WEBHOOK_NAME_SERVERS,
});
