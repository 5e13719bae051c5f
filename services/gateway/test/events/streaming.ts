import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { eventIdOf, newIntentId } from '@pf/contracts';
import {
  createStore,
  type Database,
  openAccount,
  openDatabase,
  type OpenedAccount,
  ProjectionWriter,
  readCheckpoint,
} from '@pf/database';
import { type IntentId, isPublicType, view } from '@pf/domain';
import { intentChannel, openConnection, RedisClient, type RedisConnection } from '@pf/redis';
import { createLogger } from '@pf/runtime';
import { given, events, type ExpectedEvent } from '@pf/domain/testing';
import { createTestDatabase, type OpenStream, openStream, readBackingStack } from '@pf/testing';
import express from 'express';
import { ApiKeys } from '../../src/api-keys.ts';
import { ClientSecrets } from '../../src/client-secrets.ts';
import { ColdIntents } from '../../src/intents/cold-intents.ts';
import { IntentHolders } from '../../src/intent-holders.ts';
import { serve } from '../../src/endpoint.ts';
import { followIntent } from '../../src/events/events.ts';
import { Feeds } from '../../src/events/feeds.ts';
import { Limiter } from '../../src/limits/limiter.ts';
import { RateLimits } from '../../src/limits/rate-limits.ts';
import { SharedBuckets } from '../../src/limits/shared-buckets.ts';

const PARTITION = 0;

/** The event streams of one gateway, in this process, on a database of its own. */
export class Streaming {
  readonly database: Database;
  readonly account: OpenedAccount;
  readonly feeds: Feeds;
  /** Number of queries for streams so far. */
  queries = 0;
  /** If set, queries for streams fail with it. */
  failure: Error | null = null;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #publisher: RedisConnection;
  readonly #past = new Map<IntentId, ExpectedEvent[]>();
  readonly #closing: (() => unknown)[] = [];

  private constructor(database: Database, account: OpenedAccount, redisUrl: string, commentMs: number) {
    this.database = database;
    this.account = account;
    const log = createLogger('test', 'silent');
    const instrumented = this.#instrumented();
    this.feeds = new Feeds(instrumented, redisUrl, log);
    this.feeds.open();
    const keys = new ApiKeys(database, { knownMs: 20 });
    const redis = new RedisClient('redis://127.0.0.1:1', { log, withoutRedis: 'nothing changes' });
    const limiter = new Limiter(new RateLimits(new SharedBuckets(redis, '')));
    const clientSecrets = new ClientSecrets(Buffer.alloc(32));
    const intentHolders = new IntentHolders({ live: database, test: database });
    const endpoint = followIntent(
      {
        cold: new ColdIntents(instrumented, null),
        database: instrumented,
        clientSecrets,
        feeds: this.feeds,
        intentHolders,
        intents: createStore(instrumented).intents,
        keys,
        log,
        partitions: 1,
        streams: { open: () => () => undefined },
      },
      commentMs,
    );
    this.#server = createServer(
      express().get(
        '/intents/:id/events',
        serve(
          { operation: endpoint.operation, live: endpoint, test: endpoint },
          {
            clientSecrets,
            intentHolders,
            keys,
            limiter,
            mppChallenges: { read: () => null },
            now: Date.now,
            readings: { begin: () => () => undefined },
            records: { record: () => undefined },
            strangers: { admit: () => undefined, acquit: () => undefined },
            uses: { used: () => undefined },
          },
        ),
      ),
    );
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    this.#publisher = openConnection(redisUrl, { log, withoutRedis: 'the test fails' });
  }

  static async open(commentMs: number, redisUrl?: string): Promise<Streaming> {
    const stack = readBackingStack();
    const { url, drop } = await createTestDatabase(stack.database);
    const database = openDatabase({ url, applicationName: 'test' });
    await readCheckpoint(database, PARTITION);
    const streaming = new Streaming(
      database,
      await openAccount(database, randomBytes(32), { name: 'test' }),
      redisUrl ?? stack.redis,
      commentMs,
    );
    streaming.#closing.push(async () => {
      await database.close();
      await drop();
    });
    streaming.#server.listen(0, '127.0.0.1');
    await once(streaming.#server, 'listening');
    return streaming;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Creates an intent. */
  async intent(): Promise<IntentId> {
    const id = newIntentId(PARTITION);
    this.#past.set(id, []);
    await this.append(id, events.created());
    return id;
  }

  /**
   * Appends an event and projects it, as the intent service does.
   * @param bodyLength replaces the body by one of this length
   */
  async append(id: IntentId, event: ExpectedEvent, bodyLength?: number): Promise<void> {
    const past = this.#past.get(id) ?? [];
    past.push(events.of(id, event));
    const folded = given(...past).ledger.intent(id);
    if (!folded) throw new Error(`${id} has no events`);
    const intent = { ...folded, accountId: this.account.id };
    const { version } = intent;
    const at = new Date().toISOString();
    const real = JSON.stringify({
      eventId: eventIdOf(id, version),
      type: event.type,
      createdAt: at,
      livemode: false,
      data: { intent: view(intent) },
    });
    const body = bodyLength === undefined ? real : JSON.stringify('x'.repeat(bodyLength));
    const rows = isPublicType(event.type)
      ? [{ intentId: id, version, eventId: eventIdOf(id, version), type: event.type, body, at, owner: null }]
      : [];
    const { position } = await readCheckpoint(this.database, PARTITION);
    await new ProjectionWriter(this.database.sql).project({
      partition: PARTITION,
      from: position,
      next: position + 1n,
      lastAt: Date.now(),
      intents: [{ intent, before: version - 1 }],
      events: rows,
      outcomes: [],
    });
  }

  /** Makes the row of an intent undecodable. @returns restores it */
  async damage(id: IntentId): Promise<() => Promise<unknown>> {
    const { sql } = this.database;
    const { rows } = await sql.query<{ state: string }>('SELECT state FROM ledger.intents WHERE id = $1', [id]);
    const write = (state: string) => sql.query('UPDATE ledger.intents SET state = $2 WHERE id = $1', [id, state]);
    await write('damaged');
    return () => write(rows[0]?.state ?? '');
  }

  /** Publishes a notice on Redis. */
  async notice(id: IntentId): Promise<void> {
    await this.#publisher.publish(intentChannel(id), '{}');
  }

  follow(
    id: IntentId,
    { key = this.account.apiKeys.test, lastEventId }: { key?: string; lastEventId?: number } = {},
  ): Promise<OpenStream> {
    return openStream(`http://127.0.0.1:${this.port}/intents/${id}/events`, {
      authorization: `Bearer ${key}`,
      ...(lastEventId !== undefined && { 'last-event-id': String(lastEventId) }),
    });
  }

  /** Whether the client with this local port is connected. */
  isConnected(port: number | undefined): boolean {
    return [...this.#sockets].some(({ remotePort }) => remotePort === port);
  }

  async close(): Promise<void> {
    this.feeds.close();
    this.#publisher.disconnect();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
    for (const close of this.#closing) await close();
  }

  /** The database, with queries for streams counted, and failing while `failure` is set. */
  #instrumented(): Database {
    const { sql } = this.database;
    const query = (...args: unknown[]): unknown => {
      const [config] = args;
      if (typeof config === 'object' && config !== null && 'name' in config && config.name === 'look-at-intents') {
        this.queries += 1;
        if (this.failure) return Promise.reject(this.failure);
      }
      return (sql.query as (...all: unknown[]) => unknown).apply(sql, args);
    };
    return {
      ...this.database,
      sql: new Proxy(sql, {
        get: (pool, property) => (property === 'query' ? query : Reflect.get(pool, property)) as unknown,
      }),
    };
  }
}
