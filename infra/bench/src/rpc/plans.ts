import type { ChainFamily } from '@pf/chains/networks';
import type { PresetName } from '@pf/rpc';
import { type ProfileName, PROFILES } from '@pf/testing/providers';

/** A provider's plan: how it is simulated, and how the services are configured for it. */
export interface BenchedPlan {
  readonly profile: ProfileName;
  /** What the plan allows where it is not the one that the profile simulates. */
  readonly limits?: Readonly<Record<string, number>>;
  /** Undefined: the limits are learned. */
  readonly preset?: PresetName;
}

/** Nothing that a run reaches. */
const PLENTY = 1e9;

const PLANS = {
  /** No limit at all: what differs is its WebSockets. */
  unlimited: { profile: 'streams' },
  'helius-free': { profile: 'helius-free', preset: 'helius-free' },
  'helius-developer': { profile: 'helius-paid', preset: 'helius-developer' },
  'helius-business': {
    profile: 'helius-paid',
    limits: { callsPerSecond: 200, sendsPerSecond: 50 },
    preset: 'helius-business',
  },
  'alchemy-free': { profile: 'alchemy-free', preset: 'alchemy-free' },
  'alchemy-paid': {
    profile: 'alchemy-free',
    limits: { logBlocks: 2_000, unitsPerSecond: 10_000, unitsPerMonth: PLENTY },
    preset: 'alchemy-paid',
  },
  'quicknode-free': { profile: 'quicknode', preset: 'quicknode-free' },
  'quicknode-build': {
    profile: 'quicknode',
    limits: { callsPerSecond: 50, logBlocks: 10_000 },
    preset: 'quicknode-build',
  },
  'infura-free': { profile: 'infura', preset: 'infura-free' },
  'infura-developer': {
    profile: 'infura',
    limits: { creditsPerSecond: 4_000, creditsPerDay: 15_000_000 },
    preset: 'infura-developer',
  },
  cdp: { profile: 'cdp', preset: 'cdp' },
  'base-public': { profile: 'base-public', preset: 'base-public' },
  'base-pool': { profile: 'base-pool' },
  'base-flashblocks': { profile: 'base-flashblocks' },
  'publicnode-base': { profile: 'publicnode-base', preset: 'publicnode-base' },
  'drpc-free': { profile: 'drpc-free', preset: 'drpc-free' },
  'ankr-public': { profile: 'ankr-public', preset: 'ankr-public' },
  'solana-public': { profile: 'solana-public', preset: 'solana-devnet-public' },
  'solana-pool': { profile: 'solana-pool' },
  'publicnode-solana': { profile: 'publicnode-solana', preset: 'publicnode-solana' },
  'tempo-public': { profile: 'tempo-rpc', preset: 'tempo-public' },
  'tempo-api': { profile: 'tempo-api', preset: 'tempo-api' },
  envelopes: { profile: 'envelopes' },
} as const satisfies Readonly<Record<string, BenchedPlan>>;
export type PlanName = keyof typeof PLANS;
export const PLAN_NAMES = Object.keys(PLANS) as readonly PlanName[];

export const planNamed = (name: PlanName): BenchedPlan => PLANS[name];

/** The chains that a plan serves. */
export const familiesOf = (name: PlanName): readonly ChainFamily[] => PROFILES[PLANS[name].profile].families;
/** What cannot be done over it alone, and why; empty where it serves. */
export const lacksOf = (name: PlanName): readonly string[] => PROFILES[PLANS[name].profile].cannot;
