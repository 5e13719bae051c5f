import {
  type Attempt,
  type AttemptResult,
  type Claim,
  claimAttempt,
  type Database,
  recordDelivered,
  recordFailure,
  recordGone,
} from '@pf/database';
import { count, currentTrace, type Logger, record } from '@pf/runtime';
import { type Attempted, type AttemptOutcome, inAttempt } from './delivery-telemetry.ts';
import { nextAttemptAt, parseRetryAfter } from './retry-schedule.ts';
import type { SecretCache } from './secret-cache.ts';
import type { Sender, SendResult } from './sender.ts';
import { signatureHeaders } from './signature.ts';

/** Longer than an attempt can take with all its writes: after it the worker is presumed dead. */
const LEASE_MS = 60_000;
const GONE = 410;

export interface DelivererDependencies {
  readonly database: Database;
  readonly sender: Sender;
  readonly secrets: SecretCache;
  readonly log: Logger;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** The recorded result of an attempt. */
interface Recorded {
  readonly status: number | null;
  readonly error: string | null;
  /** When the next attempt is due, ISO 8601; null if there is none. */
  readonly next: string | null;
}

/** Makes attempts: claims a delivery, sends it and records the result. */
export class Deliverer {
  readonly #dependencies: DelivererDependencies;

  constructor(dependencies: DelivererDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * @returns false if there was nothing to claim: it is not due, claimed by another worker, or not projected yet
   * @throws if the database is unavailable: before the claim nothing has happened, after it the delivery is attempted
   *   again when the lease ends
   */
  async attempt(claim: Claim): Promise<boolean> {
    const { database, now } = this.#dependencies;
    const attempt = await claimAttempt(database, claim, new Date(now()), LEASE_MS);
    if (!attempt) return false;
    await inAttempt(attempt, now(), () => this.#deliver(attempt));
    return true;
  }

  async #deliver(attempt: Attempt): Promise<Attempted> {
    const { log, now } = this.#dependencies;
    const began = performance.now();
    const sent = await this.#send(attempt);
    const ms = performance.now() - began;
    const recorded = await this.#record(attempt, sent, now());
    const outcome = outcomeOf(recorded);
    record('payments.delivery.duration', ms / 1_000, { outcome });
    count('payments.delivery.attempts', { outcome });
    const { deliveryId, endpointId, eventId, number } = attempt;
    // Never the URL: it may carry the receiver's own secret.
    log.info(
      { deliveryId, endpointId, eventId, attempt: number, ...recorded, ms: Math.round(ms) },
      'webhook attempted',
    );
    return { outcome, status: recorded.status };
  }

  async #send(attempt: Attempt): Promise<SendResult> {
    const { sender, secrets, now } = this.#dependencies;
    const at = now();
    const [current, ...others] = await secrets.inForce(attempt.accountId, attempt.livemode, at);
    if (current === undefined)
      return {
        kind: 'error',
        message: 'The account has no webhook secret. Create one with `pf webhooks rotate-secret`.',
      };
    const body = Buffer.from(attempt.body, 'utf8');
    const { traceparent } = currentTrace();
    const headers = {
      'Content-Type': 'application/json',
      'User-Agent': 'PaymentIntents-Webhooks/1.0',
      'X-PF-Event-Id': attempt.eventId,
      'X-PF-Delivery-Id': attempt.deliveryId,
      'X-PF-Attempt': String(attempt.number),
      ...signatureHeaders({ eventId: attempt.eventId, timestamp: Math.floor(at / 1_000), body }, [current, ...others]),
      ...(traceparent !== null && { traceparent }),
    };
    return sender.send(attempt.url, headers, body);
  }

  async #record(attempt: Attempt, sent: SendResult, at: number): Promise<Recorded> {
    const { database } = this.#dependencies;
    const result = resultOf(sent);
    const { responseStatus: status, error } = result;
    if (error === null) {
      await recordDelivered(database, attempt, result, new Date(at));
      return { status, error, next: null };
    }
    if (status === GONE) {
      await recordGone(database, attempt, result, new Date(at));
      return { status, error, next: null };
    }
    const retryAfterMs = sent.kind === 'response' ? parseRetryAfter(sent.retryAfter, at) : null;
    const next = nextAttemptAt(
      { number: attempt.number, firstAttemptAt: attempt.firstAttemptAt.getTime(), at, retryAfterMs },
      Math.random(),
    );
    const nextAt = next === null ? null : new Date(next);
    await recordFailure(database, attempt, result, new Date(at), nextAt);
    return { status, error, next: nextAt?.toISOString() ?? null };
  }
}

function outcomeOf({ status, error, next }: Recorded): AttemptOutcome {
  if (error === null) return 'delivered';
  if (status === GONE) return 'gone';
  return next === null ? 'failed' : 'retried';
}

function resultOf(sent: SendResult): AttemptResult {
  if (sent.kind === 'error') return { responseStatus: null, responseBody: null, error: sent.message };
  const { status, body } = sent;
  const redirected = status >= 300 && status < 400 ? ' Redirects are not followed.' : '';
  return {
    responseStatus: status,
    responseBody: body,
    error: status >= 200 && status < 300 ? null : `The response status was ${status}.${redirected}`,
  };
}
