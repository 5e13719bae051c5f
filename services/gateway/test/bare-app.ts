import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Database } from '@pf/database';
import type { Publisher } from '@pf/event-log';
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
import { RedisLink } from '../src/redis-link.ts';
import { ReplyChannel } from '../src/reply-channel.ts';

/** What must not be asked: every use of it fails the test. */
const forbidden = <T extends object>(name: string): T =>
  new Proxy({} as T, {
    get: () => {
      throw new Error(`${name} must not be asked`);
    },
  });

/** The HTTP API with nothing behind it. */
export interface BareApp {
  readonly url: string;
  setReady(ready: boolean): void;
  close(): Promise<void>;
}

export async function startBareApp(): Promise<BareApp> {
  const log = createLogger('test', 'silent');
  const database = forbidden<Database>('the database');
  const replies = new ReplyChannel('redis://127.0.0.1:1', 'test', { replied: () => undefined, lost: () => undefined }, log);
  const redis = new RedisLink('redis://127.0.0.1:1', log);
  let isReady = true;
  const app = createApp({
    adapters: new Map(),
    commands: new Commands(forbidden<Publisher>('the log'), replies, new Outcomes(database, log)),
    database,
    feeds: new Feeds(database, 'redis://127.0.0.1:1', log),
    health: { live: () => true, ready: { log: () => Promise.resolve(isReady) } },
    keys: new ApiKeys(database),
    limiter: new Limiter(new RateLimits(new SharedBuckets(redis, ''))),
    log,
    partitions: 6,
    redis,
    screening: forbidden<Screening>('the screening'),
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
    },
  };
}
