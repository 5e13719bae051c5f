import { type ChainFamily, networks } from '@pf/chains';
import { dollarsAMonth, PRESETS } from '@pf/rpc';
import {
  AT_REST_MB,
  BYTES,
  CREATE_CPU_MS,
  DELIVERIES_PER_SECOND,
  DELIVERY_CORES,
  DEPLOYED,
  EVENTS_MEASURED,
  KEPT_DAYS,
  MEMORY_LIMIT_MIB,
  OTHER_CONNECTIONS,
  type PlanFigures,
  PLANS,
  RECIPIENTS_MEASURED,
  REQUESTS_MEASURED,
  TARGET_UTILIZATION,
  UNPRICED_CALLS_PER_MINUTE,
  WATCHED_BYTES,
  WATCHER_MOST_MB,
} from './figures.ts';

const DAYS_A_MONTH = 30;
const SECONDS_A_MONTH = DAYS_A_MONTH * 24 * 60 * 60;
const MEBIBYTE = 1024 ** 2;
const MEGABYTE = 1e6;

/** What is to be carried. */
export interface Load {
  readonly paymentsPerMonth: number;
  /** How many times as much as on average comes in the busiest minute. */
  readonly peakFactor: number;
  readonly brokers: number;
  /** Names of networks, each with watchers of its own. All payments may be on any live one; test ones have none. */
  readonly networks: readonly string[];
  /** Recipients of open intents on one network. */
  readonly recipients: number;
  /** After so many months disks are looked at. */
  readonly months: number;
  /** Webhook URLs that get the events of a payment. */
  readonly webhooks: number;
  /** API requests for a payment: its create, and what asks how it goes. */
  readonly requests: number;
  /** Events of a payment. */
  readonly events: number;
}

interface Replicas {
  /** For the peak, whatever the manifests allow. */
  readonly needed: number;
  /** As the manifests scale: between least and most. */
  readonly run: number;
  readonly most: number;
}

interface RpcCost {
  readonly network: string;
  readonly plan: string;
  readonly idleCredits: number;
  readonly paymentCredits: number;
  /** Null: no plan that is known has so many. */
  readonly dollarsAMonth: number | null;
  /** Credits a second at the peak, and what the plan allows; null where it counts calls. */
  readonly peakCreditsPerSecond: number;
  readonly allowedCreditsPerSecond: number | null;
}

export interface Estimate {
  readonly load: Load;
  readonly perSecond: Readonly<Record<'creates' | 'requests' | 'events' | 'deliveries', Rate>>;
  /** Gigabytes (10⁹ bytes) after `load.months`. */
  readonly gigabytes: {
    readonly kafkaPerBroker: number;
    readonly kafkaAll: number;
    readonly postgres: number;
    readonly archive: number;
  };
  /** Megabytes of memory. */
  readonly memory: {
    readonly redisAtLeast: number;
    /** The limit of a watcher's container. */
    readonly watcherLimitMiB: number;
    readonly otherLimitMiB: number;
  };
  /** Cores at the peak. */
  readonly cores: Readonly<Record<'gateway' | 'intent' | 'kafka' | 'postgres' | 'webhook' | 'all', number>>;
  readonly replicas: Readonly<
    Record<'gateway' | 'intent' | 'webhook' | 'watcher' | 'dashboard' | 'checkout', Replicas>
  >;
  /** Connections to Postgres when every service runs as many replicas as its manifest allows, and during a rollout. */
  readonly connections: number;
  readonly rpc: readonly RpcCost[];
  /** Calls a minute of a watcher where the provider publishes no price. */
  readonly unpriced: readonly { readonly network: string; readonly callsPerMinute: number }[];
  /** What the manifests do not carry as they are. */
  readonly beyond: readonly string[];
}
interface Rate {
  readonly average: number;
  readonly peak: number;
}

/** What a load takes, by what was measured. Pure: the same load gives the same estimate. */
export function estimate(load: Load): Estimate {
  const rate = (perPayment: number): Rate => {
    const average = (load.paymentsPerMonth * perPayment) / SECONDS_A_MONTH;
    return { average, peak: average * load.peakFactor };
  };
  const perSecond = {
    creates: rate(1),
    requests: rate(load.requests),
    events: rate(load.events),
    deliveries: rate(load.events * load.webhooks),
  };
  const cores = coresOf(perSecond);
  const replicas = replicasOf(cores);
  const watcherLimitMiB = watcherLimit(load);
  const rpc = load.networks.flatMap((network) => costsOf(network, load));
  const estimated = {
    load,
    perSecond,
    gigabytes: gigabytesOf(load),
    memory: { redisAtLeast: AT_REST_MB.redis, watcherLimitMiB, otherLimitMiB: MEMORY_LIMIT_MIB },
    cores,
    replicas,
    connections: connectionsOf(load.networks.length),
    rpc,
    unpriced: load.networks.flatMap((network) => {
      const family = familyOf(network);
      const measured = family && UNPRICED_CALLS_PER_MINUTE[family];
      return measured ? [{ network, callsPerMinute: byRecipients(measured, load.recipients) }] : [];
    }),
  };
  return { ...estimated, beyond: beyondManifests(estimated) };
}

const familyOf = (network: string): ChainFamily | undefined => networks.find(({ name }) => name === network)?.family;
const isLive = (network: string): boolean => networks.some(({ name, livemode }) => name === network && livemode);

/** Every event is an input to the writer, and a create is the most expensive one: an upper bound. */
function coresOf({ requests, events, deliveries }: Estimate['perSecond']): Estimate['cores'] {
  const busy = (each: number, { peak }: Rate): number => (each / 1_000) * peak;
  const cores = {
    gateway: busy(CREATE_CPU_MS.gateway, requests),
    intent: busy(CREATE_CPU_MS.intent, events),
    kafka: busy(CREATE_CPU_MS.kafka, events),
    postgres: busy(CREATE_CPU_MS.postgres, events),
    webhook: (DELIVERY_CORES / DELIVERIES_PER_SECOND) * deliveries.peak,
  };
  return { ...cores, all: Object.values(cores).reduce((sum, each) => sum + each, 0) };
}

function replicasOf(cores: Estimate['cores']): Estimate['replicas'] {
  const replicas = (name: keyof typeof DEPLOYED, busy: number): Replicas => {
    const { cpu, least, most } = DEPLOYED[name];
    const needed = Math.max(1, Math.ceil(busy / (cpu * TARGET_UTILIZATION)));
    return { needed, run: Math.min(Math.max(needed, least), most), most };
  };
  return {
    gateway: replicas('gateway', cores.gateway),
    intent: replicas('intent', cores.intent),
    webhook: replicas('webhook', cores.webhook),
    watcher: replicas('watcher', 0),
    dashboard: replicas('dashboard', 0),
    checkout: replicas('checkout', 0),
  };
}

function gigabytesOf({ paymentsPerMonth, months, brokers, events, requests, webhooks }: Load): Estimate['gigabytes'] {
  const all = paymentsPerMonth * months;
  /** How many payments there were in the last days. */
  const within = (days: number): number => paymentsPerMonth * Math.min(months, days / DAYS_A_MONTH);
  const eventful = events / EVENTS_MEASURED;
  const kafkaPerBroker =
    all * BYTES.kafkaEvents * eventful + within(KEPT_DAYS.kafkaCommands) * BYTES.kafkaCommands * eventful;
  const shortLived = (BYTES.postgresRequests * requests) / REQUESTS_MEASURED;
  const rest = BYTES.postgresAll - BYTES.postgresEvents - BYTES.postgresIntents - BYTES.postgresRequests;
  // What else a payment leaves in Postgres is counted as if it stayed.
  const lasting = BYTES.postgresEvents * eventful + BYTES.postgresIntents + rest;
  const delivered = (BYTES.deliveries + BYTES.deliveryAttempts) * eventful * webhooks;
  // Each partition has three copies, or one on each broker where there are fewer.
  const copies = Math.min(3, brokers);
  const gigabytes = (bytes: number): number => bytes / 1e9;
  return {
    kafkaPerBroker: gigabytes((kafkaPerBroker * copies) / brokers),
    kafkaAll: gigabytes(kafkaPerBroker * copies),
    postgres: gigabytes(
      all * lasting + within(KEPT_DAYS.postgresRequests) * shortLived + within(KEPT_DAYS.deliveries) * delivered,
    ),
    archive: gigabytes(all * BYTES.archive * eventful),
  };
}

/** A watcher keeps what is open, which is little beside it, and how to find what was closed within WATCH_DAYS. */
function watcherLimit({ paymentsPerMonth, months }: Load): number {
  const kept = paymentsPerMonth * Math.min(months, KEPT_DAYS.watched / DAYS_A_MONTH);
  const bytes = WATCHER_MOST_MB * MEGABYTE + kept * WATCHED_BYTES.ended;
  return Math.max(MEMORY_LIMIT_MIB, Math.ceil(bytes / MEBIBYTE / MEMORY_LIMIT_MIB) * MEMORY_LIMIT_MIB);
}

/** The formula of docs/operations/databases.md. */
function connectionsOf(watched: number): number {
  const { watcher, ...services } = DEPLOYED;
  const all = Object.values(services).reduce((sum, { most, connections }) => sum + (most + 1) * connections, 0);
  return all + watched * (watcher.most + 1) * watcher.connections + OTHER_CONNECTIONS;
}

/** Of the least measured number that is not smaller; at 1,000 and more of the larger of its neighbors, too. */
function byRecipients(figures: readonly [number, number, number], recipients: number): number {
  const above = RECIPIENTS_MEASURED.findIndex((measured) => recipients <= measured);
  return Math.max(...figures.slice(Math.max(0, above - 1), above + 1));
}

function costsOf(network: string, load: Load): readonly RpcCost[] {
  const { recipients, peakFactor } = load;
  // Test networks are watched all the same.
  const paymentsPerMonth = isLive(network) ? load.paymentsPerMonth : 0;
  return PLANS.filter(({ family }) => family === familyOf(network)).map((figures: PlanFigures) => {
    const { prices, plan } = PRESETS[figures.preset];
    const each = figures.served + (recipients > 1_000 ? figures.watched.many : figures.watched.few);
    const idleCredits = byRecipients(figures.idleMillions, recipients) * 1e6;
    const paymentCredits = paymentsPerMonth * each;
    return {
      network,
      plan: figures.preset,
      idleCredits,
      paymentCredits,
      dollarsAMonth: dollarsAMonth(prices, idleCredits + paymentCredits),
      peakCreditsPerSecond: (idleCredits + paymentCredits * peakFactor) / SECONDS_A_MONTH,
      allowedCreditsPerSecond: 'creditsPerSecond' in plan ? plan.creditsPerSecond : null,
    };
  });
}

function beyondManifests({ replicas, memory, rpc }: Omit<Estimate, 'beyond'>): readonly string[] {
  return [
    ...Object.entries(replicas)
      .filter(([, { needed, most }]) => needed > most)
      .map(
        ([service, { needed, most }]) =>
          `${service}: the peak needs ${needed} replicas, and k8s/components/scaling allows ${most}.`,
      ),
    ...(memory.watcherLimitMiB > MEMORY_LIMIT_MIB
      ? [
          `watcher: its container needs ${memory.watcherLimitMiB} MiB; k8s/watcher/watcher.yaml allows ` +
            `${MEMORY_LIMIT_MIB}. Raise that, or lower WATCH_DAYS.`,
        ]
      : []),
    ...rpc
      .filter(({ dollarsAMonth: dollars }) => dollars === null)
      .map(
        ({ network, plan }) =>
          `${network}: ${plan} has too few credits, and so has every larger plan of its provider that is known.`,
      ),
    ...rpc.flatMap(({ network, plan, peakCreditsPerSecond: peak, allowedCreditsPerSecond: allowed }) =>
      allowed !== null && peak > allowed
        ? [
            `${network}: the peak takes ${Math.ceil(peak)} credits a second, and ${plan} allows ${allowed}. ` +
              'Divide the calls among several plans.',
          ]
        : [],
    ),
  ];
}
