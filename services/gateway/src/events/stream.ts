import type { ServerResponse } from 'node:http';
import { SNAPSHOT } from '@pf/contracts';
import type { StoredEvent } from '@pf/database';
import { type PaymentIntent, view } from '@pf/domain';
import { add } from '@pf/runtime';
import type { Follower } from './feeds.ts';

/** What proxies must know: nothing is kept, changed or held back. */
const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
} as const;
/** When clients of a gateway that stops shall come back, at random between: not all at once. Milliseconds. */
const RETURN_MS = { min: 200, max: 2_000 } as const;

export interface StreamDependencies {
  readonly response: ServerResponse;
  /** The last version that the client has, or null where it begins. */
  readonly position: number | null;
  /** Between two comments. */
  readonly commentMs: number;
  /** Called with each comment. False: whoever opened the stream may no longer read it. Must not reject. */
  readonly check: () => Promise<boolean>;
  /** Called when more can be sent after a time in which it could not. */
  readonly onReady: () => void;
}

/**
 * One client's stream of server-sent events. Sends while the connection takes it, and never more than one event beyond:
 * the rest stays in the database. A client that reads nothing from one comment to the next is dropped.
 */
export class EventStream implements Follower {
  readonly #parts: StreamDependencies;
  readonly #timer: NodeJS.Timeout;
  #position: number | null;
  #full = false;
  /** At the last comment nothing could be sent. */
  #stuck = false;
  #checking = false;
  #ended = false;

  /** Answers with the head of the stream. */
  constructor(parts: StreamDependencies) {
    const { response, position, commentMs } = parts;
    this.#parts = parts;
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
    if (this.#position === null) this.#send(intent.version, SNAPSHOT, JSON.stringify({ intent: view(intent) }));
    else {
      for (const { version, type, body } of events) {
        if (!this.ready) return;
        this.#send(version, type, body);
      }
    }
  }

  finish(): void {
    this.#stop();
    this.#parts.response.end();
  }

  leave(): void {
    const ms = Math.round(RETURN_MS.min + Math.random() * (RETURN_MS.max - RETURN_MS.min));
    if (!this.#ended && !this.#full) this.#parts.response.write(`retry: ${ms}\n\n`);
    this.finish();
    // Who does not read what is left is not waited for.
    if (this.#full) this.#parts.response.destroy();
  }

  #send(version: number, type: string, json: string): void {
    // JSON has no line breaks, so it is one line of data.
    this.#write(`id: ${version}\nevent: ${type}\ndata: ${json}\n\n`);
    this.#position = version;
  }

  #write(text: string): void {
    this.#full = !this.#parts.response.write(text);
  }

  #drained(): void {
    this.#full = false;
    this.#stuck = false;
    if (!this.#ended) this.#parts.onReady();
  }

  async #comment(): Promise<void> {
    if (this.#full && this.#stuck) {
      this.#stop();
      this.#parts.response.destroy();
      return;
    }
    this.#stuck = this.#full;
    if (this.#checking) return;
    this.#checking = true;
    const welcome = await this.#parts.check();
    this.#checking = false;
    if (this.#ended) return;
    if (!welcome) this.finish();
    else if (!this.#full) this.#write(': still here\n\n');
  }

  #stop(): void {
    if (!this.#ended) add('payments.streams.open', -1, {});
    this.#ended = true;
    clearInterval(this.#timer);
  }
}
