import {
  encodeObservation,
  eventOf,
  newIntentId,
  observationKey,
  type ObservationMessage,
  partitionOf,
  parseDeadLetter,
  isDepositEvent,
  parseEvent,
  readRecord,
} from '@pf/contracts';
import type { KeyHolder, Store } from '@pf/database';
import {
  type AccountId,
  evolve,
  type IntentId,
  type PaymentIntent,
  type Reference,
  type TransactionHash,
} from '@pf/domain';
import type { Addressed, LogRecord, LogTransport, Topic } from '@pf/event-log';
import type { Logger } from '@pf/runtime';
import { CALM, HONEST, SimulatedNetwork, SimulatedWallet } from '@pf/simulation/chain';
import { currentProcess, type Kernel, Random } from '@pf/simulation/kernel';
import { type MemberTimes, SimulatedBroker, simulatedTransport } from '@pf/simulation/log';
import { SimulatedDatabase } from '@pf/simulation/store';
import { Model } from '../model/model.ts';
import type { Plan } from '../plan.ts';
import { traceLogger } from './log-sink.ts';
import { SimulatedRedis } from './redis.ts';

/** Whose requests the clients make. */
export const HOLDER: KeyHolder = {
  keyId: 'key_2222222222222222222222',
  accountId: 'acct_2222222222222222222222' as AccountId,
  livemode: false,
  scope: 'full',
  plan: 'free',
  expiresAt: null,
};
/** The share of processes that are killed when they are about to tell an intent of its deposit, where any are. */
const TELLING_KILLED = 0.3;
const PAYERS = 3;
const MERCHANTS = 2;
const UPSTREAMS = 3;
const FUNDS = 10n ** 12n;
const DOWN_MS = [50, 2_000] as const;
const REPEAT_MS = [10, 1_500] as const;
/** How long an operator takes after an alarm. */
const OPERATOR_MS = [1_000, 20_000] as const;
/** How soon an operator tries a rebuild again that had to wait for the writer. */
const REBUILD_AGAIN_MS = 200;
/** How long after a rebuild the dead letters are replayed: batches that were decided before it are committed then. */
const REPLAY_MS = 15_000;
/** While things go wrong, about as in production. A stack at rest is polled less, so that runs are short. */
const STORM_TIMES: MemberTimes = { heartbeatMs: 300, fetchWaitMs: 300 };
const CALM_TIMES: MemberTimes = { heartbeatMs: 2_000, fetchWaitMs: 2_000 };
/** As Base's observer has it. */
const NO_REFERENCE = `0x${'0'.repeat(64)}` as Reference;
/** Of the writers; the watchers' key follows from it. */
export const OBSERVATION_SECRET = Buffer.from('the observations of simulated watchers');
const NO_TRACE = { traceparent: null, requestId: null } as const;

/** True for what tells an intent how a deposit stands that is assigned to it. */
const isTelling = (value: string | null): boolean => value?.includes('"type":"assigned"') ?? false;

/** Everything around the services. */
export class WorldDependencies {
  readonly kernel: Kernel;
  readonly plan: Plan;
  readonly random: Random;
  readonly log: Logger;
  readonly model = new Model();
  readonly broker: SimulatedBroker;
  readonly database: SimulatedDatabase;
  readonly redis: SimulatedRedis;
  readonly network: SimulatedNetwork;
  readonly transport: LogTransport;
  readonly payers: readonly SimulatedWallet[];
  readonly merchants: readonly SimulatedWallet[];
  /** Wallets of an adversary. */
  readonly strangers: readonly [SimulatedWallet, SimulatedWallet];
  /** Wallets that nothing has gone wrong for. */
  readonly probers: readonly [SimulatedWallet, SimulatedWallet];
  /** One that is paid, and gives its account away. */
  readonly payee: SimulatedWallet;
  /** One that pays only in what an upstream invents. */
  readonly ghost: SimulatedWallet;
  /** When the storm was over, in true virtual time; null before. */
  calmSince: number | null = null;
  /** Deposits are assigned behind the storm too: so long processes are killed before they tell of it. */
  areClientsDone = false;
  /** An error that a gateway could not explain to its client. */
  unforeseen: string | null = null;
  /** The alarm of a broken log, by process and partition, where the alarm names one. */
  readonly brokenLogs = new Set<string>();
  readonly #beganAt: number;
  readonly #memberTimes = { ...STORM_TIMES };
  #repeatedSends = 0;
  /** Kills the current process, which has committed what a deposit has become and has not told its intent. */
  protected killBeforeTelling: (() => void) | null = null;
  /** Intents whose rows were damaged. */
  readonly #damaged = new Set<IntentId>();
  /** Up to where the dead letters were replayed, by partition. */
  readonly #replayed = new Map<number, bigint>();

  constructor(kernel: Kernel, plan: Plan) {
    this.kernel = kernel;
    this.#beganAt = kernel.now();
    this.plan = plan;
    this.random = new Random(kernel.seed, 'world');
    this.log = traceLogger(kernel, (alarm, { partition }) => {
      if (alarm === 'hanging_transaction') this.#abortHanging(Number(partition));
      if (alarm === 'broken_log')
        this.brokenLogs.add(
          `${currentProcess('an alarm').name.replace(/-.*/, '')} ${typeof partition === 'number' ? partition : 'any'}`,
        );
    });
    this.broker = new SimulatedBroker(kernel, { partitions: plan.partitions });
    this.transport = this.#repeating(
      simulatedTransport(kernel, this.broker, { times: this.#memberTimes, log: this.log }),
    );
    this.database = new SimulatedDatabase(kernel);
    this.database.addEndpoint(HOLDER.accountId, HOLDER.livemode);
    this.redis = new SimulatedRedis(kernel);
    this.network = new SimulatedNetwork(kernel, UPSTREAMS);
    const [token] = this.network.network.tokens;
    if (token === undefined) throw new Error('The network has no token.');
    const wallets = Array.from({ length: PAYERS + MERCHANTS }, (_, index) =>
      new SimulatedWallet(this.network.chain, index).fund(token.address, FUNDS),
    );
    this.payers = wallets.slice(0, PAYERS);
    this.merchants = wallets.slice(PAYERS);
    const other = (index: number): SimulatedWallet => new SimulatedWallet(this.network.chain, 100 + index);
    this.strangers = [other(0).fund(token.address, FUNDS), other(1).fund(token.address, FUNDS)];
    this.probers = [other(2).fund(token.address, FUNDS), other(3).fund(token.address, FUNDS)];
    [this.payee, this.ghost] = [other(4), other(5)];
  }

  get store(): Store {
    return this.database.store;
  }

  /** The committed records from a position on, and the position after them. */
  committed(
    topic: Topic,
    partition: number,
    from: bigint,
  ): { readonly records: readonly LogRecord[]; readonly next: bigint } {
    const log = this.broker.log(topic, partition);
    const records: LogRecord[] = [];
    let position = from;
    for (;;) {
      const { records: found, next } = log.read(position);
      records.push(...found);
      if (next === null) return { records, next: position };
      position = next;
    }
  }

  /** A producer that repeats a request whose response it has missed: the same records are there twice. */
  #repeating(transport: LogTransport): LogTransport {
    return {
      ...transport,
      openProducer: async () => {
        const producer = await transport.openProducer();
        return {
          ...producer,
          send: async (records) => {
            const sent = [...records];
            if (this.#isKilledBefore(sent)) return new Promise(() => undefined);
            await producer.send(sent);
            if (!this.random.chance(this.#repeatedSends)) return;
            await this.kernel.sleep(this.random.between(0, this.random.pick(REPEAT_MS)));
            await producer.send(sent);
          },
        };
      },
    };
  }

  #isKilledBefore(records: readonly Addressed[]): boolean {
    if (this.areClientsDone || !this.plan.kinds.has('kills')) return false;
    if (!records.some(({ topic, record }) => topic === 'chain.observations' && isTelling(record.value))) return false;
    if (this.killBeforeTelling === null || !this.random.chance(TELLING_KILLED)) return false;
    this.killBeforeTelling();
    return true;
  }

  /** Sends what no service sends: a record that is no message, or an observation of an intent that does not exist. */
  sendForeign(partition: number, isMessage: boolean): void {
    this.#asOperator(() => {
      const intentId = newIntentId(partition);
      const { chain } = this.network.network;
      const message = {
        type: 'lost',
        intentId,
        data: { hash: `0x${'0'.repeat(64)}` },
        chain,
        trace: NO_TRACE,
      } as const;
      const value = isMessage
        ? encodeObservation(
            { kind: 'observation', ...message } as ObservationMessage,
            observationKey(OBSERVATION_SECRET, chain),
          )
        : '{"type":';
      this.broker.produce([{ topic: 'chain.observations', record: { partition, key: intentId, value } }]);
    });
  }

  #asOperator(work: () => void): void {
    const operator = this.kernel.process('operator');
    if (!operator) throw new Error('The operator is gone.');
    this.kernel.within(operator, work);
  }

  /**
   * Sends what a watcher reported that could not prove a payment: its transfer, without the reference.
   * @returns false while it is in no block, or the log takes nothing
   */
  reportUnproven(intentId: string, hash: TransactionHash): boolean {
    const { chain } = this.network;
    const inclusion = chain.inclusionOf(hash, this.kernel.now());
    const [moved] = inclusion?.transfers ?? [];
    if (inclusion === null || moved === undefined || this.broker.faults.tooFewReplicas) return false;
    const { block, firstLog } = inclusion;
    const { token, from, to, amount } = moved;
    const blockHash = chain.blockHash(block, this.kernel.now());
    const index = firstLog.toString();
    const transfer = {
      tokenAddress: token,
      from,
      to,
      amount,
      reference: NO_REFERENCE,
      block: BigInt(block),
      blockHash,
      index,
    };
    const id = intentId as IntentId;
    const message = {
      type: 'landed',
      intentId: id,
      data: { hash, level: 'confirmed', transfer },
      chain: this.network.network.chain,
      trace: NO_TRACE,
    } as const;
    const key = observationKey(OBSERVATION_SECRET, message.chain);
    const value = encodeObservation({ kind: 'observation', ...message }, key);
    const record = { partition: partitionOf(id), key: id, value };
    this.#asOperator(() => this.broker.produce([{ topic: 'chain.observations', record }]));
    return true;
  }

  /** Kills the broker. @returns starts it again */
  crashBroker(): () => void {
    this.broker.crash();
    return () => this.broker.restart();
  }

  /** Kills the broker when it has next ended a transaction, perhaps before its markers. @returns starts it again */
  crashBrokerAtCommit(): () => void {
    let isOver = false;
    this.broker.onEnd = () => {
      this.broker.onEnd = null;
      this.kernel.schedule(this.random.between(0, 10), () => isOver || this.broker.crash());
    };
    return () => {
      isOver = true;
      this.broker.onEnd = null;
      this.broker.restart();
    };
  }

  /** What the operator does after the alarm, as docs/operations/runbooks/hanging-transaction.md says. */
  #abortHanging(partition: number): void {
    this.kernel.schedule(this.random.between(...OPERATOR_MS), () => {
      for (const { producerId } of this.broker.openTransactions(partition)) {
        if (this.broker.isBusy(producerId)) continue;
        this.broker.writeMarker(partition, producerId, false);
        this.kernel.note('operator', `aborts the hanging transaction of partition ${partition}`);
        const { offsets } = this.broker.group('intent');
        for (const topic of ['intent.commands', 'chain.observations'] as const) {
          const key = `${topic}/${partition}`;
          const back = (offsets.get(key) ?? 0n) - 200n;
          this.broker.resetOffset('intent', key, back > 0n ? back : 0n);
        }
      }
    });
  }

  /** The database fails over to a copy that is `lagMs` old. */
  setBackDatabase(lagMs: number): void {
    // The account and its URL are older.
    const age = this.kernel.now() - this.#beganAt - 1;
    this.database.failOver(Math.min(lagMs, age), this.random.between(...DOWN_MS));
  }

  /** Damages the row of an open intent. @returns what the operator does then; null where no intent is open */
  damageRow(random: Random): (() => void) | null {
    const open = [...this.database.tables.intents.values()].filter(
      ({ intent }) => intent.closedAt === null && intent.heldFrom === undefined,
    );
    if (open.length === 0) return null;
    // Where most is lost with it.
    const paid = open.filter(({ intent }) => intent.submissions.length > 0 || intent.settlement !== null);
    const { partition, intent } = random.pick(paid.length > 0 ? paid : open);
    this.kernel.note('postgres', `the row of ${intent.id} is damaged`);
    this.database.damage(intent.id);
    this.#damaged.add(intent.id);
    return () => this.#rebuild(partition);
  }

  /** `pf log rebuild`, when everything in the log is projected. */
  #rebuild(partition: number): void {
    const position = this.database.tables.checkpoints.get(partition)?.position ?? 0n;
    const { stableEnd, end } = this.broker.log('intent.events', partition);
    if (position !== BigInt(end) || stableEnd !== end || !this.kernel.isUp(this.database.name)) {
      this.kernel.schedule(REBUILD_AGAIN_MS, () => this.#rebuild(partition));
      return;
    }
    const folded = new Map<IntentId, PaymentIntent>();
    for (const { value } of this.committed('intent.events', partition, 0n).records) {
      if (isDepositEvent(readRecord(value ?? ''))) continue;
      const event = eventOf(parseEvent(value ?? ''));
      folded.set(event.intentId, evolve(folded.get(event.intentId), event));
    }
    this.database.rebuild(partition, [...folded.values()]);
    this.kernel.note('operator', `rebuilds partition ${partition}`);
    this.kernel.schedule(REPLAY_MS, () => this.#replay(partition));
  }

  /** `pf dead-letters replay`: what was observed of intents whose rows were damaged. */
  #replay(partition: number): void {
    if (this.broker.faults.tooFewReplicas) {
      this.kernel.schedule(REBUILD_AGAIN_MS, () => this.#replay(partition));
      return;
    }
    const { records, next } = this.committed('intent.dead', partition, this.#replayed.get(partition) ?? 0n);
    this.#replayed.set(partition, next);
    for (const { value } of records) {
      const { intentId, topic, payload } = parseDeadLetter(value ?? '');
      if (intentId === null || payload === null || !this.#damaged.has(intentId as IntentId)) continue;
      this.broker.produce([{ topic, record: { partition, key: intentId, value: payload } }]);
    }
  }

  /** Sets the faults of the network, the broker and the chain that last for the whole storm. */
  setLastingFaults(isStorm: boolean): void {
    const has = (kind: Parameters<Plan['kinds']['has']>[0]): boolean => isStorm && this.plan.kinds.has(kind);
    this.calmSince = isStorm ? null : this.kernel.now();
    Object.assign(this.#memberTimes, isStorm ? STORM_TIMES : CALM_TIMES);
    // Also where a failover has brought the damage back.
    if (!isStorm && this.#damaged.size > 0)
      for (let partition = 0; partition < this.plan.partitions; partition++) this.#rebuild(partition);
    const { network } = this.kernel;
    network.slowShare = has('slow messages') ? 0.05 : 0;
    network.lostRequests = has('lost messages') ? 0.01 : 0;
    network.lostReplies = has('lost messages') ? 0.02 : 0;
    this.#repeatedSends = has('repeated sends') ? 0.15 : 0;
    this.broker.faults.lostMarkers = has('hanging transactions') ? 0.4 : 0;
    this.broker.faults.skippedMarkers = has('hanging transactions') ? 0.02 : 0;
    const { chain, nodes } = this.network;
    const reorganizes = has('reorganizations');
    const isLate = has('late landings');
    const forgets = has('forgotten transactions');
    chain.faults =
      reorganizes || isLate || forgets
        ? {
            ...CALM,
            reorgEveryMs: reorganizes ? 6_000 : null,
            reorgDepth: reorganizes ? 12 : 0,
            late: isLate ? { chance: 0.3, ms: 240_000 } : CALM.late,
            forgotten: forgets ? 0.4 : 0,
            replacedSurvives: forgets ? 0.3 : 0,
          }
        : CALM;
    // The last upstream tells the truth, if it says anything.
    const fails = has('silent upstreams') ? this.random.between(0.2, 0.8) : 0;
    for (const [index, node] of nodes.entries())
      node.faults = {
        ...HONEST,
        fails,
        refuses: has('refusing upstreams') ? 0.6 : 0,
        ...(index < nodes.length - 1 && {
          lagMs: has('lagging upstreams') ? 4_000 * (index + 1) : 0,
          // It shows in the calm what it has left out: nothing is final that one of two does not show.
          omits: has('lying upstreams') && index === 0 ? 0.5 : 0,
        }),
      };
  }
}
