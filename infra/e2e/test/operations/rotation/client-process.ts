// A client of Redis, Postgres or Kafka in a process of its own, because Node reads NODE_EXTRA_CA_CERTS when it starts.
// For each message with a URL it tries the connection that it keeps since the first that worked, and a new connection.
import process from 'node:process';
import { openDatabase } from '@pf/database';
import { createEventLog } from '@pf/event-log';
import { openConnection } from '@pf/redis';
import { createLogger } from '@pf/runtime';

/** What happened to each: `works`, or the error. */
export interface Attempt {
  readonly kept: string;
  readonly fresh: string;
}

interface Connection {
  /** Rejects when the connection does not work, or has been replaced by another one. */
  readonly use: () => Promise<unknown>;
  readonly close: () => unknown;
}

const log = createLogger('client', 'silent');

function redis(url: string): Connection {
  const connection = openConnection(url, { log, withoutRedis: 'the test fails', maxRetriesPerRequest: null });
  let isReplaced = false;
  connection.once('close', () => (isReplaced = true));
  return {
    async use() {
      if (isReplaced) throw new Error('was closed');
      await new Promise((resolve, reject) => {
        connection.once('error', reject);
        connection
          .ping()
          .then(resolve, reject)
          .finally(() => connection.off('error', reject));
      });
    },
    close: () => connection.disconnect(),
  };
}

function postgres(url: string): Connection {
  const database = openDatabase({ url, applicationName: 'client', maxConnections: 1 });
  // Held, because the pool closes what has been idle for 10 s.
  const held = (async () => {
    const { rows } = await database.sql.query<{ ssl: boolean }>(
      'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()',
    );
    if (!rows[0]?.ssl) throw new Error('is not encrypted');
    // On the same connection: the pool has no other one.
    await database.prisma.$queryRaw`SELECT 1`;
    return await database.sql.connect();
  })();
  held.catch(() => undefined);
  return {
    use: async () => (await held).query('SELECT 1'),
    async close() {
      (await held).release();
      await database.close();
    },
  };
}

function kafka({ host }: URL): Connection {
  const eventLog = createEventLog({ brokers: [host], partitions: 1, clientId: 'client', ssl: true });
  const publisher = eventLog.publisher();
  publisher.catch(() => undefined);
  return {
    use: async () => (await publisher).publish('intent.commands', { partition: 0, key: 'k', value: 'v' }),
    close: async () => (await publisher).close(),
  };
}

const open = (url: string): Connection =>
  url.startsWith('redis') ? redis(url) : url.startsWith('postgres') ? postgres(url) : kafka(new URL(url));

const attempt = (connection: Connection): Promise<string> =>
  connection.use().then(
    () => 'works',
    (error: Error) => error.message,
  );

let kept: Connection | null = null;
process.on('message', (url: string) => {
  void (async () => {
    const [tried, added] = [kept ?? open(url), open(url)];
    const [first, second] = await Promise.all([attempt(tried), attempt(added)]);
    // What has never worked is not kept.
    const ended = [added, ...(kept === null && first !== 'works' ? [tried] : [])];
    if (first === 'works') kept = tried;
    await Promise.all(ended.map(async (connection) => connection.close())).catch(() => undefined);
    process.send?.({ kept: first, fresh: second } satisfies Attempt);
  })();
});
