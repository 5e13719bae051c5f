import { CHAIN_FAMILIES, type ChainFamily } from '@pf/domain';
import { arrayBytes, shuffled, spoiltEnvelopes } from './envelopes.ts';
import { type Behavior, refusal, type Refusal, rewriting, type World } from './exchange.ts';
import { flashblocks } from './flashblocks.ts';
import {
  batches,
  logRange,
  logResults,
  logs,
  rate,
  rateOfItems,
  sometimes,
  stateDepth,
  unsupported,
} from './limits.ts';
import { evmPool, solanaPool } from './pools.ts';
import { asTheyCome, type SocketBehavior, unreliable } from './streams.ts';

/** A provider's plan, or one of its troubles. */
export interface Profile {
  /** The chains that it serves. */
  readonly families: readonly ChainFamily[];
  /** What this service cannot do over this plan alone, and why. */
  readonly cannot: readonly string[];
  /** The names of its limits. */
  readonly limits: readonly string[];
  /** @throws Error for a limit that the profile does not have */
  start(limits: Readonly<Record<string, number>>): {
    readonly behaviors: readonly Behavior[];
    /** Null where the plan has no WebSockets. */
    readonly sockets: ((world: World) => SocketBehavior) | null;
  };
}

interface Plan<Limits> {
  readonly families: readonly ChainFamily[];
  readonly cannot?: readonly string[];
  readonly limits: Limits;
  readonly behaviors: (limits: Limits) => readonly Behavior[];
  readonly sockets?: null | ((limits: Limits) => (world: World) => SocketBehavior);
}

function requireLimits(limits: readonly string[], others: Readonly<Record<string, number>>): void {
  const unknown = Object.keys(others).find((name) => !limits.includes(name));
  if (unknown !== undefined) throw new Error(`The profile has no limit ${unknown}. It has ${limits.join(', ')}.`);
}

function plan<Limits extends Readonly<Record<string, number>>>({
  families,
  cannot = [],
  limits,
  behaviors,
  sockets = () => asTheyCome,
}: Plan<Limits>): Profile {
  return {
    families,
    cannot,
    limits: Object.keys(limits),
    start(others) {
      requireLimits(Object.keys(limits), others);
      const all = { ...limits, ...others };
      return { behaviors: behaviors(all), sockets: sockets && sockets(all) };
    },
  };
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;
const SENDS = ['sendTransaction', 'eth_sendRawTransaction'];
/** For `limits` that are written with types of their own: a caller may replace any number. */
const limits = <Name extends string>(values: Record<Name, number>): Record<Name, number> => values;

const hex = (value: number): string => `0x${value.toString(16)}`;
const thousands = (value: number): string => value.toLocaleString('en-US');
/** Base and QuickNode, which count to−from. */
const limitedRange = (max: number): Refusal =>
  refusal(413, -32_614, `eth_getLogs is limited to a ${thousands(max)} range`);

const ALCHEMY_PRICES = {
  eth_getLogs: 60,
  eth_call: 26,
  eth_feeHistory: 10,
  eth_sendRawTransaction: 40,
  getTransaction: 40,
  getMultipleAccounts: 11,
  sendTransaction: 10,
};
const ALCHEMY_PRICE = 20;
const INFURA_PRICES = { eth_getLogs: 255, eth_getBlockReceipts: 1_000, eth_estimateGas: 300 };
const INFURA_PRICE = 80;

/**
 * The plans of providers as read in autumn 2026, one for each row of what providers do; docs/internals/providers.md
 * lists them. Where a provider does not tell a number or a text, it is made up, and the comment says so.
 */
export const PROFILES = {
  'helius-free': plan({
    families: ['solana'],
    limits: limits({ callsPerSecond: 10, sendsPerSecond: 1 }),
    behaviors: ({ callsPerSecond, sendsPerSecond }) => [
      batches(0, [
        refusal(
          403,
          -32_403,
          'Batch requests are only available for paid plans. Please upgrade if you would like to gain access',
        ),
      ]),
      rate({ units: sendsPerSecond, perMs: SECOND, methods: SENDS }, refusal(429, -32_429, 'rate limited')),
      rate({ units: callsPerSecond, perMs: SECOND }, refusal(429, -32_429, 'rate limited')),
    ],
  }),
  'helius-paid': plan({
    families: ['solana'],
    limits: limits({ transactions: 100, history: 10, callsPerSecond: 50, sendsPerSecond: 5 }),
    behaviors: ({ transactions, history, callsPerSecond, sendsPerSecond }) => {
      // The body is unknown.
      const tooMany: Refusal = { status: 400, error: '' };
      return [
        batches(transactions, [tooMany], { methods: ['getTransaction'] }),
        batches(history, [tooMany], {
          methods: ['getSignaturesForAddress', 'getBlock', 'getBlocks', 'getBlockTime', 'getInflationReward'],
        }),
        batches(0, [tooMany], { methods: ['getTransactionsForAddress'] }),
        rate({ units: sendsPerSecond, perMs: SECOND, methods: SENDS }, refusal(429, -32_429, 'rate limited')),
        rate({ units: callsPerSecond, perMs: SECOND }, refusal(429, -32_429, 'rate limited')),
      ];
    },
  }),
  quicknode: plan({
    families: ['base', 'solana'],
    limits: limits({ callsPerSecond: 15, logBlocks: 5 }),
    behaviors: ({ callsPerSecond, logBlocks }) => [
      rateOfItems(
        { units: callsPerSecond, perMs: SECOND },
        refusal(
          429,
          -32_007,
          `${callsPerSecond}/second request limit reached - reduce calls per second or upgrade your account at ` +
            'quicknode.com',
        ),
      ),
      logRange(logBlocks, () => limitedRange(logBlocks)),
    ],
  }),
  'solana-public': plan({
    families: ['solana'],
    limits: limits({ callsPer10s: 100, callsOfMethodPer10s: 40, historyPer10s: 10 }),
    behaviors: ({ callsPer10s, callsOfMethodPer10s, historyPer10s }) => {
      const history = ['getTransaction', 'getSignaturesForAddress', 'getSignatureStatuses'];
      const others = ['getMultipleAccounts', 'getEpochInfo', 'getLatestBlockhash', 'simulateTransaction', ...SENDS];
      const spent = (method: number): Refusal => ({
        ...refusal(429, 429, 'Too many requests for a specific RPC call'),
        headers: {
          'retry-after': '10',
          'x-ratelimit-method-limit': String(method),
          'x-ratelimit-method-remaining': '0',
          'x-ratelimit-rps-limit': String(callsPer10s),
          'x-ratelimit-rps-remaining': '0',
          'x-ratelimit-conn-limit': '40',
          'x-ratelimit-conn-remaining': '39',
        },
      });
      const perMs = 10 * SECOND;
      return [
        rate({ units: callsPer10s, perMs }, spent(callsOfMethodPer10s)),
        ...history.map((method) => rate({ units: historyPer10s, perMs, methods: [method] }, spent(historyPer10s))),
        ...others.map((method) =>
          rate({ units: callsOfMethodPer10s, perMs, methods: [method] }, spent(callsOfMethodPer10s)),
        ),
      ];
    },
  }),
  'solana-pool': plan({
    families: ['solana'],
    limits: limits({ lag: 8, farLag: 150 }),
    behaviors: ({ lag, farLag }) => [solanaPool([0, lag, farLag])],
  }),
  'publicnode-solana': plan({
    families: ['solana'],
    limits: limits({ signatures: 86 }),
    behaviors: ({ signatures }) => [
      batches(0, [{ status: 400, error: '' }]),
      rewriting((call) => {
        if (call.method !== 'getSignaturesForAddress') return call;
        const [of, config] = call.params;
        const { before: _before, ...rest } = { ...(config as { readonly before?: unknown } | undefined) };
        const limit = 'limit' in rest && typeof rest.limit === 'number' ? rest.limit : signatures;
        return { ...call, params: [of, { ...rest, limit: Math.min(limit, signatures) }] };
      }),
    ],
  }),
  'alchemy-free': plan({
    families: ['base', 'solana'],
    limits: limits({ logBlocks: 10, unitsPerSecond: 500, unitsPerMonth: 30_000_000, batch: 1_000 }),
    behaviors: ({ logBlocks, unitsPerSecond, unitsPerMonth, batch }) => [
      shuffled,
      // The text of a plan that is spent is not known, only that it is no JSON; nor that of a large array.
      rate(
        { units: unitsPerMonth, perMs: 30 * DAY, prices: ALCHEMY_PRICES, price: ALCHEMY_PRICE },
        { status: 429, error: 'Monthly capacity limit exceeded.' },
      ),
      batches(batch, [refusal(400, -32_600, 'Batch size too large')]),
      rateOfItems(
        { units: unitsPerSecond, perMs: SECOND, prices: ALCHEMY_PRICES, price: ALCHEMY_PRICE },
        refusal(
          429,
          429,
          'Your app has exceeded its compute units per second capacity. If you have retries enabled, you can safely ' +
            'ignore this message. If not, check out https://docs.alchemy.com/reference/throughput',
        ),
      ),
      logRange(logBlocks, (from) =>
        refusal(
          400,
          -32_600,
          `Under the Free tier plan, you can make eth_getLogs requests with up to a ${logBlocks} block range. Based ` +
            `on your parameters, this block range should work: [${hex(from)}, ${hex(from + logBlocks - 1)}]. Upgrade ` +
            'to PAYG for expanded block range.',
        ),
      ),
    ],
  }),
  infura: plan({
    families: ['base'],
    limits: limits({
      creditsPerSecond: 500,
      creditsPerDay: 3_000_000,
      backOffSeconds: 30,
      logBlocks: 10_000,
      logResults: 10_000,
      filters: 5_000,
    }),
    behaviors: ({ creditsPerSecond, creditsPerDay, backOffSeconds, logBlocks, logResults: results, filters }) => [
      rate(
        { units: creditsPerDay, perMs: DAY, prices: INFURA_PRICES, price: INFURA_PRICE },
        refusal(402, 402, 'daily request count exceeded, request rate limited'),
      ),
      rate(
        { units: creditsPerSecond, perMs: SECOND, prices: INFURA_PRICES, price: INFURA_PRICE },
        refusal(429, -32_005, 'project ID request rate exceeded', { backoff_seconds: backOffSeconds }),
      ),
      // The code is not known.
      logs(() => ({ addresses, topics }) => {
        const count = addresses.length + topics.length;
        if (count <= filters) return null;
        return refusal(200, -32_602, `This query contains ${count} filters. The current limit is ${filters}.`);
      }),
      logRange(logBlocks, (from, to) => refusal(200, -32_602, `range ${to - from + 1} exceeds limit of ${logBlocks}`)),
      logResults(results, (from, to) =>
        refusal(
          200,
          -32_005,
          `query returned more than ${results} results. Try with this block range [${hex(from)}, ${hex(to)}].`,
        ),
      ),
    ],
  }),
  cdp: plan({
    families: ['base'],
    limits: limits({ logBlocks: 1_000 }),
    behaviors: ({ logBlocks }) => [
      logRange(logBlocks, () => refusal(200, -32_005, `please limit the query to at most ${logBlocks} blocks`)),
    ],
  }),
  'base-public': plan({
    families: ['base'],
    sockets: null,
    // How often it throttles and is without a node is made up.
    limits: limits({
      batch: 10,
      logRange: 2_000,
      laterLogRange: 500,
      queriesUntilLater: 20,
      callsPerSecond: 100,
      sendsPerSecond: 2,
      withoutNode: 0.01,
    }),
    behaviors: (of) => [
      batches(
        of.batch,
        [200, 413].map((status) => refusal(status, -32_014, 'too many RPC calls in batch request')),
      ),
      sometimes(of.withoutNode, refusal(503, -32_011, 'no backend is currently healthy to serve traffic')),
      rate({ units: of.callsPerSecond, perMs: SECOND }, refusal(429, -32_016, 'over rate limit')),
      rate(
        { units: of.sendsPerSecond, perMs: SECOND, methods: SENDS },
        refusal(200, -32_000, '429 Too Many Requests: {"code":-32016,"message":"over rate limit"}'),
      ),
      logs(() => {
        let queries = 0;
        return ({ range }) => {
          const max = queries++ < of.queriesUntilLater ? of.logRange : of.laterLogRange;
          return range !== null && range.to - range.from > max ? limitedRange(max) : null;
        };
      }),
    ],
  }),
  'base-pool': plan({
    families: ['base'],
    // When the nodes have a block that is the last for a while is made up.
    limits: limits({ lag: 1, farLag: 3, retriedSends: 0.1, catchUpMs: 30_000 }),
    behaviors: ({ lag, farLag, retriedSends, catchUpMs }) => [evmPool([0, lag, farLag], retriedSends, catchUpMs)],
  }),
  'base-flashblocks': plan({
    families: ['base'],
    limits: limits({ neverSealed: 0.001 }),
    behaviors: ({ neverSealed }) => [flashblocks(neverSealed)],
  }),
  'publicnode-base': plan({
    families: ['base'],
    cannot: ['confirm a payment: it refuses eth_getTransactionReceipt'],
    limits: limits({ logBlocks: 50_000, logDepth: 7_000, stateDepth: 128, addresses: 9 }),
    behaviors: ({ logBlocks, logDepth, stateDepth: states, addresses: max }) => {
      const archive = refusal(
        403,
        -32_602,
        'Archive requests require a personal token. Get one at: https://www.allnodes.com/publicnode',
      );
      const blocked = (what: string): Refusal => refusal(403, -32_602, `Request blocked. Details: blocked ${what}`);
      return [
        // The text is not known, nor the status of a range that is too long.
        unsupported(['eth_getTransactionReceipt'], blocked('parameter: method')),
        logs(() => ({ addresses, range, head }) => {
          if (addresses.length === 0) return refusal(403, -32_602, 'Please specify an address');
          if (addresses.length > max) return blocked('parameter: params.0.address.#');
          return range !== null && head - range.from > logDepth ? archive : null;
        }),
        logRange(logBlocks, () => refusal(400, -32_701, `exceed maximum block range: ${logBlocks}`)),
        stateDepth(states, archive),
      ];
    },
  }),
  'drpc-free': plan({
    families: ['base'],
    cannot: ['find a payment: it refuses eth_getLogs on Base, whatever the range'],
    // How often it fails is made up.
    limits: limits({ batch: 3, timeouts: 0.02, internalErrors: 0.02, publicLimits: 0.02 }),
    behaviors: ({ batch, timeouts, internalErrors, publicLimits }) => [
      batches(batch, [
        refusal(
          500,
          31,
          `Batch of more than ${batch} requests are not allowed on free tier, to use this feature register paid ` +
            'account at drpc.org',
        ),
      ]),
      sometimes(
        timeouts,
        refusal(408, 30, 'Request timeout on the free tier, please upgrade your tier to the paid one'),
      ),
      sometimes(
        internalErrors,
        refusal(500, 19, 'Temporary internal error. Please retry, trace-id: d13566efdd917dc22e5249387856f00d'),
      ),
      sometimes(publicLimits, refusal(200, 15, 'Public endpoint rate limit')),
      unsupported(['eth_getLogs'], refusal(400, 35, 'ranges over 10000 blocks are not supported on free plan')),
    ],
  }),
  'ankr-public': plan({
    families: ['base'],
    limits: limits({ batch: 10, logBlocks: 1_000, callsPerMinute: 1_800 }),
    sockets: null,
    behaviors: ({ batch, logBlocks, callsPerMinute }) => [
      // The texts of a large array and of too many calls are not known.
      batches(batch, [refusal(200, -32_600, 'batch size is too large')]),
      rate({ units: callsPerMinute, perMs: MINUTE }, { status: 429, error: 'Too Many Requests' }),
      logRange(logBlocks, () => refusal(200, -32_600, 'block range is too wide')),
    ],
  }),
  'tempo-rpc': plan({
    families: ['tempo'],
    limits: limits({ logBlocks: 100_000, logResults: 20_000, arrayBytes: 160 * 2 ** 20 }),
    behaviors: ({ logBlocks, logResults: results, arrayBytes: bytes }) => [
      arrayBytes(bytes),
      logRange(logBlocks, () => refusal(200, -32_602, `query exceeds max block range ${logBlocks}`)),
      logResults(results, (from, to) =>
        refusal(200, -32_602, `query exceeds max results ${results}, retry with the range ${from}-${to}`),
      ),
    ],
  }),
  'tempo-api': plan({
    families: ['tempo'],
    cannot: ['follow a chain: 20 calls a minute are fewer than watching it needs'],
    limits: limits({ callsPerMinute: 20 }),
    sockets: null,
    // The texts and the challenge are not known.
    behaviors: ({ callsPerMinute }) => [
      rate(
        { units: callsPerMinute, perMs: MINUTE },
        { status: 402, headers: { 'www-authenticate': 'Payment realm="api.tempo.xyz"' }, error: 'Payment Required' },
        { status: 429, headers: { 'retry-after': '12' }, error: 'Too Many Requests' },
      ),
    ],
  }),
  envelopes: plan({
    families: CHAIN_FAMILIES,
    limits: limits({ spoilt: 0.2, stallMs: 30 * SECOND }),
    behaviors: ({ spoilt, stallMs }) => [spoiltEnvelopes(spoilt, stallMs)],
  }),
  streams: plan({
    families: CHAIN_FAMILIES,
    limits: limits({ gap: 2, lateMs: 5 * SECOND }),
    behaviors: () => [],
    sockets: ({ gap, lateMs }) => unreliable(gap, lateMs),
  }),
} as const satisfies Readonly<Record<string, Profile>>;

export type ProfileName = keyof typeof PROFILES;
export const PROFILE_NAMES = Object.keys(PROFILES) as readonly ProfileName[];
/** A profile, or several at one URL: `base-public+envelopes`. The first is next to the node. */
export type ProfileNames = ProfileName | `${ProfileName}+${string}`;

/**
 * The profile of this name, or what several do together.
 * @throws Error for one that does not exist, with those that do, and for several that serve no chain together
 */
export function profileOf(names: string): Profile {
  const profiles = names.split('+').map((name): Profile => {
    if (Object.hasOwn(PROFILES, name)) return PROFILES[name as ProfileName];
    throw new Error(`there is no profile "${name}". The profiles are ${PROFILE_NAMES.join(', ')}.`);
  });
  const [only, ...others] = profiles;
  if (only !== undefined && others.length === 0) return only;
  const families = (only?.families ?? []).filter((family) => others.every((one) => one.families.includes(family)));
  if (families.length === 0) throw new Error(`the profiles of "${names}" serve no chain together.`);
  const limits = profiles.flatMap((profile) => profile.limits);
  return {
    families,
    cannot: profiles.flatMap(({ cannot }) => cannot),
    limits,
    start(values) {
      requireLimits(limits, values);
      const started = profiles.map((profile) =>
        profile.start(Object.fromEntries(Object.entries(values).filter(([name]) => profile.limits.includes(name)))),
      );
      const sockets = started.map((one) => one.sockets);
      return {
        behaviors: started.toReversed().flatMap(({ behaviors }) => behaviors),
        sockets: sockets.includes(null) ? null : (sockets.findLast((one) => one !== asTheyCome) ?? asTheyCome),
      };
    },
  };
}
