import { parseReplies, type Reply } from '@pf/contracts';
import { ChannelSubscriber, replyChannel, verified } from '@pf/redis';
import type { Logger } from '@pf/runtime';

export interface ReplyListener {
  replied(reply: Reply): void;
  /** Replies that are published from now on, and some of those just before, are missed. */
  lost(): void;
}

/**
 * The gateway's own channel in Redis, on which the partitions' owners send it the replies to its commands. Replies
 * decide what is broadcast and what payers sign, so only those are believed that an owner has signed.
 */
export class ReplyChannel {
  readonly name: string;
  readonly #subscriber: ChannelSubscriber;
  readonly #listener: ReplyListener;
  readonly #secrets: readonly Uint8Array[];
  readonly #log: Logger;

  /**
   * @param gatewayId unique to this process: no other gateway listens on its channel
   * @param secrets REPLY_SECRET, which the owners have too
   */
  constructor(
    redisUrl: string,
    gatewayId: string,
    secrets: readonly Uint8Array[],
    listener: ReplyListener,
    log: Logger,
  ) {
    this.#secrets = secrets;
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

  #receive(message: string): void {
    const text = verified(this.#secrets, this.name, message);
    if (text === null) {
      // The requests that wait find their outcomes in the database.
      this.#log.error('a message on the reply channel is not signed by an intent service: compare REPLY_SECRET');
      return;
    }
    try {
      for (const reply of parseReplies(text)) this.#listener.replied(reply);
    } catch (error) {
      // No owner sends this. The requests that wait find their outcomes in the database.
      this.#log.error({ err: error }, 'a message on the reply channel is not a list of replies');
    }
  }
}
