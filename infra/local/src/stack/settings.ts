import path from 'node:path';
import type { UpstreamVariable } from '@pf/chains/networks';
import { z } from 'zod';
import { CHAINS, type ChainName, forEachChain } from '../chains/chains.ts';

interface Port {
  readonly variable: string;
  readonly defaultPort: number;
}

/**
 * Every port of the local stack, its default, and the variable that moves it. Ports with the same variable move
 * together: the variable sets the first of them.
 */
export const PORTS = {
  gateway: { variable: 'GATEWAY_PORT', defaultPort: 4000 },
  intent: { variable: 'INTENT_PORT', defaultPort: 4001 },
  watcher: { variable: 'WATCHER_PORT', defaultPort: 4002 },
  webhook: { variable: 'WEBHOOK_PORT', defaultPort: 4003 },
  dashboard: { variable: 'DASHBOARD_PORT', defaultPort: 4004 },
  dashboardHealth: { variable: 'DASHBOARD_PORT', defaultPort: 4005 },
  gatewayHealth: { variable: 'GATEWAY_PORT', defaultPort: 4006 },
  checkout: { variable: 'CHECKOUT_PORT', defaultPort: 4007 },
  checkoutHealth: { variable: 'CHECKOUT_PORT', defaultPort: 4008 },
  archive: { variable: 'ARCHIVE_PORT', defaultPort: 4009 },
  postgres: { variable: 'POSTGRES_PORT', defaultPort: 4010 },
  redis: { variable: 'REDIS_PORT', defaultPort: 4011 },
  kafka: { variable: 'KAFKA_PORT', defaultPort: 4012 },
  kafkaController: { variable: 'KAFKA_CONTROLLER_PORT', defaultPort: 4013 },
  base: { variable: 'BASE_PORT', defaultPort: 4020 },
  baseLive: { variable: 'BASE_LIVE_PORT', defaultPort: 4021 },
  solana: { variable: 'SOLANA_PORT', defaultPort: 4022 },
  // Solana clients expect WebSockets at the RPC port + 1.
  solanaWebSocket: { variable: 'SOLANA_PORT', defaultPort: 4023 },
  tempo: { variable: 'TEMPO_PORT', defaultPort: 4024 },
  sanctions: { variable: 'SANCTIONS_PORT', defaultPort: 4030 },
  gatewayMetrics: { variable: 'METRICS_PORT', defaultPort: 4040 },
  intentMetrics: { variable: 'METRICS_PORT', defaultPort: 4041 },
  watcherMetrics: { variable: 'METRICS_PORT', defaultPort: 4042 },
  webhookMetrics: { variable: 'METRICS_PORT', defaultPort: 4043 },
  dashboardMetrics: { variable: 'METRICS_PORT', defaultPort: 4044 },
  // Browsers refuse 4045.
  checkoutMetrics: { variable: 'METRICS_PORT', defaultPort: 4046 },
  archiveMetrics: { variable: 'METRICS_PORT', defaultPort: 4047 },
} as const satisfies Record<ChainName, Port> & Record<string, Port>;

export type PortName = keyof typeof PORTS;

export interface Settings {
  /** The repository. */
  readonly root: string;
  /** The programs that the bootstrap downloaded: `.tools` in the repository. */
  readonly tools: string;
  /** Everything the running stack writes, absolute. */
  readonly data: string;
  readonly ports: Readonly<Record<PortName, number>>;
  /** Where the local chains listen: loopback, except in a container. */
  readonly chainsHost: string;
  /** The number of blocks with which a local EVM chain is full: it restarts without its empty ones, in a second. */
  readonly blocksUntilFull: number;
  /** SECRETS_KEY; null: the data folder gets a key of its own. */
  readonly secretsKey: string | null;
  /** The addresses of backing services that run elsewhere, from the environment; null: the stack starts its own. */
  readonly external: {
    readonly database: string | null;
    readonly redis: string | null;
    readonly kafka: string | null;
    readonly chains: Readonly<Record<ChainName, string | null>>;
  };
}

/** The ports from 1024 that fetch and browsers refuse to connect to (https://fetch.spec.whatwg.org/#port-blocking). */
const BLOCKED: readonly number[] = [
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080,
];

const port = z.coerce.number().int().min(1).max(65_535);
const optionalText = z.string().trim().min(1).optional();
const environment = z.object({
  PF_DATA: z.string().min(1).default('.local'),
  CHAINS_HOST: z.ipv4().default('127.0.0.1'),
  // 10 minutes of Base, 25 of Tempo. anvil keeps every block in memory and writes them all whenever it saves.
  PF_CHAIN_BLOCKS: z.coerce.number().int().min(1_000).default(3_000),
  PF_PORT_SHIFT: z.coerce.number().int().min(0).max(60_000).default(0),
  SECRETS_KEY: optionalText,
  DATABASE_URL: optionalText,
  REDIS_URL: optionalText,
  KAFKA_BROKERS: optionalText,
  ...(Object.fromEntries(Object.values(CHAINS).map(({ upstreams }) => [upstreams, optionalText])) as Record<
    UpstreamVariable,
    typeof optionalText
  >),
  ...(Object.fromEntries(Object.values(PORTS).map(({ variable }) => [variable, port.optional()])) as Record<
    (typeof PORTS)[PortName]['variable'],
    z.ZodOptional<typeof port>
  >),
});

/**
 * Reads the stack's settings. A port's own variable wins; without it, the port is its default plus PF_PORT_SHIFT, so
 * that a second stack on the same machine needs two variables: `PF_DATA=… PF_PORT_SHIFT=1000`.
 * @throws Error with every variable that is invalid
 */
export function readSettings(env: Readonly<Record<string, string | undefined>>, root: string): Settings {
  // An empty variable counts as unset.
  const parsed = environment.safeParse(Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')));
  if (!parsed.success) {
    throw new Error(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('\n'));
  }
  const values = parsed.data;
  const names = Object.keys(PORTS) as PortName[];
  const ports = Object.fromEntries(
    names.map((name) => {
      const { variable, defaultPort } = PORTS[name];
      const chosen = values[variable];
      const port =
        chosen === undefined ? defaultPort + values.PF_PORT_SHIFT : chosen + defaultPort - firstDefaultOf(variable);
      return [name, port];
    }),
  ) as Record<PortName, number>;
  for (const name of names) {
    if (ports[name] > 65_535)
      throw new Error(
        `${PORTS[name].variable}: port ${ports[name]} of ${name} is above 65535. Set a smaller PF_PORT_SHIFT.`,
      );
    if (BLOCKED.includes(ports[name]))
      throw new Error(
        `${PORTS[name].variable}: fetch and browsers refuse port ${ports[name]}. Set another port, or another ` +
          'PF_PORT_SHIFT.',
      );
    const twin = names.find((other) => other !== name && ports[other] === ports[name]);
    if (twin) throw new Error(`${PORTS[name].variable} and ${PORTS[twin].variable} are both ${ports[name]}.`);
  }
  return {
    root,
    tools: path.join(root, '.tools'),
    data: path.resolve(root, values.PF_DATA),
    ports,
    chainsHost: values.CHAINS_HOST,
    blocksUntilFull: values.PF_CHAIN_BLOCKS,
    secretsKey: values.SECRETS_KEY ?? null,
    external: {
      database: values.DATABASE_URL ?? null,
      redis: values.REDIS_URL ?? null,
      kafka: values.KAFKA_BROKERS ?? null,
      chains: forEachChain((name) => values[CHAINS[name].upstreams] ?? null),
    },
  };
}

/** The default of the first port that a variable moves. */
const firstDefaultOf = (variable: string): number =>
  Math.min(...Object.values(PORTS).flatMap((port) => (port.variable === variable ? [port.defaultPort] : [])));
