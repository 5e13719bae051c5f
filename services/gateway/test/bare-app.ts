import { createChains } from '@pf/chains';
import type { Database, IntentQueries, KeyHolder, ReservedAmounts, SignedTransactions } from '@pf/database';
import type { ChainId } from '@pf/domain';
import type { Publisher } from '@pf/event-log';
import { HttpServer } from '@pf/http';
import { RedisClient } from '@pf/redis';
import type { WakeQueue } from '@pf/redis/wakes';
import { createLogger } from '@pf/runtime';
import type { Screening } from '@pf/screening';
import { ApiError } from '../src/api-error.ts';
import { ApiKeys, type Holder } from '../src/api-keys.ts';
import { createApp } from '../src/app.ts';
import { ClientSecrets } from '../src/client-secrets.ts';
import { Commands } from '../src/commands.ts';
import { Feeds } from '../src/events/feeds.ts';
import { IntentHolders } from '../src/intent-holders.ts';
import { ColdIntents } from '../src/intents/cold-intents.ts';
import { Limiter } from '../src/limits/limiter.ts';
import { Readings } from '../src/limits/readings.ts';
import { RateLimits } from '../src/limits/rate-limits.ts';
import { SharedBuckets } from '../src/limits/shared-buckets.ts';
import { Strangers } from '../src/limits/strangers.ts';
import { LinkTurns } from '../src/limits/link-turns.ts';
import { Waits } from '../src/limits/waits.ts';
import { MppChallenges } from '../src/mpp/challenges.ts';
import { Outcomes } from '../src/outcomes.ts';
import { ReplyChannel } from '../src/reply-channel.ts';
import type { SponsorCalls } from '../src/sponsors/sponsor-calls.ts';

/** A dependency that fails on every access. */
const failing = <T extends object>(error: (dependency: string) => Error, dependency: string): T =>
  new Proxy({} as T, {
    get: () => {
      throw error(dependency);
    },
  });

export interface BareAppOptions {
  /** The error with which database, log and screening fail. Default: one that says they must not be called. */
  readonly failure?: (dependency: string) => Error;
  /** The holder of any key that is sent. Without one, keys are looked up, which fails. */
  readonly holder?: KeyHolder;
  /** Whether the key of the holder was revoked since it was looked up. Default: no. */
  readonly isRevoked?: () => boolean;
  /** Multiplies the rates of the holder's plan. */
  readonly rateFactor?: number;
  /** Multiplies what an address may ask without a valid key. Default 1,000. */
  readonly strangersFactor?: number;
}

/** Accepts any well-formed key as the holder's. */
class OneHolder extends ApiKeys {
  readonly #holder: KeyHolder;
  readonly #isRevoked: () => boolean;
  constructor(database: Database, holder: KeyHolder, isRevoked: () => boolean) {
    super(database);
    this.#holder = holder;
    this.#isRevoked = isRevoked;
  }
  override async holder(authorization: string | undefined): Promise<Holder> {
    return authorization?.startsWith('Bearer pk_') ? this.#holder : super.holder(authorization);
  }
  override async stillHolder(authorization: string | undefined): Promise<Holder> {
    if (this.#isRevoked()) throw new ApiError('api_key.invalid');
    return this.holder(authorization);
  }
}

/** The HTTP API without its dependencies. */
export interface BareApp {
  readonly url: string;
  close(): Promise<void>;
}

export async function startBareApp({
  failure = (dependency) => new Error(`${dependency} must not be called`),
  holder,
  isRevoked = () => false,
  rateFactor,
  strangersFactor = 1_000,
}: BareAppOptions = {}): Promise<BareApp> {
  const log = createLogger('test', 'silent');
  const database = failing<Database>(failure, 'the database');
  const intents = failing<IntentQueries>(failure, 'the database');
  // Real adapters: they call no chain before something is built.
  const unreachable = ['http://127.0.0.1:1'];
  const upstreams = new Map(
    ['eip155:84532', 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'].map(
      (chain) => [chain as ChainId, unreachable] as const,
    ),
  );
  const chains = createChains({ upstreams, log });
  const replies = new ReplyChannel(
    'redis://127.0.0.1:1',
    'test',
    [Buffer.alloc(32)],
    { replied: () => undefined, lost: () => undefined },
    log,
  );
  const redis = new RedisClient('redis://127.0.0.1:1', { log, withoutRedis: 'nothing changes' });
  const store = {
    cold: new ColdIntents(database, null),
    database,
    intents,
    amounts: failing<ReservedAmounts>(failure, 'the database'),
    signedTransactions: failing<SignedTransactions>(failure, 'the database'),
    findSponsor: () => Promise.reject(failure('the database')),
    hasSponsor: () => Promise.reject(failure('the database')),
  };
  const clientSecrets = new ClientSecrets(Buffer.alloc(32));
  const app = createApp({
    now: Date.now,
    adapters: chains.adapters,
    clientSecrets,
    commands: new Commands(failing<Publisher>(failure, 'the log'), replies, new Outcomes(intents, log)),
    feeds: new Feeds(database, 'redis://127.0.0.1:1', log),
    intentHolders: new IntentHolders({ live: database, test: database }),
    keyring: Buffer.alloc(32),
    keys: holder ? new OneHolder(database, holder, isRevoked) : new ApiKeys(database),
    limiter: new Limiter(new RateLimits(new SharedBuckets(redis, '')), rateFactor),
    log,
    payByAmount: true,
    mppChallenges: new MppChallenges(Buffer.alloc(32)),
    partitions: 6,
    readings: new Readings(),
    records: { record: () => undefined },
    uses: { used: () => undefined },
    wakes: failing<WakeQueue>(failure, 'Redis'),
    screening: failing<Screening>(failure, 'the screening'),
    sponsorCalls: failing<SponsorCalls>(failure, 'the sponsor'),
    stores: { live: store, test: store },
    strangers: new Strangers(strangersFactor),
    streams: { open: () => () => undefined },
    turns: new LinkTurns(),
    waits: new Waits(),
    webhookAllowHttp: false,
  });
  const server = new HttpServer(app);
  const port = await server.listen('127.0.0.1', 0);
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      replies.close();
      redis.close();
      await server.close();
      await chains.close();
    },
  };
}
