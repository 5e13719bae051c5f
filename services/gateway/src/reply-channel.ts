import { parseReplies, type Reply } from '@pf/contracts';
import { ChannelSubscriber, replyChannel } from '@pf/redis';
import type { Logger } from '@pf/runtime';

export interface ReplyListener {
  replied(reply: Reply): void;
  /** Replies that are published from now on, and some of those just before, are missed. */
  lost(): void;
}

/** The gateway's own channel in Redis, on which the partitions' owners send it the replies to its commands. */
export class ReplyChannel {
  readonly name: string;
  readonly #subscriber: ChannelSubscriber;
  readonly #listener: ReplyListener;
  readonly #log: Logger;

  /** @param gatewayId unique to this process: no other gateway listens on its channel */
  constructor(redisUrl: string, gatewayId: string, listener: ReplyListener, log: Logger) {
    this.name = replyChannel(gatewayId);
    this.#listener = listener;
    this.#log = log;
    this.#subscriber = new ChannelSubscriber(
      redisUrl,
      {
        message: (_channel, text) => this.#receive(text),
        listening: () => log.info('listening for replies'),
        lost: () => listener.lost(),
      },
      { log, withoutRedis: 'outcomes are read from the database' },
    );
    void this.#subscriber.subscribe(this.name);
  }

  /** True while replies that are published now arrive. */
  get listening(): boolean {
    return this.#subscriber.listening;
  }

  /** Begins to listen, in the background: until Redis is available, `listening` is false. */
  open(): void {
    this.#subscriber.open();
  }

  close(): void {
    this.#subscriber.close();
  }

  #receive(text: string): void {
    try {
      for (const reply of parseReplies(text)) this.#listener.replied(reply);
    } catch (error) {
      // No owner sends this. The requests that wait find their outcomes in the database.
      this.#log.error({ err: error }, 'a message on the reply channel is not a list of replies');
    }
  }
}
