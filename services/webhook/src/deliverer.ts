import { type Attempt, type AttemptResult, type Claim, claimAttempt, type Database, recordDelivered, recordFailure, recordGone } from '@pf/database';
import { currentTrace, inSpan, type Logger, SpanKind } from '@pf/runtime';
import { nextAttemptAt, parseRetryAfter } from './retry-schedule.ts';
import type { SecretBook } from './secret-book.ts';
import type { Sender, SendResult } from './sender.ts';
import { signatureHeaders } from './signature.ts';

/** Longer than an attempt can take with all its writes: after it the worker is taken for dead. */
const LEASE_MS = 60_000;
const GONE = 410;

export interface DelivererParts {
  readonly database: Database;
  readonly sender: Sender;
  readonly secrets: SecretBook;
  readonly log: Logger;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Makes one attempt: claims it, sends it, writes down what came of it. */
export class Deliverer {
  readonly #parts: DelivererParts;

  constructor(parts: DelivererParts) {
    this.#parts = parts;
  }

  /**
   * @returns false where there was nothing to claim: not due, made by another, or not in the projection yet
   * @throws where the database is away: before the claim nothing has happened, after it the attempt is made again when its lease ends
   */
  async attempt(claim: Claim): Promise<boolean> {
    const { database, now } = this.#parts;
    const attempt = await claimAttempt(database, claim, new Date(now()), LEASE_MS);
    if (!attempt) return false;
    await inSpan('webhook deliver', attempt, () => this.#deliver(attempt), {
      kind: SpanKind.CLIENT,
      attributes: { 'pf.delivery_id': attempt.deliveryId, 'pf.event_id': attempt.eventId, 'pf.attempt': attempt.number },
    });
    return true;
  }

  async #deliver(attempt: Attempt): Promise<void> {
    const { log, now } = this.#parts;
    const began = performance.now();
    const sent = await this.#send(attempt);
    const ms = Math.round(performance.now() - began);
    const outcome = await this.#record(attempt, sent, now());
    const { deliveryId, endpointId, eventId, number } = attempt;
    // Never the URL: it may carry the receiver's own secret.
    log.info({ deliveryId, endpointId, eventId, attempt: number, ...outcome, ms }, 'webhook attempted');
  }

  async #send(attempt: Attempt): Promise<SendResult> {
    const { sender, secrets, now } = this.#parts;
    const at = now();
    const [current, ...others] = await secrets.inForce(attempt.accountId, attempt.livemode, at);
    if (current === undefined) return { kind: 'error', message: 'The account has no webhook secret: make one with `pf webhooks rotate-secret`.' };
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

  async #record(attempt: Attempt, sent: SendResult, at: number): Promise<{ readonly status: number | null; readonly error: string | null; readonly next: string | null }> {
    const { database } = this.#parts;
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
    const retryAfterMs = sent.kind === 'answer' ? parseRetryAfter(sent.retryAfter, at) : null;
    const next = nextAttemptAt({ number: attempt.number, firstAttemptAt: attempt.firstAttemptAt.getTime(), at, retryAfterMs }, Math.random());
    const nextAt = next === null ? null : new Date(next);
    await recordFailure(database, attempt, result, new Date(at), nextAt);
    return { status, error, next: nextAt?.toISOString() ?? null };
  }
}

function resultOf(sent: SendResult): AttemptResult {
  if (sent.kind === 'error') return { responseStatus: null, responseBody: null, error: sent.message };
  const { status, body } = sent;
  const redirected = status >= 300 && status < 400 ? ' Redirects are not followed.' : '';
  return { responseStatus: status, responseBody: body, error: status >= 200 && status < 300 ? null : `The answer was ${status}.${redirected}` };
}
