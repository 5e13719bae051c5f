import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createChains } from '@pf/chains';
import type { Database, KeyHolder } from '@pf/database';
import type { ChainId } from '@pf/domain';
import type { Publisher } from '@pf/event-log';
import { RedisClient } from '@pf/redis';
import { createLogger } from '@pf/runtime';
import type { Screening } from '@pf/screening';
import { ApiKeys } from '../src/api-keys.ts';
import { createApp } from '../src/app.ts';
import { Commands } from '../src/commands.ts';
import { Feeds } from '../src/events/feeds.ts';
import { Limiter } from '../src/limits/limiter.ts';
import { RateLimits } from '../src/limits/rate-limits.ts';
import { SharedBuckets } from '../src/limits/shared-buckets.ts';
import { Outcomes } from '../src/outcomes.ts';
import { ReplyChannel } from '../src/reply-channel.ts';

/** A part that fails as soon as anything is asked of it. */
const failing = <T extends object>(error: (part: string) => Error, part: string): T =>
  new Proxy({} as T, {
    get: () => {
      throw error(part);
    },
  });

export interface BareAppOptions {
  /** How database, log and screening fail when they are asked. By default as what must not be asked. */
  readonly failure?: (part: string) => Error;
  /** Who asks, whatever key is sent. Absent: keys are looked up, which fails. */
  readonly holder?: KeyHolder;
  /** Multiplies the rates of the holder's plan. */
  readonly rateFactor?: number;
}

/** Takes any key that has the form of one for the holder's. */
class OneHolder extends ApiKeys {
  readonly #holder: KeyHolder;
  constructor(database: Database, holder: KeyHolder) {
    super(database);
    this.#holder = holder;
  }
  override async holder(authorization: string | undefined): Promise<KeyHolder> {
    return authorization?.startsWith('Bearer pk_') ? this.#holder : super.holder(authorization);
  }
}

/** The HTTP API with nothing behind it. */
export interface BareApp {
  readonly url: string;
  setReady(ready: boolean): void;
  close(): Promise<void>;
}

export async function startBareApp({
  failure = (part) => new Error(`${part} must not be asked`),
  holder,
  rateFactor,
}: BareAppOptions = {}): Promise<BareApp> {
  const log = createLogger('test', 'silent');
  const database = failing<Database>(failure, 'the database');
  // Real adapters: they ask no chain until something is built.
  const chains = createChains({ upstreams: new Map([['eip155:84532' as ChainId, ['http://127.0.0.1:1']]]), log });
  const replies = new ReplyChannel(
    'redis://127.0.0.1:1',
    'test',
    { replied: () => undefined, lost: () => undefined },
    log,
  );
  const redis = new RedisClient('redis://127.0.0.1:1', { log, withoutRedis: 'nothing changes' });
  let isReady = true;
  const app = createApp({
    adapters: chains.adapters,
    commands: new Commands(failing<Publisher>(failure, 'the log'), replies, new Outcomes(database, log)),
    database,
    feeds: new Feeds(database, 'redis://127.0.0.1:1', log),
    health: { live: () => true, ready: { log: () => Promise.resolve(isReady) } },
    keys: holder ? new OneHolder(database, holder) : new ApiKeys(database),
    limiter: new Limiter(new RateLimits(new SharedBuckets(redis, '')), rateFactor),
    log,
    partitions: 6,
    redis,
    screening: failing<Screening>(failure, 'the screening'),
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setReady: (ready) => {
      isReady = ready;
    },
    close: async () => {
      replies.close();
      redis.close();
      server.close();
      await once(server, 'close');
      await chains.close();
    },
  };
}
