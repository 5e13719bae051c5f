// A client of Redis in a process of its own, because Node reads NODE_EXTRA_CA_CERTS when it starts. For each message
// with a URL it tries the connection that it has kept since the first one, and a new connection.
import process from 'node:process';
import { openConnection, type RedisConnection } from '@pf/redis';
import { createLogger } from '@pf/runtime';

/** What happened to each: `works`, or the error. */
export interface Attempt {
  readonly kept: string;
  readonly fresh: string;
}

const log = createLogger('redis-client', 'silent');
const open = (url: string): RedisConnection =>
  openConnection(url, { log, withoutRedis: 'the test fails', maxRetriesPerRequest: null });

async function attempt(connection: RedisConnection): Promise<string> {
  return await new Promise((resolve) => {
    const fail = (error: Error): void => resolve(error.message);
    connection.once('error', fail);
    connection.ping().then(() => {
      connection.off('error', fail);
      resolve('works');
    }, fail);
  });
}

let kept: RedisConnection | null = null;
let lost = 'works';
process.on('message', (url: string) => {
  void (async () => {
    if (!kept) {
      kept = open(url);
      kept.once('close', () => (lost = 'was closed'));
    }
    const fresh = open(url);
    const [first, second] = await Promise.all([attempt(kept), attempt(fresh)]);
    fresh.disconnect();
    process.send?.({ kept: lost === 'works' ? first : lost, fresh: second } satisfies Attempt);
  })();
});
