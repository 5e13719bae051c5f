import type { Bookmark, ChainObserver, Cursor } from '@pf/chains';
import type { IntentId } from '@pf/domain';
import type { OpenIntents } from './open-intents.ts';

/** After a step that failed, as the watcher: each pause twice as long as the last. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;

/** Where a watch was: what the database has of it. */
export interface Stored {
  readonly cursor: Cursor | null;
  readonly bookmarks: ReadonlyMap<string, Bookmark>;
}

/** One network's observer, from step to step as the watcher takes them, without a database and a log. */
export class Watch {
  readonly #observer: ChainObserver;
  readonly #open: OpenIntents;
  readonly #stop = new AbortController();
  readonly #bookmarks: Map<string, Bookmark>;
  readonly #landed = new Map<IntentId, number>();
  #cursor: Cursor | null;
  #running: Promise<void> = Promise.resolve();
  #behind = true;
  #steps = 0;
  #failures = 0;
  #problem: string | null = null;

  constructor(observer: ChainObserver, open: OpenIntents, { cursor, bookmarks }: Stored) {
    this.#observer = observer;
    this.#open = open;
    this.#cursor = cursor;
    this.#bookmarks = new Map(bookmarks);
  }

  start(): void {
    this.#running = this.#run();
  }

  /** @returns where it is now */
  async end(): Promise<Stored> {
    this.#stop.abort();
    await this.#running;
    return { cursor: this.#cursor, bookmarks: this.#bookmarks };
  }

  /** Whether the last step has come to the present. */
  get isPresent(): boolean {
    return !this.#behind;
  }
  get steps(): number {
    return this.#steps;
  }
  /** Steps that failed. */
  get failures(): number {
    return this.#failures;
  }
  /** Why the last one that failed did. */
  get problem(): string | null {
    return this.#problem;
  }
  /** When the intent's payment was observed, by performance.now(); undefined before. */
  landedAt(id: IntentId): number | undefined {
    return this.#landed.get(id);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    let failed = 0;
    while (!signal.aborted) {
      try {
        const step = await this.#observer.step(
          this.#cursor,
          () => Promise.resolve(this.#open),
          () => Promise.resolve(this.#bookmarks),
        );
        for (const [recipient, bookmark] of step.bookmarks ?? [])
          if (bookmark === null) this.#bookmarks.delete(recipient);
          else this.#bookmarks.set(recipient, bookmark);
        for (const observation of step.observations) {
          if (observation.type === 'landed' && !this.#landed.has(observation.intentId))
            this.#landed.set(observation.intentId, performance.now());
          this.#open.apply(observation);
        }
        this.#cursor = step.cursor;
        this.#behind = step.behind > 0n;
        this.#steps += 1;
        failed = 0;
        if (!this.#behind) await timePasses(this.#observer.intervalMs, signal);
      } catch (error) {
        this.#failures += 1;
        this.#problem = error instanceof Error ? error.message : String(error);
        await timePasses(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failed++), signal);
      }
    }
  }
}

/** Resolves at once when the signal aborts. */
export function timePasses(ms: number, signal?: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal?.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  return promise;
}
