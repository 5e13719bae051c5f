import type { ClockStanding, MeasuredClock } from '@pf/clock';
import type { BatchResult, PartitionOwner } from '@pf/event-log';
import type { Logger } from '@pf/runtime';

/**
 * How long a clock may be unproven until its process leaves the group: then it is probably this process alone that
 * cannot read Postgres' or Kafka's clock.
 */
const UNPROVEN_MS = 30_000;

export interface ClockedOwnerDependencies<Context> {
  readonly clock: Pick<MeasuredClock, 'standing' | 'onChange'>;
  /** A new member of the owners' group. */
  readonly open: () => PartitionOwner<Context>;
  /** For a group that cannot be joined: the process should end and be restarted. */
  readonly onCrash: (error: Error) => void;
  readonly log: Logger;
}

/**
 * Owns partitions while the clock is right: joins the group once it is, and leaves it once it is wrong, so that the
 * partitions go to processes with a right clock. While the clock is only unproven (Kafka or Postgres does not respond)
 * the writer decides nothing, and this stays in the group for a while, because another process may not do better.
 */
export class ClockedOwner<Context> implements Omit<PartitionOwner<Context>, 'start'> {
  readonly #dependencies: ClockedOwnerDependencies<Context>;
  #owner: PartitionOwner<Context> | null = null;
  #changes: Promise<void> = Promise.resolve();
  #stopped = false;
  #unlisten: () => void = () => undefined;
  #unproven: NodeJS.Timeout | undefined;

  constructor(dependencies: ClockedOwnerDependencies<Context>) {
    this.#dependencies = dependencies;
  }

  /** Resolves when joined, or at once where the clock is not right yet. @throws LogUnavailableError */
  async start(): Promise<void> {
    const { clock } = this.#dependencies;
    this.#unlisten = clock.onChange((standing) => this.#changed(standing));
    await this.#follow(clock.standing);
  }

  owned(): readonly number[] {
    return this.#owner?.owned() ?? [];
  }

  run(
    partition: number,
    after: Parameters<PartitionOwner<Context>['run']>[1],
    work: () => Promise<BatchResult<Context>>,
  ): Promise<void> {
    return this.#owner?.run(partition, after, work) ?? Promise.resolve();
  }

  check(partition: number): Promise<void> {
    return this.#owner?.check(partition) ?? Promise.resolve();
  }

  /** 0 outside of the group: nothing is expected there. */
  idleMs(): number {
    return this.#owner?.idleMs() ?? 0;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#unlisten();
    clearTimeout(this.#unproven);
    // Not after a join in progress, which may take half a minute: it ends with its member.
    await this.#leave();
    await this.#changes;
  }

  #changed(standing: ClockStanding): void {
    const { onCrash } = this.#dependencies;
    clearTimeout(this.#unproven);
    if (standing === 'unproven') this.#awaitProof();
    this.#follow(standing).catch((error: unknown) => {
      if (!this.#stopped) onCrash(error instanceof Error ? error : new Error(String(error)));
    });
  }

  #awaitProof(): void {
    this.#unproven = setTimeout(() => {
      // A process that Kafka does not respond to cannot leave, and the group does without it.
      if (this.idleMs() < UNPROVEN_MS) this.#changed('wrong');
      else this.#awaitProof();
    }, UNPROVEN_MS);
  }

  /** One change at a time: leaving may take as long as the batches in progress. */
  #follow(standing: ClockStanding): Promise<void> {
    const change = this.#changes.then(() => {
      if (standing === 'wrong') return this.#leave();
      return standing === 'right' && !this.#stopped ? this.#join() : undefined;
    });
    // The caller gets the failure; later changes happen in any case.
    this.#changes = change.catch(() => undefined);
    return change;
  }

  async #join(): Promise<void> {
    if (this.#owner) return;
    this.#owner = this.#dependencies.open();
    await this.#owner.start();
  }

  async #leave(): Promise<void> {
    const owner = this.#owner;
    if (!owner) return;
    this.#owner = null;
    await owner.stop();
    if (this.#stopped) return;
    this.#dependencies.log.warn('all partitions were given up, because the clock is not proven right');
  }
}
