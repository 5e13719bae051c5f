import { ChannelSubscriber, DUE_CHANNEL, type DueNotice, parseDueNotice } from '@pf/redis';
import type { Logger } from '@pf/runtime';

/** Hears, through Redis, of deliveries that an account retries. The next sweep finds those that were missed. */
export class DueNotices {
  readonly #subscriber: ChannelSubscriber;
  readonly #log: Logger;

  /** @param onDue must neither throw nor be waited for */
  constructor(redisUrl: string, onDue: (notice: DueNotice) => void, log: Logger) {
    this.#log = log;
    this.#subscriber = new ChannelSubscriber(
      redisUrl,
      { message: (_channel, text) => this.#receive(text, onDue) },
      { log, withoutRedis: 'deliveries that accounts retry wait for the next sweep' },
    );
    void this.#subscriber.subscribe(DUE_CHANNEL);
  }

  /** Begins to listen, in the background, for as long as it takes. */
  open(): void {
    this.#subscriber.open();
  }

  close(): void {
    this.#subscriber.close();
  }

  #receive(text: string, onDue: (notice: DueNotice) => void): void {
    try {
      onDue(parseDueNotice(text));
    } catch (error) {
      // No gateway sends this. The next sweep finds the delivery, if there is one.
      this.#log.warn({ err: error }, 'a message on the channel of due deliveries is not a notice');
    }
  }
}
