// What the service was measured to take, for estimates. The sources are tables of docs/internals/performance.md and
// docs/operations/providers.md: a test compares each figure with its row there.
import type { ChainFamily } from '@pf/chains/networks';
import { DELIVERY_DAYS } from '@pf/contracts';

/** Bytes of a payment with four events. */
export const BYTES = {
  /** In `intent.events`, on one broker. */
  kafkaEvents: 1_505,
  kafkaCommands: 1_021,
  postgresEvents: 5_310,
  postgresIntents: 4_918,
  /** Two requests. */
  postgresRequests: 1_489,
  postgresAll: 12_278,
  archive: 756,
  /** Its events to one webhook URL. */
  deliveries: 6_750,
  deliveryAttempts: 696,
} as const;

/** The events of a payment that `BYTES` was measured with: simulated, so without those that a chain causes. */
export const EVENTS_MEASURED = 4;
/** Requests that the request records of `BYTES` are of. */
export const REQUESTS_MEASURED = 2;

/** CPU of a create with a key of its own and 64 clients, in milliseconds of one core. */
export const CREATE_CPU_MS = { gateway: 0.74, intent: 0.61, kafka: 0.57, postgres: 0.19 } as const;

/** Deliveries a second on two cores, to one URL: the CPU of all processes, the receiver's with it. */
export const DELIVERIES_PER_SECOND = 5_651;
export const DELIVERY_CORES = 2;

/** Resident when nothing happens, in megabytes. */
export const AT_REST_MB = { redis: 12 } as const;

/** The most that a watcher takes with a million intents that have ended, while it loads them, in megabytes. */
export const WATCHER_MOST_MB = 349;

/** What a watcher keeps of an intent that has ended, in bytes: the most of all chain families. */
export const WATCHED_BYTES = { ended: 64 } as const;

/** Recipients with open intents that the plans below were measured with. */
export const RECIPIENTS_MEASURED = [100, 1_000, 10_000] as const;

/** What watching costs by a plan, in its credits. */
export interface PlanFigures {
  readonly family: ChainFamily;
  readonly preset: 'alchemy-paid' | 'helius-developer';
  /** Millions of credits in 30 days while nothing happens, by RECIPIENTS_MEASURED. */
  readonly idleMillions: readonly [number, number, number];
  /** Credits of a payment: found and followed by the watcher, with at most 1,000 recipients and with more. */
  readonly watched: { readonly few: number; readonly many: number };
  /** Credits of a payment: built, verified and broadcast by the gateway. */
  readonly served: number;
}

/** The plans that serve for long and whose credits a payment are known. */
export const PLANS: readonly PlanFigures[] = [
  {
    family: 'base',
    preset: 'alchemy-paid',
    idleMillions: [435, 244, 464],
    watched: { few: 474, many: 713 },
    served: 360,
  },
  {
    family: 'solana',
    preset: 'alchemy-paid',
    idleMillions: [88, 87, 167],
    watched: { few: 271, many: 271 },
    served: 323,
  },
  {
    family: 'solana',
    preset: 'helius-developer',
    idleMillions: [9.4, 9.4, 16.7],
    watched: { few: 46, many: 46 },
    served: 18,
  },
];

/** Calls a minute while nothing happens, by RECIPIENTS_MEASURED, of the families whose providers publish no price. */
export const UNPRICED_CALLS_PER_MINUTE: { readonly [Family in ChainFamily]?: readonly [number, number, number] } = {
  tempo: [247, 148, 211],
};

/** A service as its manifest in k8s/ runs it. */
interface Deployed {
  /** Connections to Postgres of one replica. */
  readonly connections: number;
  /** The share of a core that a replica asks for. */
  readonly cpu: number;
  readonly least: number;
  readonly most: number;
}

/** Of production: k8s/base, k8s/watcher, k8s/components/scaling. A test compares them. */
export const DEPLOYED = {
  gateway: { connections: 8, cpu: 0.5, least: 3, most: 12 },
  intent: { connections: 6, cpu: 0.5, least: 3, most: 12 },
  webhook: { connections: 10, cpu: 0.25, least: 3, most: 12 },
  dashboard: { connections: 6, cpu: 0.25, least: 2, most: 3 },
  checkout: { connections: 4, cpu: 0.25, least: 2, most: 3 },
  /** For each network. */
  watcher: { connections: 4, cpu: 0.25, least: 3, most: 3 },
} as const satisfies Readonly<Record<string, Deployed>>;
/** Connections of `migrate`, `pf`, KEDA and psql. */
export const OTHER_CONNECTIONS = 10;
/** The share of the CPU of a replica at which another is added. */
export const TARGET_UTILIZATION = 0.6;
/** The limit of a container's memory that every manifest of a service has, in MiB. */
export const MEMORY_LIMIT_MIB = 512;

/** Days that records are kept. */
export const KEPT_DAYS = { kafkaCommands: 7, postgresRequests: 7, deliveries: DELIVERY_DAYS, watched: 30 } as const;
