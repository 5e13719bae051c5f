import { encodeReplies, type Reply } from '@pf/contracts';
import { ChannelPublisher, encodeNotice, intentChannel, type Notice } from '@pf/redis';
import type { Logger } from '@pf/runtime';

/**
 * Publishes replies to gateways and notices to streams through Redis. All of them can be lost: outcomes and intents
 * are in Postgres. Nothing here throws, waits or blocks.
 */
export class Announcer {
  readonly #publisher: ChannelPublisher;

  /** Connects in the background, for as long as it takes. */
  constructor(redisUrl: string, log: Logger) {
    this.#publisher = new ChannelPublisher(redisUrl, {
      log,
      withoutRedis: 'gateways read outcomes from Postgres until it is back',
    });
  }

  /** Sends the replies, one message per gateway, and the notices, in one round trip. */
  announce(replies: ReadonlyMap<string, readonly Reply[]>, notices: readonly Notice[]): void {
    this.#publisher.publish([
      ...[...replies].map(([channel, batch]) => ({ channel, text: encodeReplies(batch) })),
      ...notices.map((notice) => ({ channel: intentChannel(notice.intentId), text: encodeNotice(notice) })),
    ]);
  }

  /** Lets replies in flight go out; does not wait for an unavailable server. */
  close(): Promise<void> {
    return this.#publisher.close();
  }
}
