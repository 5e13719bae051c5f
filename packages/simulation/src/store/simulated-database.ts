import { isDeepStrictEqual } from 'node:util';
import {
  decodeDeposit,
  decodeIntent,
  encodeDeposit,
  encodeIntent,
  encodeOutcome,
  newWebhookEndpointId,
  parseOutcome,
} from '@pf/contracts';
import type { Store, WatchCursor } from '@pf/database';
import { type AccountId, type Instant, type IntentId, isAtRest, type PaymentIntent } from '@pf/domain';
import { currentProcess, type Kernel } from '../kernel/index.ts';
import { Journal } from './journal.ts';
import * as statements from './statements.ts';
import { Tables } from './tables.ts';

export interface SimulatedDatabaseOptions {
  /** The server's name in the kernel. Default: postgres. */
  readonly name?: string;
  /** How many watched intents a client fetches at once. */
  readonly rowsAFetch?: number;
}

/**
 * Postgres with one connection for each statement, all of them serializable. The network and the server's end may lose
 * a statement or its result; a client learns only that its connection was lost.
 */
export class SimulatedDatabase {
  readonly name: string;
  /** The store as processes use it: every method is a call from the current process. */
  readonly store: Store;
  /** What is committed, for checks. */
  readonly tables: Tables;
  /** How far the server's clock is ahead of true time, in milliseconds. */
  skewMs = 0;
  /** The share of statements that the server cancels. */
  canceled = 0;
  readonly #kernel: Kernel;
  readonly #journal = new Journal();
  readonly #rowsAFetch: number;

  constructor(kernel: Kernel, { name = 'postgres', rowsAFetch = 50 }: SimulatedDatabaseOptions = {}) {
    this.#kernel = kernel;
    this.name = name;
    this.#rowsAFetch = rowsAFetch;
    this.tables = new Tables(this.#journal);
    this.store = this.#connect();
  }

  /** The server's time. */
  now(): Instant {
    return Math.floor(this.#kernel.now() + this.skewMs);
  }

  /**
   * A failover to a standby that lags: what was committed in the last `lagMs` is gone, and every connection is lost.
   * The standby is ready after `downMs`.
   * @returns the number of lost transactions
   */
  failOver(lagMs: number, downMs = 0): number {
    this.#kernel.shutDown(this.name);
    const lost = this.#journal.setBack(this.#kernel.now() - lagMs);
    this.#kernel.note(this.name, `fails over: ${lost} transactions of the last ${Math.round(lagMs)} ms are lost`);
    this.#kernel.schedule(downMs, () => this.#kernel.startUp(this.name));
    return lost;
  }

  /** Adds an account's URL, as an operator does: outside of the network. */
  addEndpoint(accountId: AccountId, livemode: boolean): string {
    const id = newWebhookEndpointId();
    this.change(({ endpoints }) => endpoints.set(id, { id, accountId, livemode, disabled: false }));
    return id;
  }

  /** Damages the stored state of an intent: what is read is held, and has what the columns say. */
  damage(id: IntentId): void {
    this.change(({ intents }) => {
      const row = intents.get(id);
      if (row) intents.set(id, { ...row, intent: statements.undecodable(row.intent) });
    });
  }

  /** What `pf log rebuild` does. @param folded the intents of the partition as its log says, up to its checkpoint */
  rebuild(partition: number, folded: readonly PaymentIntent[]): void {
    this.change((tables) => statements.rebuild(tables, partition, folded));
  }

  /** Changes the tables in one transaction, outside of the network. */
  change(work: (tables: Tables) => void): void {
    this.#journal.transaction(this.#kernel.now(), () => work(this.tables));
  }

  /**
   * The rows that would be read otherwise than they were written, by their ids: the simulation keeps decoded states,
   * Postgres their text.
   */
  lossyRows(): readonly string[] {
    const { intents, deposits, outcomes } = this.tables;
    return [
      ...[...intents.values()]
        .filter(({ intent }) => !isDeepStrictEqual(decodeIntent(encodeIntent(intent)), intent))
        .map(({ intent }) => intent.id),
      ...[...deposits.values()]
        .filter(({ deposit }) => !isDeepStrictEqual(decodeDeposit(encodeDeposit(deposit)), deposit))
        .map(({ deposit }) => deposit.id),
      ...[...outcomes.values()]
        .filter((outcome) => !isDeepStrictEqual(parseOutcome(encodeOutcome(outcome)), outcome))
        .map(({ commandId }) => commandId),
    ];
  }

  #connect(): Store {
    const run = this.#run.bind(this);
    return {
      ledger: {
        checkpoint: (partition) => run('checkpoint', (tables) => statements.checkpoint(tables, partition)),
        checkpointAll: (partitions) =>
          run('checkpoint', (tables) => partitions.map((one) => statements.checkpoint(tables, one))),
        lookUp: (wanted) => run('look up', (tables) => statements.lookUp(tables, wanted)),
        lookUpAll: (wanted) => run('look up', (tables) => wanted.map((one) => statements.lookUp(tables, one))),
        overdue: (partitions, now, limit, after) =>
          partitions.length === 0
            ? Promise.resolve(new Map())
            : run('overdue', (tables) => statements.overdue(tables, partitions, now, limit, after)),
        project: (batch) =>
          run(
            () => `project [${batch.from}, ${batch.next}) of partition ${batch.partition}`,
            (tables) => statements.project(tables, batch),
          ),
        projectAll: (batches) =>
          run(
            () => `project ${batches.map(({ from, next, partition }) => `${partition} [${from}, ${next})`).join(', ')}`,
            (tables) => statements.projectAll(tables, batches),
          ),
      },
      intents: {
        findIntent: (id, owner) => run('find intent', (tables) => statements.findIntent(tables, id, owner)),
        findIntentByKey: (idempotencyKey, owner, since) =>
          run('find by key', (tables) => statements.findIntentByKey(tables, { ...owner, idempotencyKey }, since)),
        findReported: (landing, owner, than, since) =>
          run('find reported', (tables) => statements.findReported(tables, landing, owner, than, since)),
        findDeposit: (id, owner) => run('find deposit', (tables) => statements.findDeposit(tables, id, owner)),
        findOutcomes: (commandIds) => run('find outcomes', (tables) => statements.findOutcomes(tables, commandIds)),
      },
      amounts: {
        reserve: (wanted) => run('reserve amount', (tables) => statements.reserveAmount(tables, wanted)),
        release: (intentId) => run('release amount', (tables) => statements.releaseAmount(tables, intentId)),
        takeDue: (now, limit) => run('take matches', (tables) => statements.takeDueMatches(tables, now, limit)),
        settle: (match, isAssigned) =>
          run('settle match', (tables) => statements.settleMatch(tables, match, isAssigned)),
        postpone: (match, until) => run('postpone match', (tables) => statements.postponeMatch(tables, match, until)),
        hasRival: (intent, closedAfter) =>
          run('look for rivals', (tables) => statements.hasRival(tables, intent, closedAfter)),
      },
      signedTransactions: {
        keep: (transaction) => run('keep bytes', (tables, now) => statements.keepTransaction(tables, transaction, now)),
        find: (chain, hashes) => run('find bytes', (tables) => statements.findTransactions(tables, chain, hashes)),
        forget: (chain, shard, keptBefore, needed, unknown) =>
          run('forget bytes', (tables) =>
            statements.forgetTransactions(tables, chain, shard, keptBefore, needed, unknown),
          ),
      },
      watches: {
        acquire: (chain, shard, holder, ttlMs) =>
          run('acquire lease', (tables, now) => statements.acquireWatch(tables, chain, shard, holder, ttlMs, now)),
        shards: () => run('count shards', () => 1),
        renew: (lease, ttlMs) =>
          run('renew lease', (tables, now) => statements.changeWatch(tables, lease, { expiresAt: now + ttlMs })),
        moveCursor: (lease, cursor, bookmarks = new Map<string, string | null>()) => {
          const stored = JSON.parse(JSON.stringify(cursor)) as WatchCursor;
          const changed = [...bookmarks];
          return run('move cursor', (tables) => statements.moveCursor(tables, lease, stored, changed));
        },
        bookmarks: (chain, shard) => run('load bookmarks', (tables) => statements.bookmarksOf(tables, chain, shard)),
        release: (lease) =>
          run('release lease', (tables) => {
            statements.changeWatch(tables, lease, { holder: null, expiresAt: null });
          }),
      },
      watchedIntents: {
        load: async (chains, closedAfter, each, shard, resting) => {
          const { rows, positions, server } = await run('load watched intents', (tables) => ({
            rows: statements.watchedRows(tables, chains, closedAfter, shard),
            positions: new Map(
              [...tables.checkpoints.entries()].map(([partition, { position }]) => [partition, position]),
            ),
            server: currentProcess('a statement'),
          }));
          // A transaction ends with the server that began it.
          const sameServer = (): void => {
            if (currentProcess('a statement') !== server) throw connectionLost();
          };
          for (let at = 0; at < rows.length; at += this.#rowsAFetch) {
            await run('fetch watched intents', sameServer);
            for (const { intent } of rows.slice(at, at + this.#rowsAFetch))
              if (resting && intent.closedAt !== null && !intent.simulated && isAtRest(intent, resting.since))
                resting.each({ ...intent, closedAt: intent.closedAt });
              else each(intent);
          }
          await run('end of watched intents', sameServer);
          return positions;
        },
        openDeposits: (chains, shard) =>
          run('load open deposits', (tables) => statements.openDeposits(tables, chains, shard)),
        rebuilds: () => run('count rebuilds', statements.countRebuilds),
        wallets: async (chains, after, shard, each) => {
          for (const wallet of await run('load wallets', (tables) => statements.wallets(tables, chains, after, shard)))
            each(wallet);
        },
        keepWallets: (wallets) => run('keep wallets', (tables) => statements.keepWallets(tables, wallets)),
        forgetWallets: (chains, before) =>
          run('forget wallets', (tables) => statements.forgetWallets(tables, chains, before)),
        find: (ids) => run('find watched intents', (tables) => statements.findIntents(tables, ids)),
      },
      webhooks: {
        positions: (partitions) => run('webhook positions', (tables) => statements.positions(tables, partitions)),
        recordDeliveries: (batches, at) =>
          run(
            () => {
              const ranges = batches.map(({ partition, from, next }) => `[${from}, ${next}) of partition ${partition}`);
              return `record deliveries of ${ranges.join(', ')}`;
            },
            (tables) => statements.recordDeliveries(tables, batches, at),
          ),
      },
    };
  }

  #run<Result>(what: string | (() => string), work: (tables: Tables, now: Instant) => Result): Promise<Result> {
    const kernel = this.#kernel;
    const serve = (): Result => {
      if (kernel.random.chance(this.canceled)) throw statementCanceled();
      return this.#journal.transaction(kernel.now(), () => work(this.tables, this.now()));
    };
    return kernel.call(this.name, serve, connectionLost, { what });
  }
}

/** As node-postgres and Postgres say it: isDatabaseUnavailable() knows them. */
const connectionLost = (): Error => new Error('Connection terminated unexpectedly');
const statementCanceled = (): Error =>
  Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });
