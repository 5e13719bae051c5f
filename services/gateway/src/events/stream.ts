import type { ServerResponse } from 'node:http';
import { payerEventOf, SNAPSHOT } from '@pf/contracts';
import { networkOf } from '@pf/chains';
import type { StoredEvent } from '@pf/database';
import { type Instant, type PaymentIntent, payerView, submissionOf, view } from '@pf/domain';
import { add, LATE_AFTER, LatePayments, record } from '@pf/runtime';
import type { Follower } from './feeds.ts';

/** Tells proxies not to cache, transform or buffer the stream. */
const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
} as const;
/**
 * Milliseconds after which clients of a gateway that stops reconnect: at random between, so that they do not all come
 * at once.
 */
const RECONNECT_MS = { min: 200, max: 2_000 } as const;

export interface StreamDependencies {
  readonly response: ServerResponse;
  /** The last version that the client has received, or null if it needs the snapshot first. */
  readonly position: number | null;
  /** Interval of the comments. */
  readonly commentMs: number;
  /** Called before each comment. False ends the stream: its API key was revoked. Must not reject. */
  readonly check: () => Promise<boolean>;
  /** Whether it shows intents as payers see them. */
  readonly forPayer: boolean;
  /** Called when the connection can take more after it was full. */
  readonly onReady: () => void;
}

/**
 * One client's stream of server-sent events. Buffers at most one event that the connection cannot take; the rest stays
 * in the database. A client that reads nothing between two comments is disconnected.
 */
export class EventStream implements Follower {
  readonly #dependencies: StreamDependencies;
  readonly #openedAt = Date.now();
  readonly #timer: NodeJS.Timeout;
  #position: number | null;
  #full = false;
  /** The connection was full when the last comment was due. */
  #stuck = false;
  #checking = false;
  #ended = false;

  /** Sends the response headers. */
  constructor(dependencies: StreamDependencies) {
    const { response, position, commentMs } = dependencies;
    this.#dependencies = dependencies;
    this.#position = position;
    add('payments.streams.open', 1, {});
    this.#timer = setInterval(() => void this.#comment(), commentMs);
    response.once('close', () => this.#stop());
    response.on('drain', () => this.#drained());
    response.writeHead(200, HEADERS);
    response.flushHeaders();
  }

  get position(): number | null {
    return this.#position;
  }

  get ready(): boolean {
    return !this.#full && !this.#ended;
  }

  show(intent: PaymentIntent, events: readonly StoredEvent[]): void {
    const { forPayer } = this.#dependencies;
    if (this.#position === null) {
      const shown = forPayer ? payerView(view(intent)) : view(intent);
      this.#send(intent.version, SNAPSHOT, JSON.stringify({ intent: shown }));
    } else {
      for (const { version, type, body } of events) {
        if (!this.ready) return;
        this.#send(version, type, forPayer ? payerEventOf(body) : body);
        if (forPayer && type === 'intent.confirmed') recordWait(intent, this.#openedAt, Date.now());
      }
    }
  }

  finish(): void {
    this.#stop();
    this.#dependencies.response.end();
  }

  leave(): void {
    const ms = Math.round(RECONNECT_MS.min + Math.random() * (RECONNECT_MS.max - RECONNECT_MS.min));
    if (!this.#ended && !this.#full) this.#dependencies.response.write(`retry: ${ms}\n\n`);
    this.finish();
    // Does not wait for a client that does not read the rest.
    if (this.#full) this.#dependencies.response.destroy();
  }

  #send(version: number, type: string, json: string): void {
    // JSON.stringify writes no line breaks, so the data is one line.
    this.#write(`id: ${version}\nevent: ${type}\ndata: ${json}\n\n`);
    this.#position = version;
  }

  #write(text: string): void {
    this.#full = !this.#dependencies.response.write(text);
  }

  #drained(): void {
    this.#full = false;
    this.#stuck = false;
    if (!this.#ended) this.#dependencies.onReady();
  }

  async #comment(): Promise<void> {
    if (this.#full && this.#stuck) {
      this.#stop();
      this.#dependencies.response.destroy();
      return;
    }
    this.#stuck = this.#full;
    if (this.#checking) return;
    this.#checking = true;
    const allowed = await this.#dependencies.check();
    this.#checking = false;
    if (this.#ended) return;
    if (!allowed) this.finish();
    else if (!this.#full) this.#write(': still here\n\n');
  }

  #stop(): void {
    if (!this.#ended) add('payments.streams.open', -1, {});
    this.#ended = true;
    clearInterval(this.#timer);
  }
}

const lateForPayers = new LatePayments(LATE_AFTER.seen);

/**
 * Records how long a payer has waited who watches their payment.
 * @param openedAt when their stream began: what was confirmed before was waited for elsewhere
 */
function recordWait(intent: PaymentIntent, openedAt: Instant, now: Instant): void {
  const { accountId, chain, confirmedAt, livemode, simulated, txSignature } = intent;
  if (simulated || txSignature === null || confirmedAt === null || confirmedAt < openedAt) return;
  const submission = submissionOf(intent, txSignature);
  if (!submission) return;
  const where = { network: networkOf(chain).name, livemode: livemode ? 'true' : 'false' } as const;
  const seconds = Math.max(0, now - submission.preparedAt) / 1_000;
  const late = lateForPayers.labelOf(where.network, seconds, { accountId, payer: submission.sender });
  record('payments.payer.wait.duration', seconds, { ...where, ...late });
}
