import { LogUnavailableError, type NewRecord, type Publisher } from '@pf/event-log';

/**
 * A publisher that may be opened later: a gateway that starts while Kafka is unavailable serves reads meanwhile, and
 * refuses commands.
 */
export class LatePublisher implements Publisher {
  #publisher: Publisher | null = null;

  /** From now on records go to this one. */
  opened(publisher: Publisher): void {
    this.#publisher = publisher;
  }

  /** @throws LogUnavailableError while none is open, and what its publisher throws */
  async publish(topic: Parameters<Publisher['publish']>[0], record: NewRecord, deadline?: AbortSignal): Promise<void> {
    if (!this.#publisher) throw new LogUnavailableError('No broker has responded since the start.');
    await this.#publisher.publish(topic, record, deadline);
  }

  async close(): Promise<void> {
    await this.#publisher?.close();
  }
}
