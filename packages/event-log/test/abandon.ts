import type { EventLogOptions } from '../src/index.ts';
import { createClient, QUICK_RETRY } from '../src/kafka/client.ts';
import { Names } from '../src/names.ts';

/** Appends to the partition's events in a transaction whose writer dies before its end. */
export async function abandon(options: EventLogOptions, partition: number, values: readonly string[]): Promise<void> {
  const names = new Names(options.prefix ?? '');
  const producer = createClient(options, 'dying', QUICK_RETRY).producer({
    transactionalId: names.transactionalId(partition),
    idempotent: true,
    maxInFlightRequests: 1,
    retry: QUICK_RETRY,
    createPartitioner: () => () => partition,
  });
  await producer.connect();
  const transaction = await producer.transaction();
  await transaction.send({
    topic: names.topic('intent.events'),
    messages: values.map((value) => ({ value, partition })),
  });
  await producer.disconnect();
}
