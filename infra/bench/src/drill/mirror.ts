import kafkajs from 'kafkajs';
import { createEventLog } from '@pf/event-log';
import type { DrillRig } from './rig.ts';
import type { Brokers } from '@pf/local/brokers';

const TOPIC = 'intent.events';

/**
 * Copies intent.events to another cluster as it grows, as MirrorMaker does that reads committed records: keys, values
 * and partitions stay, but transactions' markers are not copied, so every offset shifts.
 */
export class Mirror {
  readonly #stopping = new AbortController();
  readonly #working: Promise<void>;

  private constructor(working: (signal: AbortSignal) => Promise<void>) {
    this.#working = working(this.#stopping.signal);
    // Looked at when it is stopped.
    this.#working.catch(() => undefined);
  }

  /** Makes the topics there, and begins. */
  static async start(rig: DrillRig, target: Brokers): Promise<Mirror> {
    const { cluster } = rig;
    const { partitions } = cluster.log;
    const brokers = target.addresses.split(',');
    await createEventLog({ brokers, partitions, clientId: 'mirror', prefix: cluster.prefix }).createTopics();
    const client = new kafkajs.Kafka({ clientId: 'mirror', brokers, logLevel: kafkajs.logLevel.NOTHING });
    const producer = client.producer();
    await producer.connect();
    const reader = await rig.log().reader('mirror');
    return new Mirror(async (signal) => {
      try {
        const from = new Map(Array.from({ length: partitions }, (_, partition) => [partition, 0n]));
        for await (const { partition, records } of reader.follow(TOPIC, from, signal))
          await producer.send({
            topic: `${cluster.prefix}${TOPIC}`,
            messages: records.map(({ key, value, headers }) => ({ partition, key, value, headers: { ...headers } })),
          });
      } catch (error) {
        // Ended by the one who follows.
        if (!signal.aborted) throw error;
      } finally {
        await reader.close();
        await producer.disconnect();
      }
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#working;
  }
}
