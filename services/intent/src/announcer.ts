import { encodeReplies, type Reply } from '@pf/contracts';
import type { ProjectedDeposit, ProjectedIntent } from '@pf/database';
import { accountChannels, ChannelPublisher, encodeNotice, intentChannel, type Notice, signed } from '@pf/redis';
import type { Logger } from '@pf/runtime';

/** What follows from a batch that was projected. */
interface Announced {
  /** By the channel of the gateway that waits. */
  readonly replies: ReadonlyMap<string, readonly Reply[]>;
  readonly notices: readonly Notice[];
  /** The intents that have changed. */
  readonly intents: readonly Pick<ProjectedIntent, 'intent'>[];
  /** The deposits that have changed. */
  readonly deposits: readonly Pick<ProjectedDeposit, 'deposit'>[];
}

/**
 * Publishes replies to gateways and notices to streams through Redis. All of them can be lost: outcomes and intents
 * are in Postgres. Nothing here throws, waits or blocks.
 */
export class Announcer {
  readonly #publisher: ChannelPublisher;
  readonly #secret: Uint8Array;

  /**
   * Connects in the background, for as long as it takes.
   * @param secret REPLY_SECRET, which the gateways have too
   */
  constructor(redisUrl: string, secret: Uint8Array, log: Logger) {
    this.#secret = secret;
    this.#publisher = new ChannelPublisher(redisUrl, {
      log,
      withoutRedis: 'gateways read outcomes from Postgres until it is back',
    });
  }

  /** Sends the replies, one message per gateway, the notices, and one to each account, in one round trip. */
  announce({ replies, notices, intents, deposits }: Announced): void {
    const changed = [...intents.map(({ intent }) => intent), ...deposits.map(({ deposit }) => deposit)];
    this.#publisher.publish([
      ...[...replies].map(([channel, batch]) => ({
        channel,
        text: signed(this.#secret, channel, encodeReplies(batch)),
      })),
      ...notices.map((notice) => ({ channel: intentChannel(notice.intentId), text: encodeNotice(notice) })),
      ...accountChannels(changed).map((channel) => ({ channel, text: '' })),
    ]);
  }

  /** Lets replies in flight go out; does not wait for an unavailable server. */
  close(): Promise<void> {
    return this.#publisher.close();
  }
}
