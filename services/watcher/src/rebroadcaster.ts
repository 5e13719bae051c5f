import type { BroadcastResult, ChainAdapter, WatchSet } from '@pf/chains';
import { type Shard, type SignedTransactions, UNSPLIT } from '@pf/database';
import { type Instant, type IntentId, isAuthorization, rebroadcastAt, type TransactionHash } from '@pf/domain';
import { inSpan, type Logger } from '@pf/runtime';

/** How often it checks what is due. */
const CHECK_EVERY_MS = 500;
/** Transactions of one round, and how many of them are broadcast at once. */
const ROUND = 64;
const AT_ONCE = 8;
/** Between two broadcasts of one transaction: it may never have an outcome, whatever is wrong with it. */
const LONGEST_PAUSE_MS = 10 * 60_000;
/**
 * Bytes are stored before the submission is prepared, which is known here a little later: recent ones are not deleted.
 */
const FORGET_AFTER_MS = 10 * 60_000;
const FORGET_EVERY_MS = 5 * 60_000;

const NOT_STORED = 'the bytes of a landed transaction could not be stored yet';

/** Tells of which intents of a set not everything is known. */
export interface HeldIntents {
  held(): ReadonlySet<IntentId>;
}

/** How current a set is. */
export interface Known {
  /** When it was synchronized. */
  readonly now: Instant;
  /** Up to when it has all that was decided about an intent: earlier than `now` while a transaction is open. */
  readonly asOf: (id: IntentId) => Instant;
}

/** A transaction of an intent. */
interface Candidate {
  readonly intentId: IntentId;
  readonly hash: TransactionHash;
}

/** One whose turn it is. */
interface Due extends Candidate {
  readonly key: string;
  readonly at: Instant;
}

/** A transaction that is broadcast again until its outcome is observed. */
interface Turn {
  readonly at: Instant;
  /** When it could be broadcast again for the first time. */
  readonly since: Instant;
  /** How often in a row a node has shown it in a block. */
  readonly timesLanded: number;
}

/**
 * The pause after a broadcast: an eighth of the time for which it has been due, and twice as long with each time that a
 * node shows it in a block. Its outcome is then about to be observed, unless a reorg undoes the block.
 */
const pauseOf = ({ since, timesLanded }: Turn, now: Instant, everyMs: number): number =>
  Math.min(Math.max(everyMs * 2 ** timesLanded, (now - since) / 8), Math.max(everyMs, LONGEST_PAUSE_MS));

/** The next transactions to offer: those that have been due the longest, so that each gets its turn. */
const longestDue = <One extends { readonly at: Instant }>(candidates: One[]): readonly One[] =>
  candidates.sort((a, b) => a.at - b.at).slice(0, ROUND);

/**
 * Broadcasts signed transactions again: those that were prepared and never released, live ones from time to time, and
 * those whose block a reorg has orphaned. The outcome is observed on chain, so a refusal is only logged. Works in
 * parallel with the steps, one round at a time.
 *
 * Of a held intent nothing is broadcast, because newer code may have released its claim, and all bytes are kept.
 */
export class Rebroadcaster {
  readonly #adapter: ChainAdapter;
  readonly #transactions: SignedTransactions;
  readonly #everyMs: number;
  readonly #log: Logger;
  readonly #shard: Shard;
  /** Of each candidate that can still land, by its key. */
  #turns = new Map<string, Turn>();
  /** When to check that a settling transaction's bytes are stored; infinite once they are. */
  #storeAt = new Map<TransactionHash, Instant>();
  #checkedAt = Number.NEGATIVE_INFINITY;
  #forgottenAt = Number.NEGATIVE_INFINITY;
  #round: Promise<void> | null = null;

  /**
   * @param everyMs the network's `rebroadcastAfterMs`
   * @param shard whose intents the sets have: only their bytes are deleted
   */
  constructor(
    adapter: ChainAdapter,
    transactions: SignedTransactions,
    everyMs: number,
    log: Logger,
    shard: Shard = UNSPLIT,
  ) {
    this.#shard = shard;
    this.#adapter = adapter;
    this.#transactions = transactions;
    this.#everyMs = everyMs;
    this.#log = log;
  }

  /**
   * Starts a round if something is due, without waiting for it.
   * @param ended the round goes no further
   */
  look(set: WatchSet & HeldIntents, known: Known, ended: AbortSignal): void {
    const { now } = known;
    if (this.#round || now - this.#checkedAt < CHECK_EVERY_MS) return;
    this.#checkedAt = now;
    const due = this.#due(set, known);
    const unstored = this.#notStored(set, now);
    const needed = now - this.#forgottenAt < FORGET_EVERY_MS ? null : needsOf(set);
    if (due.length === 0 && unstored.length === 0 && needed === null) return;
    if (needed) this.#forgottenAt = now;
    this.#round = this.#run(due, unstored, needed, now, ended)
      // Whatever was not done will be due again.
      .catch((error: unknown) => this.#log.warn({ err: error }, 'broadcasting transactions again failed'))
      .finally(() => (this.#round = null));
  }

  /**
   * Stores the bytes of landed transactions, at most those of one round, where they are not stored yet: a wallet may
   * have sent one by itself, and a database that was set back has forgotten what it stored last. A reorg may undo one
   * before it is settled and its bytes are looked for. What cannot be stored now is tried again then.
   */
  async store(landed: readonly Candidate[], ended: AbortSignal): Promise<void> {
    if (landed.length === 0) return;
    const round = landed.slice(0, ROUND);
    try {
      const stored = await this.#find(round);
      const missing = round.filter(({ hash }) => !stored.has(hash));
      await this.#forEach(missing, ended, NOT_STORED, (candidate) => this.#fetch(candidate));
    } catch (error) {
      this.#log.warn({ err: error }, 'whether the bytes of landed transactions are stored is not known yet');
    }
  }

  /** Resolves when no round is under way. */
  async idle(): Promise<void> {
    await this.#round;
  }

  #due(set: WatchSet & HeldIntents, { now, asOf }: Known): readonly Due[] {
    const held = set.held();
    const turns = new Map<string, Turn>();
    const candidates: Due[] = [];
    const consider = (intentId: IntentId, hash: TransactionHash, key: string, at: Instant, since = at): void => {
      if (held.has(intentId)) return;
      const turn = this.#turns.get(key) ?? { at, since, timesLanded: 0 };
      turns.set(key, turn);
      // A release that was decided in time may be in a transaction that has not ended.
      if (turn.at <= asOf(intentId)) candidates.push({ intentId, hash, key, at: turn.at });
    };
    for (const { id, submission } of set.submitted()) {
      // Its bytes are no transaction: whoever pays the gas sends it.
      if (isAuthorization(submission)) continue;
      const { hash, preparedAt, broadcastAt } = submission;
      const key = broadcastAt === null ? `unheard ${hash} ${preparedAt}` : hash;
      consider(id, hash, key, rebroadcastAt(submission, this.#everyMs));
    }
    // At once, however recently it was broadcast while it was live.
    for (const { id, settlement } of set.settling())
      if (settlement.lost) consider(id, settlement.hash, `lost ${settlement.hash}`, 0, now);
    this.#turns = turns;
    const round = longestDue(candidates);
    for (const { key } of round) this.#postpone(key, now, (turn) => turn);
    return round;
  }

  /** @param change what was learned about it */
  #postpone(key: string, now: Instant, change: (turn: Turn) => Turn): void {
    const known = this.#turns.get(key);
    if (known === undefined) return;
    const turn = change(known);
    this.#turns.set(key, { ...turn, at: now + pauseOf(turn, now, this.#everyMs) * (1 + Math.random() / 10) });
  }

  /** Settlements whose bytes may have to be fetched while the chain has them, in case of a reorg. */
  #notStored(set: WatchSet, now: Instant): readonly Candidate[] {
    const storeAt = new Map<TransactionHash, Instant>();
    const candidates: (Candidate & { readonly at: Instant })[] = [];
    for (const { id, settlement } of set.settling()) {
      const at = this.#storeAt.get(settlement.hash) ?? now;
      storeAt.set(settlement.hash, at);
      if (at <= now && !settlement.lost) candidates.push({ intentId: id, hash: settlement.hash, at });
    }
    this.#storeAt = storeAt;
    const round = longestDue(candidates);
    for (const { hash } of round) storeAt.set(hash, now + this.#everyMs);
    return round;
  }

  async #run(
    due: readonly Due[],
    unstored: readonly Candidate[],
    needed: Needs | null,
    now: Instant,
    ended: AbortSignal,
  ): Promise<void> {
    const bytes = await this.#find([...due, ...unstored]);
    await this.#forEach(due, ended, 'a transaction could not be broadcast again', async (candidate) => {
      const raw = bytes.get(candidate.hash) ?? (await this.#fetch(candidate));
      if (!raw) throw new Error('neither the database nor an upstream has its bytes');
      const isLanded = await this.#broadcast(candidate, raw);
      this.#postpone(candidate.key, now, (turn) => ({ ...turn, timesLanded: isLanded ? turn.timesLanded + 1 : 0 }));
    });
    await this.#forEach(unstored, ended, NOT_STORED, async (candidate) => {
      if (bytes.has(candidate.hash) || (await this.#fetch(candidate)))
        this.#storeAt.set(candidate.hash, Number.POSITIVE_INFINITY);
    });
    if (needed && !ended.aborted)
      await this.#transactions.forget(
        this.#adapter.network.chain,
        this.#shard,
        now - FORGET_AFTER_MS,
        needed.hashes,
        needed.unknown,
      );
  }

  #find(candidates: readonly Candidate[]): Promise<ReadonlyMap<TransactionHash, Uint8Array>> {
    return this.#transactions.find(
      this.#adapter.network.chain,
      candidates.map(({ hash }) => hash),
    );
  }

  /** Works on some at once. What fails for one is logged, and due again; it does not stop the others. */
  async #forEach<One extends Candidate>(
    candidates: readonly One[],
    ended: AbortSignal,
    problem: string,
    work: (candidate: One) => Promise<unknown>,
  ): Promise<void> {
    for (let at = 0; at < candidates.length && !ended.aborted; at += AT_ONCE) {
      const group = candidates.slice(at, at + AT_ONCE);
      const results = await Promise.allSettled(group.map(work));
      for (const [place, result] of results.entries())
        if (result.status === 'rejected')
          this.#log.warn(
            { err: result.reason as unknown, intentId: group[place]?.intentId, hash: group[place]?.hash },
            problem,
          );
    }
  }

  /** Fetches it from the chain and stores it. Null where no upstream returns it. */
  async #fetch({ intentId, hash }: Candidate): Promise<Uint8Array | null> {
    const transaction = await this.#adapter.fetchSent(hash);
    if (!transaction || transaction.isPartial === true) return null;
    await this.#transactions.keep({ intentId, chain: this.#adapter.network.chain, hash, bytes: transaction.raw });
    return transaction.raw;
  }

  /** @returns whether a node shows it in a block */
  async #broadcast(candidate: Candidate, raw: Uint8Array): Promise<boolean> {
    const result = await inSpan<BroadcastResult>(
      'broadcast again',
      null,
      () => this.#adapter.broadcast({ hash: candidate.hash, raw }),
      {
        attributes: { 'payments.intent.id': candidate.intentId, 'payments.transaction.hash': candidate.hash },
      },
    );
    this.#log.info({ intentId: candidate.intentId, hash: candidate.hash, ...result }, 'broadcast again');
    return result.kind === 'taken' && result.isLanded === true;
  }
}

/** What old bytes may still be needed. */
interface Needs {
  readonly hashes: readonly TransactionHash[];
  /** Intents of which it is not known what they need: everything of theirs. */
  readonly unknown: readonly IntentId[];
}

function needsOf(set: WatchSet & HeldIntents): Needs {
  const hashes = new Set<TransactionHash>();
  for (const { submission } of set.submitted()) hashes.add(submission.hash);
  for (const { settlement } of set.settling()) hashes.add(settlement.hash);
  return { hashes: [...hashes], unknown: [...set.held()] };
}
