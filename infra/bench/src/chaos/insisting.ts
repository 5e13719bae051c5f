import { setTimeout as delay } from 'node:timers/promises';
import { isNativeError } from 'node:util/types';
import type { ApiResponse } from '@pf/testing';
import { Requests } from '../rollout/requests.ts';

const AGAIN_MS = 100;
/** After a failover to a copy that lags, readers see what it has until the log's owners have noticed. */
const PAST_MS = 20_000;
/**
 * Errors that say that the gateway is gone: `fetch` failed, or the body ended early. By name, because Jest's tests have
 * classes of their own, of which an error of Node's is no instance.
 */
const GONE: ReadonlySet<string> = new Set(['TypeError', 'SyntaxError']);

/**
 * The requests of clients that insist: they repeat one until it is answered, which docs/reference/contract.md promises
 * is safe. Only what an answer says can fail.
 */
export class InsistingRequests extends Requests {
  /** How often no answer came, or 503. */
  unanswered = 0;
  /** How often an acknowledged intent was not found: the projection was set back, and not caught up yet. */
  past = 0;
  #over = false;

  /** Lets the requests under way give up. */
  giveUp(): void {
    this.#over = true;
  }

  override async send<Body>(
    kind: string,
    statuses: readonly number[],
    request: () => Promise<ApiResponse<Body>>,
    repeated: readonly number[] = [],
  ): Promise<ApiResponse<Body>['body'] | null> {
    let expected = statuses;
    const began = performance.now();
    while (!this.#over) {
      const answer = await this.#answer(kind, request);
      const past = answer?.status === 404 && performance.now() - began < PAST_MS;
      if (answer !== null && answer.status !== 503 && !past) {
        if (expected.includes(answer.status)) return answer.body;
        super.fail(kind, `${answer.status} ${answer.body.error?.code ?? ''}: ${answer.body.error?.message ?? ''}`);
        return null;
      }
      if (past) this.past++;
      else this.unanswered++;
      // The lost answer may have been one to a request that took effect.
      expected = [...statuses, ...repeated];
      await delay(AGAIN_MS);
    }
    return null;
  }

  async #answer<Body>(kind: string, request: () => Promise<ApiResponse<Body>>): Promise<ApiResponse<Body> | null> {
    try {
      return await request();
    } catch (error) {
      // All else is an answer that the contract forbids.
      if (!isNativeError(error) || !GONE.has(error.name)) super.fail(kind, error);
      return null;
    }
  }

  /** Streams break with their gateways, and are opened again; what they show is compared with the log in the end. */
  override fail(kind: string, what: unknown): void {
    if (kind !== 'stream') super.fail(kind, what);
  }
}
