import { setTimeout as delay } from 'node:timers/promises';
import { isNativeError } from 'node:util/types';
import type { ApiResponse } from '@pf/testing';

/** A request that is refused with 503 as often as this has failed. */
const MOST_REPEATS = 5;

/** What was asked of the API, how long each answer took, and which were not what a client may expect. */
export class Requests {
  /** In words, oldest first. */
  readonly failures: string[] = [];
  /** How many responses were 503 and asked for another try. */
  repeats = 0;
  readonly #took = new Map<string, number[]>();
  readonly #onFailure: (failure: string) => void;

  constructor(onFailure: (failure: string) => void = () => undefined) {
    this.#onFailure = onFailure;
  }

  /**
   * Sends a request, and again after a 503, as clients are told to. A request fails where no answer comes, or another
   * status than these.
   *
   * @param repeated statuses of a repetition that found the request done: the first one had taken effect
   * @returns null where it failed
   */
  async send<Body>(
    kind: string,
    statuses: readonly number[],
    request: () => Promise<ApiResponse<Body>>,
    repeated: readonly number[] = [],
  ): Promise<ApiResponse<Body>['body'] | null> {
    const began = performance.now();
    try {
      let { status, body } = await request();
      for (let repeats = 0; status === 503 && repeats < MOST_REPEATS; repeats++) {
        this.repeats++;
        await delay(Number(body.error?.details?.['retry_after'] ?? 1) * 1_000);
        ({ status, body } = await request());
        if (repeated.includes(status)) return body;
      }
      if (statuses.includes(status)) return body;
      this.fail(kind, `${status} ${body.error?.code ?? ''}: ${body.error?.message ?? ''}`);
    } catch (error) {
      this.fail(kind, error);
    } finally {
      const took = this.#took.get(kind) ?? [];
      took.push(performance.now() - began);
      this.#took.set(kind, took);
    }
    return null;
  }

  /**
   * Records a failure and its time.
   * @param what in words, or the error: `fetch` gives the reason in its cause
   */
  fail(kind: string, what: unknown): void {
    const cause = isNativeError(what) && isNativeError(what.cause) ? ` (${what.cause.message})` : '';
    const message = isNativeError(what) ? what.message : String(what);
    const failure = `${new Date().toISOString()} ${kind}: ${message}${cause}`;
    this.failures.push(failure);
    this.#onFailure(failure);
  }

  /** By kind: how many, and their times in milliseconds. */
  summary(): readonly {
    readonly kind: string;
    readonly count: number;
    readonly p50: number;
    readonly p99: number;
    readonly worst: number;
  }[] {
    return [...this.#took].map(([kind, took]) => {
      const sorted = took.sort((one, other) => one - other);
      const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
      return { kind, count: sorted.length, p50: at(0.5), p99: at(0.99), worst: at(1) };
    });
  }
}
