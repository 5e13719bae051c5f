import path from 'node:path';
import type { UpstreamVariable } from '@pf/chains/networks';
import { z } from 'zod';
import { CHAINS, type ChainName, forEachChain } from '../chains/chains.ts';

/**
 * Every port of the local stack, the variable that moves it (with those after it of the same variable), and where it is
 * otherwise.
 */
export const PORTS = {
  gateway: { variable: 'GATEWAY_PORT', usual: 4000 },
  intent: { variable: 'INTENT_PORT', usual: 4001 },
  watcher: { variable: 'WATCHER_PORT', usual: 4002 },
  webhook: { variable: 'WEBHOOK_PORT', usual: 4003 },
  postgres: { variable: 'POSTGRES_PORT', usual: 4010 },
  redis: { variable: 'REDIS_PORT', usual: 4011 },
  kafka: { variable: 'KAFKA_PORT', usual: 4012 },
  kafkaController: { variable: 'KAFKA_CONTROLLER_PORT', usual: 4013 },
  base: { variable: 'BASE_PORT', usual: 4020 },
  baseLive: { variable: 'BASE_LIVE_PORT', usual: 4021 },
  solana: { variable: 'SOLANA_PORT', usual: 4022 },
  // Solana's clients look for the WebSocket one port further.
  solanaWebSocket: { variable: 'SOLANA_PORT', usual: 4023 },
  tempo: { variable: 'TEMPO_PORT', usual: 4024 },
  sanctions: { variable: 'SANCTIONS_PORT', usual: 4030 },
  gatewayMetrics: { variable: 'METRICS_PORT', usual: 4040 },
  intentMetrics: { variable: 'METRICS_PORT', usual: 4041 },
  watcherMetrics: { variable: 'METRICS_PORT', usual: 4042 },
  webhookMetrics: { variable: 'METRICS_PORT', usual: 4043 },
} as const;

export type PortName = keyof typeof PORTS;

export interface Settings {
  /** The repository. */
  readonly root: string;
  /** Programs the bootstrap fetched: `.tools` in the repository. */
  readonly tools: string;
  /** Everything the running stack writes, absolute. */
  readonly data: string;
  readonly ports: Readonly<Record<PortName, number>>;
  /** Where the local chains listen: loopback, except in a container. */
  readonly chainsHost: string;
  /** SECRETS_KEY; null where the data folder is to have one of its own. */
  readonly secretsKey: string | null;
  /**
   * Backing parts that run elsewhere: their addresses as the environment gives them; null where one is to be started.
   */
  readonly given: {
    readonly database: string | null;
    readonly redis: string | null;
    readonly kafka: string | null;
    readonly chains: Readonly<Record<ChainName, string | null>>;
  };
}

/** Ports that fetch and browsers refuse to talk to (https://fetch.spec.whatwg.org/#port-blocking), from 1024 on. */
const BLOCKED: readonly number[] = [
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080,
];

const port = z.coerce.number().int().min(1).max(65_535);
const given = z.string().trim().min(1).optional();
const environment = z.object({
  PF_DATA: z.string().min(1).default('.local'),
  CHAINS_HOST: z.ipv4().default('127.0.0.1'),
  PF_PORT_SHIFT: z.coerce.number().int().min(0).max(60_000).default(0),
  SECRETS_KEY: given,
  DATABASE_URL: given,
  REDIS_URL: given,
  KAFKA_BROKERS: given,
  ...(Object.fromEntries(Object.values(CHAINS).map(({ upstreams }) => [upstreams, given])) as Record<
    UpstreamVariable,
    typeof given
  >),
  ...(Object.fromEntries(Object.values(PORTS).map(({ variable }) => [variable, port.optional()])) as Record<
    (typeof PORTS)[PortName]['variable'],
    z.ZodOptional<typeof port>
  >),
});

/**
 * Reads the stack's settings. A port's own variable wins; else it is the usual one plus PF_PORT_SHIFT, so that a
 * second stack beside the first takes two variables: `PF_DATA=… PF_PORT_SHIFT=1000`.
 * @throws Error naming every variable that is wrong
 */
export function readSettings(env: Readonly<Record<string, string | undefined>>, root: string): Settings {
  // An empty variable is one that is not set.
  const parsed = environment.safeParse(Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')));
  if (!parsed.success) {
    throw new Error(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('\n'));
  }
  const values = parsed.data;
  const names = Object.keys(PORTS) as PortName[];
  const ports = Object.fromEntries(
    names.map((name) => {
      const { variable, usual } = PORTS[name];
      const chosen = values[variable];
      return [name, chosen === undefined ? usual + values.PF_PORT_SHIFT : chosen + usual - firstOf(variable)];
    }),
  ) as Record<PortName, number>;
  for (const name of names) {
    if (ports[name] > 65_535)
      throw new Error(
        `${PORTS[name].variable}: port ${ports[name]} of ${name} is above 65535. Choose a smaller PF_PORT_SHIFT.`,
      );
    if (BLOCKED.includes(ports[name]))
      throw new Error(
        `${PORTS[name].variable}: fetch and browsers refuse port ${ports[name]}; choose another, or another ` +
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
    secretsKey: values.SECRETS_KEY ?? null,
    given: {
      database: values.DATABASE_URL ?? null,
      redis: values.REDIS_URL ?? null,
      kafka: values.KAFKA_BROKERS ?? null,
      chains: forEachChain((name) => values[CHAINS[name].upstreams] ?? null),
    },
  };
}

/** Where the first of the ports is otherwise that a variable moves. */
const firstOf = (variable: string): number =>
  Math.min(...Object.values(PORTS).flatMap((port) => (port.variable === variable ? [port.usual] : [])));
