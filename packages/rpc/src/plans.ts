import type { PriceList } from './prices.ts';

/** What an upstream allows. What is not known is learned from its refusals, and forgotten after an hour. */
export interface Plan {
  readonly callsPerSecond?: number | undefined;
  /** Broadcasts have a bucket of their own. Default: as many as reads. */
  readonly sendsPerSecond?: number | undefined;
  /** By the prices of the preset. */
  readonly creditsPerSecond?: number | undefined;
  /** Calls of one HTTP request; 1: single ones only. */
  readonly batch?: number | undefined;
  /** Blocks of one eth_getLogs, and addresses in its filter. */
  readonly logRange?: number | undefined;
  readonly logAddresses?: number | undefined;
  /** Values in one position of the topics of its filter: recipients, that is. */
  readonly logTopics?: number | undefined;
  /** How many blocks back it has logs. */
  readonly historyBlocks?: number | undefined;
  /** Methods that it does not have: they are not asked there. */
  readonly unsupported?: readonly string[] | undefined;
}

/** The plan of a provider. */
export interface Preset {
  readonly plan: Plan;
  readonly prices?: PriceList;
  /** Where the figures are from, and when they were read. */
  readonly source: string;
}

const READ = 'read 21 November 2026';

/** The plans of providers that are known. Figures change: what is wrong here is learned, as what is missing. */
export const PRESETS = {
  'helius-free': {
    plan: { callsPerSecond: 10, sendsPerSecond: 1, batch: 1 },
    prices: 'helius',
    source: `helius.dev/docs/billing/rate-limits; batches: errors quoted by public clients; ${READ}`,
  },
  'helius-developer': {
    plan: { callsPerSecond: 50, sendsPerSecond: 5, batch: 10 },
    prices: 'helius',
    source: `helius.dev/docs/billing/rate-limits, ${READ}`,
  },
  'helius-business': {
    plan: { callsPerSecond: 200, sendsPerSecond: 50, batch: 10 },
    prices: 'helius',
    source: `helius.dev/docs/billing/rate-limits, ${READ}`,
  },
  'helius-professional': {
    plan: { callsPerSecond: 500, sendsPerSecond: 100, batch: 10 },
    prices: 'helius',
    source: `helius.dev/docs/billing/rate-limits, ${READ}`,
  },
  'alchemy-free': {
    plan: { creditsPerSecond: 500, logRange: 10 },
    prices: 'alchemy',
    source: `alchemyplatform/docs, June 2025; log range: errors quoted by public clients; ${READ}`,
  },
  'alchemy-paid': {
    plan: { creditsPerSecond: 10_000, logRange: 2_000 },
    prices: 'alchemy',
    source: `alchemyplatform/docs, June 2025; ${READ}`,
  },
  'quicknode-free': {
    plan: { callsPerSecond: 15, logRange: 5 },
    prices: 'quicknode',
    source: `quicknode.com/docs/base/error-references, April 2026; rate: an aggregator, not verified; ${READ}`,
  },
  'quicknode-build': {
    plan: { callsPerSecond: 50, logRange: 10_000 },
    prices: 'quicknode',
    source: `quicknode.com/docs/base/error-references, April 2026; rate: an aggregator, not verified; ${READ}`,
  },
  'infura-free': {
    plan: { creditsPerSecond: 500, logRange: 10_000 },
    prices: 'infura',
    source: `docs.metamask.io/services; log range: INFURA/infura#237, August 2026; ${READ}`,
  },
  'infura-developer': {
    plan: { creditsPerSecond: 4_000, logRange: 10_000 },
    prices: 'infura',
    source: `docs.metamask.io/services; log range: INFURA/infura#237, August 2026; ${READ}`,
  },
  'infura-team': {
    plan: { creditsPerSecond: 40_000, logRange: 10_000 },
    prices: 'infura',
    source: `docs.metamask.io/services; log range: INFURA/infura#237, August 2026; ${READ}`,
  },
  cdp: {
    plan: { callsPerSecond: 50, creditsPerSecond: 1_500, logRange: 1_000 },
    prices: 'cdp',
    source: `docs.cdp.coinbase.com/data/node/pricing; log range: ponder-sh/ponder, August 2026; ${READ}`,
  },
  'base-public': {
    plan: { batch: 10, logRange: 500 },
    source: `ethereum-optimism/infra proxyd/backend.go; log range: public fixtures of October 2026; ${READ}`,
  },
  'publicnode-base': {
    plan: {
      batch: 100,
      logRange: 5_000,
      logAddresses: 9,
      historyBlocks: 7_000,
      unsupported: ['eth_getTransactionReceipt'],
    },
    source: `public fixtures and comments, September and October 2026; ${READ}`,
  },
  'publicnode-solana': { plan: { batch: 1 }, source: `a public Solana client’s configuration; ${READ}` },
  'drpc-free': {
    plan: {
      creditsPerSecond: 840,
      batch: 3,
      unsupported: ['eth_getLogs', 'debug_traceTransaction', 'trace_filter'],
    },
    prices: 'drpc',
    source: `drpcorg/drpc-nextra, May 2026; logs on Base: public fixtures of September 2026; ${READ}`,
  },
  'ankr-public': {
    plan: { callsPerSecond: 30, batch: 10, logRange: 1_000 },
    prices: 'ankr',
    source: `Ankr-network/ankr-docs, May 2026; ${READ}`,
  },
  'ankr-freemium': {
    plan: { callsPerSecond: 30, batch: 100, logRange: 3_000 },
    prices: 'ankr',
    source: `Ankr-network/ankr-docs, May 2026; ${READ}`,
  },
  'ankr-premium': {
    plan: { batch: 100, logRange: 10_000 },
    prices: 'ankr',
    source: `Ankr-network/ankr-docs, May 2026; ${READ}`,
  },
  'tempo-public': { plan: { logRange: 100_000 }, source: `rpc.tempo.xyz: reports, and reth’s wording; ${READ}` },
  'tempo-api': {
    plan: { callsPerSecond: 20 / 60 },
    source: `tempoxyz/docs, August 2026: 20 a minute without a key; ${READ}`,
  },
  'tempo-api-key': { plan: { callsPerSecond: 100 / 60 }, source: `tempoxyz/docs, August 2026: 100 a minute; ${READ}` },
  'solana-public': {
    plan: { callsPerSecond: 4 },
    source: `solana.com/docs/references/clusters: 40 of one method in 10 s; ${READ}`,
  },
  'solana-devnet-public': {
    plan: { callsPerSecond: 1 },
    source: `a public probe of devnet: 10 of some methods in 10 s; ${READ}`,
  },
} as const satisfies Readonly<Record<string, Preset>>;
export type PresetName = keyof typeof PRESETS;
export const presetNames = Object.keys(PRESETS) as [PresetName, ...PresetName[]];
