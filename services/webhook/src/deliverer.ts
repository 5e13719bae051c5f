import { type EndpointEventType, isApiVersion } from '@pf/contracts';
import { type DueDelivery, type Settled, UnreadableSecretError } from '@pf/database';
import type { Sender, SendResult } from '@pf/egress';
import { count, currentTrace, type Logger, record } from '@pf/runtime';
import { type Attempted, type AttemptOutcome, inAttempt } from './delivery-telemetry.ts';
import { nextAttemptAt, parseRetryAfter } from './retry-schedule.ts';
import type { SecretCache } from './secret-cache.ts';
import { signatureHeaders } from './signature.ts';

const GONE = 410;

export interface DelivererDependencies {
  readonly sender: Sender;
  readonly secrets: SecretCache;
  readonly log: Logger;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** An attempt that was made. */
export interface Made {
  readonly outcome: AttemptOutcome;
  readonly settled: Settled;
}

/** Nothing was sent, for a reason of ours: no attempt of the account is used up. */
class NotSentError extends Error {
  override readonly name = 'NotSentError';
}

/** Makes attempts: signs a delivery, sends it and judges the answer. */
export class Deliverer {
  readonly #dependencies: DelivererDependencies;

  constructor(dependencies: DelivererDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * @param heldUntil until when the delivery waited for its URL or its account
   * @throws NotSentError, or if the database is unavailable: nothing was sent
   */
  async attempt(delivery: DueDelivery, heldUntil: number): Promise<Made> {
    const { log, now, sender } = this.#dependencies;
    return inAttempt(delivery, { heldUntil, now: now() }, async (): Promise<Made & Attempted> => {
      requireOwnWords(delivery);
      const body = Buffer.from(delivery.body, 'utf8');
      const headers = await this.#headers(delivery, body, now());
      const began = performance.now();
      const sent = await sender.send(delivery.url, headers, body);
      const ms = performance.now() - began;
      if (sent.kind === 'not_sent') throw new NotSentError(sent.message);
      const settled = settle(delivery, sent, now(), Math.round(ms));
      const outcome = outcomeOf(settled);
      record('payments.delivery.duration', ms / 1_000, { outcome });
      count('payments.delivery.attempts', { outcome });
      const { deliveryId, endpointId, eventId } = delivery;
      const { number, responseStatus: status, reason, next } = settled;
      // Never the URL: it may carry the receiver's own secret.
      log.info(
        { deliveryId, endpointId, eventId, attempt: number, status, reason, next, ms: settled.durationMs },
        'webhook attempted',
      );
      return { outcome, settled, status };
    });
  }

  async #headers(delivery: DueDelivery, body: Buffer, at: number): Promise<Record<string, string>> {
    const [current, ...others] = await this.#secretsOf(delivery, at);
    const { apiVersion, eventId, deliveryId, number } = delivery;
    // Newer code knows it: the delivery waits for a process of that version.
    if (!isApiVersion(apiVersion))
      throw new NotSentError(`the API version ${apiVersion} of the endpoint is unknown to this process`);
    const { traceparent } = currentTrace();
    return {
      'Content-Type': 'application/json',
      'User-Agent': 'PaymentIntents-Webhooks/1.0',
      'X-PF-Event-Id': eventId,
      'X-PF-Delivery-Id': deliveryId,
      'X-PF-Attempt': String(number),
      'X-PF-Api-Version': apiVersion,
      ...signatureHeaders({ eventId, timestamp: Math.floor(at / 1_000), body }, [current, ...others]),
      ...(traceparent !== null && { traceparent }),
    };
  }

  async #secretsOf(
    { accountId, livemode, endpointId }: DueDelivery,
    at: number,
  ): Promise<readonly [string, ...string[]]> {
    const { secrets, log } = this.#dependencies;
    try {
      const [current, ...others] = await secrets.inForce({ accountId, livemode, endpointId }, at);
      if (current === undefined) throw new UnreadableSecretError(`account ${accountId} has no webhook secret`);
      return [current, ...others];
    } catch (error) {
      if (!(error instanceof UnreadableSecretError)) throw error;
      // Nothing is lost: the deliveries wait (docs/operations/runbooks/secret-unreadable.md).
      count('payments.alarms', { alarm: 'unreadable_secret' });
      log.error({ err: error, alarm: 'unreadable_secret', accountId, livemode }, 'webhooks cannot be signed');
      throw new NotSentError(error.message, { cause: error });
    }
  }
}

/**
 * What payments and deposits tell is in the ledger, and only there: whoever can write deliveries does not have words of
 * their own signed that say so.
 */
function requireOwnWords({ intentId, eventType, body }: DueDelivery): void {
  if (intentId !== null) return;
  const { type } = JSON.parse(body) as { readonly type?: unknown };
  const types = [eventType, typeof type === 'string' ? type : ''];
  if (types.some((one) => OF_LEDGER.some((prefix) => one.startsWith(prefix))))
    throw new NotSentError(`an event of the ledger is not in the ledger: ${types.join(', ')}`);
}
const OF_LEDGER = ['intent.', 'deposit.'] as const;

/** Of a test event nothing is tried again: it was for that moment (docs/reference/contract.md). */
const TEST: EndpointEventType = 'webhook_endpoint.test';

function settle(
  { deliveryId, eventType, number, dueAt, firstAttemptAt }: DueDelivery,
  sent: Exclude<SendResult, { kind: 'not_sent' }>,
  at: number,
  durationMs: number,
): Settled {
  const reason = reasonOf(sent);
  const responseStatus = sent.kind === 'response' ? sent.status : null;
  const next =
    reason === null || responseStatus === GONE || eventType === TEST
      ? null
      : nextAttemptAt(
          {
            number,
            firstAttemptAt: firstAttemptAt?.getTime() ?? at,
            at,
            retryAfterMs: sent.kind === 'response' ? parseRetryAfter(sent.retryAfter, at) : null,
          },
          Math.random(),
        );
  return {
    deliveryId,
    number,
    dueAt,
    at: new Date(at),
    durationMs,
    responseStatus,
    responseStart: sent.kind === 'response' ? sent.bodyStart : null,
    reason,
    next: next === null ? null : new Date(next),
  };
}

function reasonOf(sent: Exclude<SendResult, { kind: 'not_sent' }>): string | null {
  if (sent.kind === 'failed') return sent.reason;
  const { status } = sent;
  if (status >= 200 && status < 300) return null;
  return `The response status was ${status}.${status >= 300 && status < 400 ? ' Redirects are not followed.' : ''}`;
}

function outcomeOf({ reason, responseStatus, next }: Settled): AttemptOutcome {
  if (reason === null) return 'delivered';
  if (responseStatus === GONE) return 'gone';
  return next === null ? 'failed' : 'retried';
}
