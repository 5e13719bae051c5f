import { pause, within } from '@pf/runtime';
import type { FormerState } from '../kafka/hanging-transaction.ts';
import type { NewRecord } from '../port.ts';
import type { Consumed, PartitionWriter } from '../transport.ts';

/** How long a new owner waits until the former one, which may own other partitions, has taken its delegation back. */
const RELEASE_TRIES = 15;
const RELEASE_PAUSE_MS = 20;
/** How long a writer that is closed tries to take its delegation back. */
const RELEASING_MS = 1_000;
/** How long an offset may stay undecided after the fence of all who could decide it: its marker is being written. */
const UNSTABLE_TRIES = 100;
const UNSTABLE_PAUSE_MS = 20;
/** The coordinator writes the markers of the last transaction within milliseconds, while it has all its brokers. */
const END_TRIES = 200;
const END_PAUSE_MS = 5;
/** How long a writer that is closed waits for the marker of its last transaction. */
const LAST_END_TRIES = 40;
/** How long a partition writes alone after a failure, so that one that fails again and again stops no other. */
const ALONE_MS = 10_000;

/** The part of one partition in a transaction. */
export interface Part {
  readonly partition: number;
  readonly append: readonly NewRecord[];
  /** The note is stored beside the offset of the commands: the id to which the partition is delegated, or null. */
  readonly consumed: (Consumed & { readonly note: string | null }) | null;
  /** The offset that the first record must get; null where the note alone changes. */
  readonly at: bigint | null;
}

/** A transactional id that this process has taken: whoever takes it next fences this process. */
interface TakenId {
  readonly id: string;
  /**
   * All parts in one transaction, or nothing of any.
   * @throws LogTruncatedError where a first record gets a lower offset than it must; then, and where one gets a higher
   *   one, nothing is committed
   * @throws when refused, fenced or without a response; the transaction may still have been committed
   */
  transact(parts: readonly Part[]): Promise<void>;
  /** Never rejects. */
  close(): Promise<void>;
}

/** The id of one partition, intent-writer-<partition>. */
export interface PartitionId extends TakenId {
  endsAt(position: bigint): Promise<boolean>;
}

/** What the group's coordinator has stored for a partition's commands. */
interface Delegation {
  /** Null: no offset was ever committed. */
  readonly offset: bigint | null;
  /** The delegate; null where the partition's own id alone writes it. */
  readonly to: string | null;
}

/** Single requests, for whoever opens a writer. */
export interface SharingRequests {
  /** What is committed; with `stable`, null while a transaction is open that may change it. */
  delegation(partition: number, stable: boolean): Promise<Delegation | null>;
  /** Whether the partition ever had a command. */
  hasCommands(partition: number): Promise<boolean>;
  /** Takes the id and forgets it: its holder's transaction is aborted, and whatever it does next fails. */
  fence(id: string): Promise<FormerState | null>;
  /** Every delegate's id that a coordinator knows. Rejects unless all of them respond. */
  delegates(): Promise<readonly string[]>;
}

interface Waiting {
  readonly part: Part;
  /** Whether the partition has the marker of its last transaction, and nothing behind it. */
  readonly ended: () => Promise<boolean>;
  readonly resolve: (committed: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** A partition of the last transaction. */
interface Unended {
  readonly ended: () => Promise<boolean>;
  /** The look for its marker; null before it begins. */
  looking: Promise<boolean> | null;
}

/** The transactions of one delegate: one at a time, each of all parts that came during the last. */
class SharedTransactions {
  readonly taken: TakenId;
  readonly #failed: () => void;
  /** The partitions of the last transaction in which its marker was not seen yet. */
  readonly #unended = new Map<number, Unended>();
  /** The partitions whose owners look by themselves in this turn. */
  readonly #deciding = new Set<number>();
  #waiting: Waiting[] = [];
  #running = false;
  /** After a failure the outcome is unknown, and the id is never used again. */
  #over = false;

  constructor(taken: TakenId, failed: () => void) {
    this.taken = taken;
    this.#failed = failed;
  }

  /** Resolves with true when committed, with false where it was not begun because the id is over. */
  add(part: Part, ended: () => Promise<boolean>): Promise<boolean> {
    if (this.#over) return Promise.resolve(false);
    // Its owner has seen it, before it commits more.
    this.#unended.delete(part.partition);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ part, ended, resolve, reject });
      if (this.#running) return;
      this.#running = true;
      // Not at once: the partitions whose batches came with one fetch are decided in one turn.
      void Promise.resolve().then(() => this.#drain());
    });
  }

  /**
   * An owner decides, and looks at the end of its partition beside that: its transaction follows. The looks at the
   * other partitions of the last one begin now, so that it has not to wait for them.
   */
  decides(partition: number): void {
    this.#deciding.add(partition);
    if (this.#deciding.size > 1) return;
    // Not at once: the partitions whose batches came with one fetch are decided in one turn.
    void Promise.resolve().then(() => {
      for (const [other, unended] of this.#unended) if (!this.#deciding.has(other)) void this.#hasEnded(other, unended);
      this.#deciding.clear();
    });
  }

  /** The partition has the marker of its last transaction. */
  sawEnd(partition: number): void {
    this.#unended.delete(partition);
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      if (!(await this.#lastHasEnded())) this.#end();
      const batch = this.#waiting.splice(0);
      if (batch.length === 0) break;
      try {
        await this.taken.transact(batch.map(({ part }) => part));
        for (const { part, ended, resolve } of batch) {
          if (part.append.length > 0) this.#unended.set(part.partition, { ended, looking: null });
          resolve(true);
        }
      } catch (error) {
        for (const { reject } of batch) reject(error);
        this.#end();
      }
    }
    this.#running = false;
  }

  /**
   * What hangs in a partition is the last transaction of its delegate: the next one would erase what the coordinator
   * knows of it.
   */
  async #lastHasEnded(): Promise<boolean> {
    const left = [...this.#unended].map(([partition, unended]) => this.#hasEnded(partition, unended));
    return (await Promise.all(left)).every(Boolean);
  }

  /** Once ended it stays so until the next transaction: however early the look, its result holds. */
  #hasEnded(partition: number, unended: Unended): Promise<boolean> {
    return (unended.looking ??= this.#awaitMarker(partition, unended));
  }

  async #awaitMarker(partition: number, unended: Unended): Promise<boolean> {
    for (let tries = 1; this.#unended.get(partition) === unended && !(await unended.ended()); tries++) {
      if (tries === END_TRIES) return false;
      await pause(END_PAUSE_MS);
    }
    if (this.#unended.get(partition) === unended) this.#unended.delete(partition);
    return true;
  }

  #end(): void {
    this.#over = true;
    this.#failed();
    for (const { resolve } of this.#waiting.splice(0)) resolve(false);
  }
}

interface SharedWritersOptions {
  /** A name for a new delegate: no other process, and no other delegate, ever has it. */
  readonly newId: () => string;
  readonly take: (id: string) => Promise<TakenId>;
}

/**
 * One transaction for the batches of all partitions that this process owns (see
 * docs/internals/decisions/0032-one-transaction-a-process.md).
 *
 * Exactly one process may write a partition, and its id `intent-writer-<partition>` says which: whoever takes it fences
 * the former holder. The holder may delegate the partition to an id of its process, in a transaction of the partition's
 * id, so never after it was fenced; and who fences it next finds the delegate there, and fences it too. A delegate that
 * failed, or was fenced, is never taken again by its process: another takes its place, and every partition has to
 * delegate again.
 */
export class SharedWriters {
  readonly #options: SharedWritersOptions;
  #shared: Promise<SharedTransactions> | null = null;
  /** Until when these partitions write alone, by performance.now(). */
  readonly #alone = new Map<number, number>();
  /** Every delegate that this process has fenced, and what its coordinator knew: once is enough. */
  readonly #fenced = new Map<string, Promise<FormerState | null>>();
  readonly #ours = new Set<string>();
  #writers = 0;
  /** Whether every member of the owners' group fences delegates. */
  #isDelegating = false;

  constructor(options: SharedWritersOptions) {
    this.#options = options;
  }

  /**
   * Before the fence: a former owner that lives takes its delegation back within milliseconds. Fenced before, it would
   * lose its other partitions, too, and acquire them again.
   */
  async awaitRelease(partition: number, requests: SharingRequests): Promise<void> {
    for (let tries = 0; tries < RELEASE_TRIES; tries++) {
      const to = (await requests.delegation(partition, false))?.to ?? null;
      if (to === null || this.#ours.has(to) || this.#fenced.has(to)) return;
      await pause(RELEASE_PAUSE_MS);
    }
  }

  /**
   * After the fence of the partition's own id: fences its delegates, until nothing can change any more what the group's
   * coordinator has stored. By then their transactions have ended.
   *
   * @returns the next offset of the commands, and what was known of the delegates
   */
  async fenceDelegates(
    partition: number,
    requests: SharingRequests,
  ): Promise<{ readonly commands: bigint | null; readonly former: readonly FormerState[] }> {
    const former = new Map<string, FormerState | null>();
    const fence = async (id: string): Promise<void> => {
      if (!former.has(id)) former.set(id, await this.#fence(id, requests));
    };
    for (let tries = 1; ; tries++) {
      // What is committed names the delegate whose transaction may keep the offset unstable.
      const committed = await requests.delegation(partition, false);
      if (committed && committed.to !== null) await fence(committed.to);
      const stable = await requests.delegation(partition, true);
      const isKnown = stable !== null && (stable.offset !== null || !(await requests.hasCommands(partition)));
      if (isKnown && (stable.to === null || former.has(stable.to))) return result(stable, former);
      if (tries === UNSTABLE_TRIES || (stable && !isKnown)) {
        // The group's offsets were lost, or the marker of a transaction was: it may have been delegated to any.
        for (const id of await requests.delegates()) await fence(id);
        return result(await requests.delegation(partition, false), former);
      }
      await pause(UNSTABLE_PAUSE_MS);
    }
  }

  /** @param commands the next offset of the commands; null where none was committed */
  writer(partition: number, own: PartitionId, commands: bigint | null): PartitionWriter {
    this.#writers++;
    return new SharingWriter(this, partition, own, commands);
  }

  /** From now on partitions are delegated, or not any more: a member of the group may not know of it. */
  delegate(isDelegating: boolean): void {
    this.#isDelegating = isDelegating;
  }

  /** Null: the partition writes alone. */
  async sharedBy(partition: number): Promise<SharedTransactions | null> {
    if (!this.#isDelegating) return null;
    const until = this.#alone.get(partition);
    if (until !== undefined && performance.now() < until) return null;
    this.#alone.delete(partition);
    const opening = (this.#shared ??= this.#open());
    try {
      return await opening;
    } catch (error) {
      if (this.#shared === opening) this.#shared = null;
      throw error;
    }
  }

  failed(partition: number): void {
    this.#alone.set(partition, performance.now() + ALONE_MS);
  }

  closed(): void {
    if (--this.#writers === 0) this.#drop();
  }

  #fence(id: string, requests: SharingRequests): Promise<FormerState | null> {
    const known = this.#fenced.get(id);
    if (known) return known;
    const fencing = requests.fence(id);
    this.#fenced.set(id, fencing);
    fencing.catch(() => this.#fenced.delete(id));
    return fencing;
  }

  async #open(): Promise<SharedTransactions> {
    const id = this.#options.newId();
    this.#ours.add(id);
    const taken = await this.#options.take(id);
    return new SharedTransactions(taken, () => this.#drop());
  }

  #drop(): void {
    const shared = this.#shared;
    this.#shared = null;
    shared?.then(({ taken }) => taken.close()).catch(() => undefined);
  }
}

function result(
  delegation: Delegation | null,
  former: ReadonlyMap<string, FormerState | null>,
): { readonly commands: bigint | null; readonly former: readonly FormerState[] } {
  return { commands: delegation?.offset ?? null, former: [...former.values()].filter((state) => state !== null) };
}

/** A partition's writer: with its own id, or with the delegate's. */
class SharingWriter implements PartitionWriter {
  readonly #sharing: SharedWriters;
  readonly #partition: number;
  readonly #own: PartitionId;
  /** The next offset of the commands. */
  #commands: bigint | null;
  /** To which the group's coordinator has the partition delegated by this writer. */
  #delegate: SharedTransactions | null = null;
  /** After a failure the outcome of a transaction is unknown: nothing else is written. */
  #failed = false;
  /** Where the last transaction of the delegate ends; null once its marker was seen there. */
  #lastEnd: bigint | null = null;
  #isClosing = false;
  #looking: Promise<unknown> = Promise.resolve();

  constructor(sharing: SharedWriters, partition: number, own: PartitionId, commands: bigint | null) {
    this.#sharing = sharing;
    this.#partition = partition;
    this.#own = own;
    this.#commands = commands;
  }

  endsAt(position: bigint): Promise<boolean> {
    this.#delegate?.decides(this.#partition);
    return this.#look(position);
  }

  async commit(append: readonly NewRecord[], consumed: Consumed | null, at: bigint): Promise<void> {
    if (append.length === 0 && !consumed) return;
    try {
      while (!(await this.#commitOnce(append, consumed, at)));
      if (consumed?.topic === 'intent.commands') this.#commands = consumed.offset;
    } catch (error) {
      this.#failed = true;
      this.#sharing.failed(this.#partition);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#looking;
    // Not during a request: the library would connect again, and that connection would stay.
    const closing = this.#release()
      .catch(() => undefined)
      .then(() => this.#own.close());
    await within(RELEASING_MS, closing);
    this.#sharing.closed();
  }

  /** Takes the delegation back, where nothing is unknown and the next owner needs not to know the delegate. */
  async #release(): Promise<void> {
    if (!this.#delegate || this.#failed) return;
    for (let tries = 1; this.#lastEnd !== null && !(await this.#look(this.#lastEnd)); tries++) {
      if (tries === LAST_END_TRIES) return;
      await pause(END_PAUSE_MS);
    }
    await this.#delegateTo(null);
  }

  async #look(position: bigint): Promise<boolean> {
    const ends = await this.#own.endsAt(position);
    // Meanwhile another transaction may have begun, and its marker was not seen.
    if (ends && position === this.#lastEnd) this.#sawEnd();
    return ends;
  }

  /** For the delegate, at any time. False where it is not known. */
  #hasEnded(): Promise<boolean> {
    const end = this.#lastEnd;
    if (end === null) return Promise.resolve(true);
    if (this.#isClosing) return Promise.resolve(false);
    const looking = this.#look(end).catch(() => false);
    this.#looking = looking;
    return looking;
  }

  #sawEnd(): void {
    this.#lastEnd = null;
    this.#delegate?.sawEnd(this.#partition);
  }

  /** @returns false where nothing was begun */
  async #commitOnce(append: readonly NewRecord[], consumed: Consumed | null, at: bigint): Promise<boolean> {
    const partition = this.#partition;
    // Without an offset there is no place for the delegation.
    const shared = this.#commands === null ? null : await this.#sharing.sharedBy(partition);
    const part = (note: string | null): Part => ({
      partition,
      append,
      consumed: consumed && { ...consumed, note },
      at,
    });
    if (shared === null) {
      await this.#own.transact([part(null)]);
      if (consumed?.topic === 'intent.commands') this.#delegate = null;
      return true;
    }
    if (this.#delegate !== shared) await this.#delegateTo(shared);
    // The marker is behind the last record.
    if (append.length > 0) this.#lastEnd = at + BigInt(append.length) + 1n;
    const committed = await shared.add(part(shared.taken.id), () => this.#hasEnded());
    if (!committed) this.#lastEnd = null;
    return committed;
  }

  /** In a transaction of the partition's own id: it fails once another process has taken that. */
  async #delegateTo(shared: SharedTransactions | null): Promise<void> {
    if (this.#commands === null) return;
    const consumed = { topic: 'intent.commands', offset: this.#commands, note: shared?.taken.id ?? null } as const;
    await this.#own.transact([{ partition: this.#partition, append: [], consumed, at: null }]);
    this.#delegate = shared;
  }
}
