import type { ObjectStore } from '@pf/archive';
import { ColdBundles } from '@pf/archive/cold';
import { type Clock, MeasuredClock, trustedClock } from '@pf/clock';
import { type CommandMessage, newCommandId, type Outcome, parseReplies, type Reply } from '@pf/contracts';
import { createStore, type Database, findOutcomes, openDatabase, readDatabaseTime } from '@pf/database';
import type { CommandId } from '@pf/domain';
import { createEventLog, type EventLog, type PartitionOwner, type PartitionWork, type Publisher } from '@pf/event-log';
import { ChannelSubscriber, replyChannel, verified } from '@pf/redis';
import { createLogger } from '@pf/runtime';
import { type BackingStack, readBackingStack, until, via } from '@pf/testing';
import { Announcer } from '../src/announcer.ts';
import { ClockedOwner } from '../src/clocked-owner.ts';
import { createColdIntents } from '../src/cold.ts';
import { createErasures } from '../src/erasures.ts';
import { Expiry } from '../src/expiry.ts';
import { createPersonalData } from '../src/personal-data.ts';
import { IntentWriter, type WriterContext } from '../src/writer.ts';
import { PARTITIONS, recordOf } from './messages.ts';

/** The topics and the database of a test's writer. */
export interface WriterLocation {
  readonly databaseUrl: string;
  readonly prefix: string;
  /** host:port of proxies in front of the stack's services. */
  readonly proxies?: { readonly database?: string; readonly redis?: string };
  readonly sessionTimeoutMs?: number;
}

export interface RunningWriter {
  readonly writer: IntentWriter;
  readonly owner: Omit<PartitionOwner<WriterContext>, 'start'>;
  readonly expiry: Expiry<WriterContext>;
  stop(): Promise<void>;
}

/**
 * Runs the parts of main.ts in the test's process, until it owns all partitions.
 * @param options.wrap intercepts the writer's methods
 * @param options.wall the wall clock of a process that measures it against the stack's Kafka and Postgres; such a
 *   writer owns partitions only while it is right, and is not waited for
 */
export async function startWriter(
  location: WriterLocation,
  {
    wrap = (writer) => writer,
    clock: given = trustedClock(),
    wall,
    secretsKey,
    store,
  }: {
    /** Seals events. */
    secretsKey?: Buffer;
    /** Where intents are that have left. */
    store?: ObjectStore;
    wrap?: (writer: IntentWriter) => PartitionWork<WriterContext>;
    clock?: Clock;
    wall?: () => number;
  } = {},
): Promise<RunningWriter> {
  const stack = readBackingStack();
  const { proxies = {} } = location;
  const log = createLogger('intent', 'silent');
  const databaseUrl =
    proxies.database === undefined ? location.databaseUrl : via(location.databaseUrl, proxies.database);
  const database = openDatabase({
    url: databaseUrl,
    applicationName: 'intent test',
    maxConnections: 18,
  });
  const redisUrl = proxies.redis === undefined ? stack.redis : via(stack.redis, proxies.redis);
  const announcer = new Announcer(redisUrl, Buffer.from(REPLY_SECRET), log);
  const eventLog = openLog(stack, location);
  const [publisher, reader] = [await eventLog.publisher(), await eventLog.reader('expiry')];
  const brokerClock = eventLog.brokerClock();
  const measured =
    wall &&
    new MeasuredClock({
      references: [
        { name: 'postgres', read: () => readDatabaseTime(database) },
        { name: 'kafka', read: () => brokerClock.read() },
      ],
      log,
      whileWrong: 'it owns no partition',
      wall,
    });
  await measured?.start();
  const clock = measured ?? given;
  const { ledger } = createStore(database);
  const personalData = await createPersonalData(database, {
    keyring: secretsKey ?? null,
    seal: secretsKey !== undefined,
    clock,
    log,
  });
  const writer = new IntentWriter({
    partitions: PARTITIONS,
    ledger,
    publisher,
    announcer,
    log,
    clock,
    personalData,
    ...(store && { cold: createColdIntents(database, new ColdBundles(store, secretsKey ?? null), log) }),
  });
  const onCrash = (error: Error): void => {
    throw error;
  };
  const work = wrap(writer);
  const open = () => eventLog.partitionOwner(work, onCrash);
  const owner = measured ? new ClockedOwner({ clock: measured, open, onCrash, log }) : open();
  const expiry = new Expiry({
    owner,
    ledger,
    reader,
    expire: (partition, ids) => writer.expire(partition, ids),
    log,
    clock: () => clock.now(),
  });
  const erasures = createErasures({
    database,
    owner,
    erase: (partition, ids) => writer.erase(partition, ids),
    retentionDays: null,
    clock,
    log,
  });
  await owner.start();
  erasures.start();
  if (!measured) await until('all partitions to be owned', () => owner.owned().length === PARTITIONS);
  return {
    writer,
    owner,
    expiry,
    async stop() {
      await expiry.stop();
      await Promise.all([erasures.stop(), personalData.stop()]);
      await measured?.stop();
      await owner.stop();
      await Promise.all([publisher.close(), reader.close(), announcer.close(), brokerClock.close()]);
      await database.close();
    },
  };
}

const openLog = (stack: BackingStack, { prefix, sessionTimeoutMs }: WriterLocation): EventLog =>
  createEventLog({
    brokers: stack.kafka.split(','),
    partitions: PARTITIONS,
    clientId: 'intent-test',
    prefix,
    ...(sessionTimeoutMs !== undefined && { sessionTimeoutMs }),
  });

/** What proves to the client that a reply is the writer's. */
export const REPLY_SECRET = 'a secret of tests and their gateways';

type OutcomeOfIntent = Exclude<Outcome, { readonly kind: 'deposit' }>;
/** The reply to a command about an intent. */
export type IntentReply = Reply & { readonly outcome: OutcomeOfIntent };
function ofIntent(outcome: Outcome): OutcomeOfIntent {
  if (outcome.kind === 'deposit') throw new Error(`${outcome.commandId} was about ${outcome.depositId}`);
  return outcome;
}

/** Stands in for the gateway: sends commands and receives the replies. */
export class CommandClient {
  /** The reply channel. */
  readonly channel = replyChannel(newCommandId());
  readonly replies = new Map<CommandId, Reply[]>();
  readonly #publisher: Publisher;
  readonly #subscriber: ChannelSubscriber;
  readonly #database: Database;

  private constructor(publisher: Publisher, database: Database) {
    this.#publisher = publisher;
    this.#database = database;
    this.#subscriber = new ChannelSubscriber(
      readBackingStack().redis,
      { message: (_channel, text) => this.#receive(text) },
      { log: createLogger('test', 'silent'), withoutRedis: 'the test fails' },
    );
  }

  static async open(log: EventLog, database: Database): Promise<CommandClient> {
    const client = new CommandClient(await log.publisher(), database);
    void client.#subscriber.subscribe(client.channel);
    client.#subscriber.open();
    await until('the reply channel', () => client.#subscriber.listening);
    return client;
  }

  repliesTo(commandId: CommandId): readonly Reply[] {
    return this.replies.get(commandId) ?? [];
  }

  async send(...messages: readonly Parameters<typeof recordOf>[0][]): Promise<void> {
    await Promise.all(
      messages.map((message) =>
        this.#publisher.publish(
          message.kind === 'command' ? 'intent.commands' : 'chain.observations',
          recordOf(message),
        ),
      ),
    );
  }

  /** Sends a command and waits for the reply. */
  async execute(message: CommandMessage): Promise<IntentReply> {
    await this.send({ ...message, replyTo: this.channel });
    const reply = await until(`the reply to ${message.type}`, () => this.repliesTo(message.commandId)[0]);
    return { ...reply, outcome: ofIntent(reply.outcome) };
  }

  /** Waits until the outcome of a command is in Postgres. */
  async outcome(commandId: CommandId): Promise<OutcomeOfIntent> {
    const find = async (): Promise<Outcome | undefined> => (await findOutcomes(this.#database, [commandId]))[0];
    return ofIntent(await until(`the outcome of ${commandId}`, find));
  }

  async close(): Promise<void> {
    this.#subscriber.close();
    await this.#publisher.close();
  }

  #receive(text: string): void {
    for (const reply of parseReplies(verified([Buffer.from(REPLY_SECRET)], this.channel, text) ?? ''))
      this.replies.set(reply.outcome.commandId, [...this.repliesTo(reply.outcome.commandId), reply]);
  }
}
