import { BRIEF_RETRY, createClient, MEMBER_RETRY, QUICK_RETRY } from './client.ts';
import { compressionType } from './compression.ts';
import { KafkaConnection } from './connection.ts';
import { KafkaGroupMember } from './group-member.ts';
import { Lifeline } from './lifeline.ts';
import { type EventLogOptions, SESSION_TIMEOUT_MS } from './options.ts';
import { KafkaPartitionWriter } from './partition-writer.ts';
import { KafkaProducer } from './producer.ts';
import type { FormerState } from './hanging-transaction.ts';
import type { Names } from '../names.ts';
import { SILENT } from '../port.ts';
import type { LogTransport } from '../transport.ts';

/** The brokers of a Kafka cluster. Connects only when it is used. */
export function kafkaTransport(options: EventLogOptions, names: Names): LogTransport {
  const { partitions, sessionTimeoutMs = SESSION_TIMEOUT_MS } = options;
  const compression = compressionType(options.compression);
  const formerStates = new Map<number, FormerState>();
  return {
    partitions,
    openWriter: (partition, projected = async () => 0n) => {
      const lifeline = new Lifeline();
      return KafkaPartitionWriter.open(createClient(options, `writer-${partition}`, QUICK_RETRY, { lifeline }), {
        names,
        partition,
        formerStates,
        projected,
        log: options.logger ?? SILENT,
        compression,
        lifeline,
      });
    },
    connect: (name) => KafkaConnection.open(createClient(options, name, BRIEF_RETRY), names),
    member: (member, work) =>
      new KafkaGroupMember(
        {
          ...member,
          createClient: () => createClient(options, member.name, MEMBER_RETRY),
          names,
          partitions,
          sessionTimeoutMs,
        },
        work,
      ),
    openProducer: () => KafkaProducer.open(createClient(options, 'publisher', BRIEF_RETRY), names, compression),
  };
}
