import type { Logger } from '@pf/runtime';
import type { Redis } from 'ioredis';
import { connect } from './connection.ts';
import { OutageLog } from './outage-log.ts';

/** A server that takes commands and responds to none is as good as unavailable. */
const SOCKET_TIMEOUT_MS = 3_000;
/** Batches under way at most: beyond, Redis is too slow to be of use, and this process is not its queue. */
const MAX_UNDER_WAY = 100;

export interface ChannelMessage {
  readonly channel: string;
  readonly text: string;
}

/**
 * Publishes batches without waiting for them: a batch that Redis does not take is lost. Never throws, waits or blocks.
 */
export class ChannelPublisher {
  readonly #connection: Redis;
  readonly #outage: OutageLog;
  readonly #log: Logger;
  #underWay = 0;

  /**
   * Connects in the background, for as long as it takes.
   * @param withoutRedis what happens without Redis: completes "Redis is unavailable: …"
   */
  constructor(url: string, { log, withoutRedis }: { readonly log: Logger; readonly withoutRedis: string }) {
    this.#log = log;
    this.#outage = new OutageLog(log, withoutRedis);
    this.#connection = connect(url, this.#outage, {
      socketTimeout: SOCKET_TIMEOUT_MS,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: null,
    });
    this.#connection.on('ready', () => this.#outage.recovered());
  }

  /** Publishes the messages, in their order, in one round trip. */
  publish(messages: readonly ChannelMessage[]): void {
    if (messages.length === 0) return;
    if (this.#connection.status !== 'ready' || this.#underWay >= MAX_UNDER_WAY) return;
    const pipeline = this.#connection.pipeline();
    for (const { channel, text } of messages) pipeline.publish(channel, text);
    this.#underWay++;
    pipeline.exec().then(
      (results) => {
        this.#underWay--;
        const failure = results?.find(([error]) => error !== null)?.[0];
        if (failure) this.#outage.failed(failure);
      },
      (error: unknown) => {
        this.#underWay--;
        this.#outage.failed(error);
      },
    );
  }

  /** Batches that are under way still go out; a server that is unavailable is not waited for. */
  async close(): Promise<void> {
    this.#outage.close();
    try {
      if (this.#connection.status === 'ready') await this.#connection.quit();
      else this.#connection.disconnect();
    } catch (error) {
      this.#log.debug({ err: error }, 'Redis disconnected before it confirmed QUIT');
      this.#connection.disconnect();
    }
  }
}
