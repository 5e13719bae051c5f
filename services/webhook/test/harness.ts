import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import {
  encodeEvent,
  EVENT_SCHEMA_VERSION,
  type EventEnvelope,
  eventIdOf,
  newIntentId,
  webhookBody,
} from '@pf/contracts';
import { addWebhookEndpoint, openAccount, type OpenedAccount } from '@pf/database';
import type { AccountId, EventType, IntentId, PublicIntent } from '@pf/domain';
import { createLogger } from '@pf/runtime';
import { type Cluster, readBackingStack, startCluster } from '@pf/testing';
import { Kafka, logLevel, type Producer } from 'kafkajs';
import { startWebhookService, type WebhookService, type WebhookServiceOptions } from '../src/index.ts';

/** A request that a receiver got. */
interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly raw: string;
}

/** An integrator's endpoint on loopback, which responds as the test says. */
export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
}

export type Respond = (received: Received, response: ServerResponse) => void;
export const status =
  (code: number, headers: Readonly<Record<string, string>> = {}): Respond =>
  (_received, response) =>
    response.writeHead(code, headers).end();

/** An event in the log, and the webhook's expected bytes. */
export interface Emitted {
  readonly event: EventEnvelope;
  readonly body: string;
}

/** What a test changes of an event. */
interface Change {
  readonly type?: EventType;
  readonly livemode?: boolean;
  readonly intentId?: IntentId;
  readonly version?: number;
  readonly memo?: string;
}

/** The webhook service with a database, topics and a clock of the test's own. */
export class Harness {
  /** The time as the service sees it; moved by the test. */
  clock = Date.now();
  readonly cluster: Cluster;
  readonly redisUrl: string;
  readonly #producer: Producer;
  readonly #closing: (() => unknown)[] = [];

  private constructor(cluster: Cluster, redisUrl: string, producer: Producer) {
    this.cluster = cluster;
    this.redisUrl = redisUrl;
    this.#producer = producer;
  }

  static async open(): Promise<Harness> {
    const stack = readBackingStack();
    const cluster = await startCluster(stack);
    const kafka = new Kafka({ clientId: 'test', brokers: stack.kafka.split(','), logLevel: logLevel.NOTHING });
    const producer = kafka.producer({
      createPartitioner:
        () =>
        ({ message }) =>
          message.partition ?? 0,
    });
    await producer.connect();
    return new Harness(cluster, stack.redis, producer);
  }

  /** Starts the service as one process would; it stops with the harness at the latest. */
  async start(overrides: Partial<WebhookServiceOptions> = {}): Promise<WebhookService> {
    const service = await startWebhookService({
      database: this.cluster.database,
      eventLog: this.cluster.log,
      redisUrl: this.redisUrl,
      redisPrefix: this.cluster.prefix,
      secretsKey: this.cluster.secretsKey,
      egress: { allowPrivate: true },
      log: createLogger('webhook', process.env['TEST_LOG_LEVEL'] ?? 'silent'),
      onCrash: (error) => {
        throw error;
      },
      now: () => this.clock,
      ...overrides,
    });
    let stopped: Promise<void> | null = null;
    const stop = (): Promise<void> => (stopped ??= service.stop());
    this.#closing.push(stop);
    return { ...service, stop };
  }

  /** A new account, with a receiver for its test events. */
  async account(respond: Respond): Promise<{ readonly account: OpenedAccount; readonly receiver: Receiver }> {
    const account = await openAccount(this.cluster.database, this.cluster.secretsKey, { name: 'test' });
    // Its first secret is valid from now by the machine's clock: the test's own must not stand before that.
    this.clock = Math.max(this.clock, Date.now());
    return { account, receiver: await this.receiver(account.id, respond) };
  }

  /** Adds a URL to an account, where `respond` responds. */
  async receiver(accountId: string, respond: Respond, livemode = false): Promise<Receiver> {
    const received: Received[] = [];
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const one = { headers: request.headers, raw: Buffer.concat(chunks).toString('utf8') };
        received.push(one);
        respond(one, response);
      });
    });
    const url = `http://127.0.0.1:${await listen(server)}/webhooks`;
    this.#closing.push(() => {
      server.closeAllConnections();
      server.close();
    });
    await addWebhookEndpoint(this.cluster.database, { accountId, livemode, url });
    return { url, received };
  }

  /** Writes an event, first to the projection unless `projected` is false, then to the log. */
  async emit(
    accountId: string,
    { projected = true, ...change }: Change & { projected?: boolean } = {},
  ): Promise<Emitted> {
    const emitted = this.#emitted(accountId, change);
    if (projected && emitted.body !== '') await this.project(emitted);
    await this.write(encodeEvent(emitted.event), emitted.event.intentId);
    return emitted;
  }

  /** Writes an event of each of so many intents, at once. */
  async emitMany(accountId: string, count: number): Promise<void> {
    const all = Array.from({ length: count }, () => this.#emitted(accountId, {}));
    await this.project(...all);
    await this.#send(all.map(({ event }) => ({ key: event.intentId, value: encodeEvent(event) })));
  }

  #emitted(
    accountId: string,
    { type = 'intent.detected', livemode = false, intentId = newIntentId(0), version = 1, memo = 'Zürich €' }: Change,
  ): Emitted {
    const event: EventEnvelope = {
      eventId: eventIdOf(intentId, version),
      type,
      schemaVersion: EVENT_SCHEMA_VERSION,
      intentId,
      version,
      accountId: accountId as AccountId,
      livemode,
      commandId: null,
      at: new Date(this.clock).toISOString(),
      trace: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', requestId: 'req-42' },
      data: {},
      // Only what the envelope's reader reads: this service does not use the rest of an intent.
      intent: { id: intentId, state: 'created', metadata: { memo } } as unknown as PublicIntent,
    };
    return { event, body: webhookBody(event) ?? '' };
  }

  /** Writes any value to the log. */
  async write(value: string, key = 'key'): Promise<void> {
    await this.#send([{ key, value }]);
  }

  async #send(messages: readonly { readonly key: string; readonly value: string }[]): Promise<void> {
    await this.#producer.send({
      topic: `${this.cluster.prefix}intent.events`,
      acks: -1,
      messages: messages.map((message) => ({ ...message, partition: 0 })),
    });
  }

  /** Projects events, as the intent service does. */
  async project(...emitted: readonly Emitted[]): Promise<void> {
    await this.cluster.database.sql.query(
      `INSERT INTO ledger.intent_events (intent_id, version, event_id, type, body, at)
        SELECT * FROM unnest($1::text[], $2::integer[], $3::text[], $4::text[], $5::text[], $6::timestamptz[])`,
      [
        emitted.map(({ event }) => event.intentId),
        emitted.map(({ event }) => event.version),
        emitted.map(({ event }) => event.eventId),
        emitted.map(({ event }) => event.type),
        emitted.map(({ body }) => body),
        emitted.map(({ event }) => event.at),
      ],
    );
  }

  deliveries(accountId: string) {
    return this.cluster.database.prisma.delivery.findMany({ where: { accountId }, orderBy: { id: 'asc' } });
  }

  onClose(close: () => unknown): void {
    this.#closing.push(close);
  }

  async close(): Promise<void> {
    for (const close of this.#closing.reverse()) await close();
    await this.#producer.disconnect();
    await this.cluster.close();
  }
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
