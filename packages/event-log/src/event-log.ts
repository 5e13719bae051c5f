import { openAppender } from './appender.ts';
import { GroupedPartitionOwner } from './ownership/partition-owner.ts';
import { type LogClients, type LogSink, SILENT } from './port.ts';
import { BatchingPublisher } from './publisher.ts';
import { PositionedGroupConsumer } from './reading/group-consumer.ts';
import { FetchingReader } from './reading/reader.ts';
import type { LogTransport } from './transport.ts';

/** An intent's id has one byte for its partition. */
const MOST_PARTITIONS = 256;

/**
 * The log over any transport. Connects only when it is used.
 * @throws RangeError for an impossible number of partitions
 */
export function eventLogOver(transport: LogTransport, log: LogSink = SILENT): LogClients {
  const { partitions } = transport;
  if (!Number.isInteger(partitions) || partitions < 1 || partitions > MOST_PARTITIONS)
    throw new RangeError(`The log cannot have ${partitions} partitions: set 1 to 256.`);
  return {
    partitions,
    async publisher() {
      const publisher = new BatchingPublisher(transport);
      await publisher.connect();
      return publisher;
    },
    reader: async (name) => new FetchingReader(transport, `reader-${name}`),
    partitionOwner: (work, onCrash) => new GroupedPartitionOwner(transport, work, onCrash, log),
    group: (name, topic, work, onCrash) =>
      new PositionedGroupConsumer(transport, { group: name, topic, work, onCrash, log }),
    appender: (partition) => openAppender(transport, partition),
  };
}
