import { networks } from '@pf/chains/networks';
import {
  type Summary,
  SUMMARY_DELIVERIES_MAX,
  SUMMARY_INTENTS_MAX,
  SUMMARY_RANGES,
  SUMMARY_TIMED_MAX,
  type SummaryRange,
} from '@pf/contracts/dashboard';
import {
  countFailedDeliveries,
  type Database,
  type IntentOwner,
  newestPaid,
  type PaymentKind,
  sumIntents,
  type SummedIntents,
} from '@pf/database';
import { formatAmount, INTENT_STATUSES, type IntentStatus, type PaymentIntent, submissionOf } from '@pf/domain';
import { boundedCache } from '@pf/runtime';

const BUCKET_MS = { hour: 3_600_000, day: 86_400_000 } as const;
const KEPT_MAX = 1_000;
/**
 * A summary is returned again for so many times as long as it took to make: a large account takes a small part of a
 * connection, however often its people look, and a small one sees each payment at once.
 */
const REUSED_FACTOR = 20;

interface Kept {
  readonly summary: Promise<Summary>;
  /** By performance.now(); infinite until it is made. */
  until: number;
}

/** Summaries of accounts. One of the same account, mode and range is made at a time. */
export class Summaries {
  readonly #database: Database;
  readonly #now: () => number;
  readonly #kept = boundedCache<string, Kept>(KEPT_MAX);

  /** @param now milliseconds since 1970 */
  constructor(database: Database, now: () => number) {
    this.#database = database;
    this.#now = now;
  }

  /** @returns `renewableInMs`: null where it was made for this call, otherwise after how long a new one is made */
  async of(
    owner: IntentOwner,
    range: SummaryRange,
  ): Promise<{ readonly summary: Summary; readonly renewableInMs: number | null }> {
    const key = `${owner.accountId} ${owner.livemode} ${range}`;
    const known = this.#kept.get(key);
    if (known && performance.now() < known.until) {
      const summary = await known.summary;
      // It may have been in the making: then it is known only now for how long it is kept.
      return { summary, renewableInMs: Math.max(1, Math.ceil(known.until - performance.now())) };
    }
    const began = performance.now();
    const making: Kept = { summary: this.#make(owner, range), until: Infinity };
    this.#kept.set(key, making);
    try {
      const summary = await making.summary;
      const ended = performance.now();
      making.until = ended + (ended - began) * REUSED_FACTOR;
      return { summary, renewableInMs: null };
    } catch (error) {
      this.#kept.delete(key);
      throw error;
    }
  }

  async #make(owner: IntentOwner, range: SummaryRange): Promise<Summary> {
    const { bucket, buckets } = SUMMARY_RANGES[range];
    const bucketMs = BUCKET_MS[bucket];
    const now = this.#now();
    const begins = new Date(Math.floor(now / bucketMs) * bucketMs - (buckets - 1) * bucketMs);
    const tokens = tokensOf(owner.livemode);
    const [{ sums, first }, paid, deliveries] = await Promise.all([
      sumIntents(this.#database, owner, {
        tokens: tokens.map(({ address }) => address),
        from: begins,
        bucketMs,
        max: SUMMARY_INTENTS_MAX,
      }),
      newestPaid(this.#database, owner, begins, SUMMARY_TIMED_MAX),
      countFailedDeliveries(this.#database, owner, begins, SUMMARY_DELIVERIES_MAX),
    ]);
    const complete = intentsIn(sums) < SUMMARY_INTENTS_MAX;
    const from = complete || first === null ? begins : first;
    const payments = sums.filter(({ kind }) => kind !== 'refunded');
    const inState = (status: IntentStatus): number => intentsIn(payments.filter((sum) => sum.status === status));
    const states = Object.fromEntries(INTENT_STATUSES.map((status) => [status, inState(status)])) as Record<
      IntentStatus,
      number
    >;
    const succeeded = states.confirmed + states.finalized;
    const ended = succeeded + states.failed + states.expired;
    const inBucket = Map.groupBy(sums, ({ bucketAt }) => bucketAt.getTime());
    const firstBucket = Math.floor(from.getTime() / bucketMs) * bucketMs;
    return {
      range,
      bucket,
      from: from.toISOString(),
      to: new Date(now).toISOString(),
      complete,
      payments: {
        created: intentsIn(payments),
        states,
        successRate: ended === 0 ? null : Math.round((succeeded / ended) * 10_000) / 10_000,
      },
      volume: tokens.flatMap((token) => {
        const ofToken = sums.filter((sum) => sum.tokenAddress === token.address && isPaid(sum));
        if (ofToken.length === 0) return [];
        const of = (kind: PaymentKind) => volumeOf(ofToken, kind, token);
        return [{ ...shownToken(token), received: of('received'), sent: of('sent'), refunded: of('refunded') }];
      }),
      timeToConfirm: timeToConfirm(paid),
      failures: { payments: states.failed, deliveries },
      buckets: Array.from({ length: (now - firstBucket) / bucketMs + 1 }, (_none, index) =>
        bucketOf(firstBucket + index * bucketMs, inBucket.get(firstBucket + index * bucketMs) ?? [], tokens),
      ),
    };
  }
}

/** A token of a network, as this service shows it. */
type Token = ReturnType<typeof tokensOf>[number];
export const tokensOf = (livemode: boolean) =>
  networks
    .filter((network) => network.livemode === livemode)
    .flatMap(({ chain, tokens }) => tokens.map((token) => ({ chain, ...token })));
const shownToken = ({ chain, symbol, address }: Token) => ({ chain, token: symbol, tokenAddress: address });

const isPaid = ({ status }: SummedIntents): boolean => status === 'confirmed' || status === 'finalized';
const intentsIn = (sums: readonly SummedIntents[]): number => sums.reduce((sum, { intents }) => sum + intents, 0);

function volumeOf(sums: readonly SummedIntents[], kind: PaymentKind, { decimals }: Token) {
  const ofKind = sums.filter((sum) => sum.kind === kind);
  const amount = ofKind.reduce((sum, one) => sum + one.amount, 0n);
  return { payments: intentsIn(ofKind), amount: formatAmount(amount, decimals) };
}

function bucketOf(at: number, sums: readonly SummedIntents[], tokens: readonly Token[]): Summary['buckets'][number] {
  const payments = sums.filter(({ kind }) => kind !== 'refunded');
  const having = (status: IntentStatus): number => intentsIn(payments.filter((sum) => sum.status === status));
  return {
    at: new Date(at).toISOString(),
    created: intentsIn(payments),
    paid: intentsIn(payments.filter(isPaid)),
    failed: having('failed'),
    expired: having('expired'),
    received: tokens.flatMap((token) => {
      const received = sums.filter(
        (sum) => sum.tokenAddress === token.address && sum.kind === 'received' && isPaid(sum),
      );
      return received.length === 0
        ? []
        : [{ ...shownToken(token), amount: volumeOf(received, 'received', token).amount }];
    }),
  };
}

/** As the metric payments.confirmation.duration measures it. */
function timeToConfirm(paid: readonly PaymentIntent[]): Summary['timeToConfirm'] {
  const took = paid
    .flatMap((intent) => {
      const { confirmedAt, simulated, txSignature } = intent;
      const submission = simulated || txSignature === null ? undefined : submissionOf(intent, txSignature);
      return submission === undefined || confirmedAt === null ? [] : [Math.max(0, confirmedAt - submission.preparedAt)];
    })
    .sort((a, b) => a - b);
  const [p50Ms, p95Ms] = [0.5, 0.95].map((share) => took[Math.ceil(share * took.length) - 1]);
  return p50Ms === undefined || p95Ms === undefined ? null : { payments: took.length, p50Ms, p95Ms };
}
