import { z } from 'zod';

export interface RedisNode {
  readonly host: string;
  readonly port: number;
}

/** How to reach Redis, as REDIS_URL says it. */
export type RedisAddress =
  /** One server, by a URL that the library understands. */
  | { readonly kind: 'server'; readonly url: string }
  /** The server that the sentinels name as primary, now and after a failover. */
  | (Replicated & {
      readonly kind: 'sentinel';
      readonly name: string;
      readonly sentinelUsername?: string | undefined;
      readonly sentinelPassword?: string | undefined;
    })
  /** The keys are divided among the nodes of a cluster, of which these are some. */
  | (Replicated & { readonly kind: 'cluster' });

interface Replicated {
  readonly nodes: readonly [RedisNode, ...RedisNode[]];
  readonly tls: boolean;
  readonly username?: string;
  readonly password?: string;
}

const FORMS =
  'must be redis://host:port, redis+sentinel://host:port,host:port/name or redis+cluster://host:port,host:port ' +
  '(rediss with TLS; user and password before the hosts, percent-encoded)';
const SERVER = /^rediss?:\/\//;
const REPLICATED = new RegExp(
  String.raw`^redis(?<tls>s?)\+(?<kind>sentinel|cluster)://(?:(?<credentials>[^@/?#]*)@)?(?<hosts>[^@/?#]+)` +
    String.raw`(?:/(?<name>[^/?#]*))?(?:\?(?<query>[^#]*))?$`,
);
const HOST = /^(?<host>\[[\da-f:.]+\]|[\w.-]+)(?::(?<port>\d{1,5}))?$/i;
const DEFAULT_PORTS = { sentinel: 26_379, cluster: 6_379 } as const;
const MAX_PORT = 65_535;

/**
 * What a URL of Redis names; null if it is none.
 *
 * @example
 * redisAddress('rediss+sentinel://user:secret@s1:26379,s2:26379/primary?sentinelPassword=other');
 * redisAddress('redis+cluster://user:secret@n1:6379,n2:6379');
 */
export function redisAddress(url: string): RedisAddress | null {
  if (SERVER.test(url)) return URL.parse(url)?.hostname ? { kind: 'server', url } : null;
  const { tls, kind, credentials, hosts = '', name = '', query = '' } = REPLICATED.exec(url)?.groups ?? {};
  if (kind !== 'sentinel' && kind !== 'cluster') return null;
  const nodes = hosts.split(',').map((host) => node(host, DEFAULT_PORTS[kind]));
  const [first, ...others] = nodes.filter((found) => found !== null);
  if (!first || others.length + 1 < nodes.length) return null;
  try {
    const shared: Replicated = { nodes: [first, ...others], tls: tls === 's', ...login(credentials) };
    if (kind === 'cluster') return name === '' && query === '' ? { kind, ...shared } : null;
    const sentinels = sentinelLogin.safeParse(Object.fromEntries(new URLSearchParams(query)));
    return name === '' || !sentinels.success
      ? null
      : { kind, ...shared, name: decodeURIComponent(name), ...sentinels.data };
  } catch {
    // A percent sign that encodes nothing.
    return null;
  }
}

const sentinelLogin = z.strictObject({
  sentinelUsername: z.string().optional(),
  sentinelPassword: z.string().optional(),
});

function node(text: string, defaultPort: number): RedisNode | null {
  const { host, port = String(defaultPort) } = HOST.exec(text)?.groups ?? {};
  const number = Number(port);
  if (host === undefined || number < 1 || number > MAX_PORT) return null;
  return { host: host.replace(/^\[|\]$/g, ''), port: number };
}

/** @throws URIError if a percent sign encodes nothing */
function login(credentials = ''): Pick<Replicated, 'username' | 'password'> {
  const [username = '', ...password] = credentials.split(':');
  return {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password.length > 0 && { password: decodeURIComponent(password.join(':')) }),
  };
}

/** REDIS_URL of every service that uses Redis. */
export const redisUrl = z.string().refine((url) => redisAddress(url) !== null, FORMS);
