import { randomBytes } from 'node:crypto';
import { base58 } from '@scure/base';
import { type ChainAdapter, type ChainObserver, createChains, type Network, RpcUnavailableError } from '@pf/chains';
import type { Address, IntentId, PaymentTerms, Reference, TokenAddress } from '@pf/domain';
import { type PriceList, PRESETS, dollarsAMonth, priceOf, upstreamSchema } from '@pf/rpc';
import { createLogger } from '@pf/runtime';
import { type StackChain, type StackWallet, until } from '@pf/testing';
import { type Provider, startProvider } from '@pf/testing/providers';
import { newWallet, walletOn } from '@pf/testing/wallets';
import { getAddress, toHex } from 'viem';
import { OpenIntents } from './open-intents.ts';
import { type BenchedPlan, lacksOf, type PlanName, planNamed } from './plans.ts';
import { type Stored, timePasses, Watch } from './watch.ts';

/** Payments of each run, one after the other: to new intents, and to those that have waited for long. */
const NEW_PAYMENTS = 4;
const OLD_PAYMENTS = 2;
const UNITS = 3_000_000n;
/** What a payment still costs after it was found: second readings, finality, a new recipient's list after 80 s. */
const AFTER_MS = 90_000;
const PRESENT_WITHIN_MS = 300_000;
/** The first start lists the transactions of every account. */
const WARM_WITHIN_MS = 1_200_000;
const FOUND_WITHIN_MS = 120_000;
const ATTEMPTS = 30;
const HOUR_MS = 3_600_000;
const SECONDS_A_MONTH = 30 * 86_400;

/** A network with open intents, watched until all were known. */
export interface Benched {
  readonly network: Network;
  readonly chain: StackChain;
  /** Of one intent for each recipient, made long ago. */
  readonly open: readonly PaymentTerms[];
  readonly stored: Stored;
}

interface Cost {
  readonly ms: number;
  readonly calls: number;
  readonly byMethod: Readonly<Record<string, number>>;
  readonly requests: number;
  /** Null where prices are not known. */
  readonly credits: number | null;
}

/** What was measured of one plan before one network. */
export interface Row {
  readonly network: string;
  readonly plan: PlanName;
  readonly recipients: number;
  /** Why it does not serve; the rest is null then. */
  readonly cannot: string | null;
  readonly measured: {
    /** Until the present is reached. */
    readonly restart: Cost;
    readonly quiet: {
      readonly callsAMinute: number;
      readonly callsAMinuteByMethod: Readonly<Record<string, number>>;
      readonly requestsAMinute: number;
      readonly creditsAMonth: number | null;
      readonly dollarsAMonth: number | null;
      /** Steps that no upstream let come to their end, and why the last did not. */
      readonly failures: number;
      readonly problem: string | null;
    };
    readonly payment: {
      /** ms from when the wallet begins to pay, unannounced, until the payment is observed; null: not found. */
      readonly newMs: readonly (number | null)[];
      readonly oldMs: readonly (number | null)[];
      /** Of a new intent that is paid right after the start, before the present is reached. */
      readonly meanwhileMs: readonly (number | null)[];
      /** What the watcher asks more than when nothing happens, for one payment. */
      readonly watch: Pick<Cost, 'calls' | 'credits'>;
      /** Build, verification and broadcast. */
      readonly gateway: Pick<Cost, 'calls' | 'credits'>;
    };
  } | null;
}

/** So many recipients without a key, and an intent of each. */
export function openOn(chain: StackChain, { family, chain: id }: Network, count: number): readonly PaymentTerms[] {
  const random = (): string =>
    family === 'solana' ? base58.encode(randomBytes(32)) : getAddress(toHex(randomBytes(20)));
  return Array.from({ length: count }, () => ({ ...termsOn(chain, id, random()) }));
}

function termsOn(chain: StackChain, id: Network['chain'], requestor: string): PaymentTerms {
  const isSolana = id.startsWith('solana:');
  return {
    chain: id,
    tokenAddress: (chain.tokens['USDC'] ?? '') as TokenAddress,
    amount: UNITS,
    requestor: requestor as Address,
    reference: (isSolana ? base58.encode(randomBytes(32)) : toHex(randomBytes(32))) as Reference,
  };
}

interface Served {
  readonly observer: ChainObserver;
  readonly adapter: ChainAdapter;
  readonly provider: Provider;
  readonly stop: () => Promise<void>;
}

async function serve({ network, chain }: Pick<Benched, 'network' | 'chain'>, plan: BenchedPlan): Promise<Served> {
  const provider = await startProvider(plan.profile, chain.rpcUrl, { limits: plan.limits ?? {} });
  const upstream = upstreamSchema.parse({ url: provider.url, ...(plan.preset && { preset: plan.preset }) });
  const chains = createChains({
    upstreams: new Map([[network.chain, [upstream]]]),
    log: createLogger('bench', 'silent'),
  });
  const [observer, adapter] = [chains.observers.get(network.chain), chains.adapters.get(network.chain)];
  if (observer === undefined || adapter === undefined) throw new Error(`${network.name} is not served`);
  const stop = async (): Promise<void> => {
    await chains.close();
    await provider.stop();
  };
  return { observer, adapter, provider, stop };
}

/** @returns what has been asked since */
function meter({ provider }: Served, prices: PriceList | null): () => Cost {
  const began = performance.now();
  const before = { calls: new Map(provider.calls), requests: provider.requests };
  return () => {
    const counts = [...provider.calls]
      .map(([method, count]) => [method, count - (before.calls.get(method) ?? 0)] as const)
      .filter(([, count]) => count > 0);
    return {
      ms: performance.now() - began,
      calls: counts.reduce((sum, [, count]) => sum + count, 0),
      byMethod: Object.fromEntries(counts),
      requests: provider.requests - before.requests,
      credits: prices && counts.reduce((sum, [method, count]) => sum + count * priceOf(prices, method), 0),
    };
  };
}

/** Watches without a limit until every recipient is known: what the database has of a network that is watched. */
export async function warm(network: Network, chain: StackChain, open: readonly PaymentTerms[]): Promise<Benched> {
  const served = await serve({ network, chain }, planNamed('unlimited'));
  const set = new OpenIntents();
  for (const terms of open) set.add(terms, false);
  const watch = new Watch(served.observer, set, { cursor: null, bookmarks: new Map() });
  watch.start();
  try {
    // One step more: what is behind nothing may not have begun.
    await until(
      `${network.name} to be read`,
      () => Promise.resolve(watch.isPresent && watch.steps > 2),
      WARM_WITHIN_MS,
    );
    return { network, chain, open, stored: await watch.end() };
  } finally {
    await served.stop();
  }
}

/** Restarts a watcher of the network behind this plan, lets it be quiet for so many seconds, then pays. */
export async function benchPlan(benched: Benched, name: PlanName, seconds: number): Promise<Row> {
  const { network, open } = benched;
  const row = { network: network.name, plan: name, recipients: open.length };
  const lacks = lacksOf(name);
  if (lacks.length > 0) return { ...row, cannot: lacks.join('; '), measured: null };
  const plan = planNamed(name);
  const prices = plan.preset === undefined ? null : pricesOf(plan.preset);
  const [forWatcher, forGateway] = [await serve(benched, plan), await serve(benched, plan)];
  const set = new OpenIntents();
  for (const terms of open) set.add(terms, false);
  const watch = new Watch(forWatcher.observer, set, benched.stored);
  try {
    const restarted = meter(forWatcher, prices);
    watch.start();
    const next = (): { readonly terms: PaymentTerms; readonly id: IntentId } => {
      const terms = termsOn(benched.chain, network.chain, newWallet(benched.chain).address);
      return { terms, id: set.add(terms, true) };
    };
    const meanwhile = pay(benched, watch, 1, next);
    const isPresent = await reached(() => watch.isPresent && watch.steps > 0, PRESENT_WITHIN_MS);
    const restart = restarted();
    const meanwhileMs = await meanwhile;
    if (!isPresent)
      return { ...row, cannot: `reach the present: ${watch.problem ?? 'it is always behind'}`, measured: null };

    // The end of that payment is no rest.
    await timePasses(AFTER_MS);
    const failedBefore = watch.failures;
    const rested = meter(forWatcher, prices);
    await timePasses(seconds * 1_000);
    const quiet = rested();
    const perMs = quiet.ms === 0 ? 0 : 1 / quiet.ms;
    const creditsAMonth = quiet.credits === null ? null : quiet.credits * perMs * 1_000 * SECONDS_A_MONTH;

    const paying = meter(forWatcher, prices);
    const newMs = await pay(benched, watch, NEW_PAYMENTS, next);
    await timePasses(AFTER_MS);
    const paid = paying();
    const oldMs = await pay(benched, watch, OLD_PAYMENTS, (place) => {
      // Of a recipient that has been watched for long.
      const { requestor } = open[place] as PaymentTerms;
      const terms = termsOn(benched.chain, network.chain, requestor);
      return { terms, id: set.add(terms, false) };
    });
    const more = (field: 'calls' | 'credits'): number =>
      Math.max(0, ((paid[field] ?? 0) - (quiet[field] ?? 0) * perMs * paid.ms) / NEW_PAYMENTS);
    // What a gateway asks once after its start is no part of a payment.
    await submit(benched, forGateway.adapter);
    const submitting = meter(forGateway, prices);
    await submit(benched, forGateway.adapter);
    const gateway = submitting();
    return {
      ...row,
      cannot: null,
      measured: {
        restart,
        quiet: {
          callsAMinute: quiet.calls * perMs * 60_000,
          callsAMinuteByMethod: Object.fromEntries(
            Object.entries(quiet.byMethod).map(([method, count]) => [method, count * perMs * 60_000]),
          ),
          requestsAMinute: quiet.requests * perMs * 60_000,
          creditsAMonth,
          dollarsAMonth: prices === null || creditsAMonth === null ? null : dollarsAMonth(prices, creditsAMonth),
          failures: watch.failures - failedBefore,
          problem: watch.failures === failedBefore ? null : watch.problem,
        },
        payment: {
          newMs,
          oldMs,
          meanwhileMs,
          watch: { calls: more('calls'), credits: prices === null ? null : more('credits') },
          gateway: { calls: gateway.calls, credits: gateway.credits },
        },
      },
    };
  } finally {
    await watch.end();
    await Promise.all([forWatcher.stop(), forGateway.stop()]);
  }
}

const pricesOf = (preset: keyof typeof PRESETS): PriceList | null => {
  const known = PRESETS[preset];
  return 'prices' in known ? known.prices : null;
};

async function reached(isSo: () => boolean, withinMs: number): Promise<boolean> {
  const end = performance.now() + withinMs;
  while (!isSo()) {
    if (performance.now() > end) return false;
    await timePasses(50);
  }
  return true;
}

/** Pays so many intents, each when the one before is found. */
async function pay(
  { chain }: Benched,
  watch: Watch,
  count: number,
  next: (place: number) => { readonly terms: PaymentTerms; readonly id: IntentId },
): Promise<readonly (number | null)[]> {
  const payer = walletOn(chain, chain.wallets[0] as StackWallet);
  const found: (number | null)[] = [];
  for (let place = 0; place < count; place += 1) {
    const { terms, id } = next(place);
    const began = performance.now();
    await payer.pay(terms.tokenAddress, terms.requestor, terms.amount, terms.reference);
    await reached(() => watch.landedAt(id) !== undefined, FOUND_WITHIN_MS);
    const at = watch.landedAt(id);
    found.push(at === undefined ? null : Math.round(at - began));
  }
  return found;
}

/** As a client does after a 503. */
async function insist<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RpcUnavailableError) || attempt === ATTEMPTS) throw error;
      await timePasses(error.retryAfterSeconds * 1_000);
    }
}

/** Builds, verifies and broadcasts a payment, as the gateway does. */
async function submit({ network, chain }: Benched, adapter: ChainAdapter): Promise<void> {
  const payer = walletOn(chain, chain.wallets[1] as StackWallet);
  const terms = termsOn(chain, network.chain, newWallet(chain).address);
  const expiresAt = Date.now() + HOUR_MS;
  const fulfiller = payer.address as Address;
  const request = { intentId: 'pi_bench' as IntentId, terms, direction: 'request', fulfiller, expiresAt } as const;
  const built = await insist(() => adapter.build(request));
  if (built.kind !== 'built') throw new Error(`the build was ${built.kind}`);
  const parsed = adapter.parseSubmitted(await payer.sign(built.transaction.blob));
  if (!parsed.ok || parsed.value.kind !== 'signed') throw new Error('the wallet signed no transaction');
  const { transaction } = parsed.value;
  const verified = await insist(() => adapter.verify(transaction, terms, fulfiller, false));
  if (verified.kind !== 'verified') throw new Error(`the verification was ${JSON.stringify(verified)}`);
  const { kind } = await adapter.broadcast(transaction);
  if (kind === 'refused') throw new Error('the broadcast was refused');
}
