import { BRIEF_RETRY, createClient, MEMBER_RETRY, QUICK_RETRY } from './client.ts';
import { compressionType } from './compression.ts';
import { KafkaConnection } from './connection.ts';
import { EndLooks } from './end-looks.ts';
import { KafkaGroupMember } from './group-member.ts';
import { Lifeline } from './lifeline.ts';
import { type EventLogOptions, SESSION_TIMEOUT_MS } from './options.ts';
import { KafkaProducer } from './producer.ts';
import { fenceDelegate, fenceFormerOwner, type FormerState } from './hanging-transaction.ts';
import { KafkaTakenId, TRANSACTION_TIMEOUT_MS } from './taken-id.ts';
import { randomUUID } from 'node:crypto';
import { type Names, OWNER_GROUP } from '../names.ts';
import { type SharingRequests, SharedWriters } from '../ownership/shared-writers.ts';
import { type LogSink, SILENT } from '../port.ts';
import type { LogTransport, PartitionWriter } from '../transport.ts';

/** The brokers of a Kafka cluster. Connects only when it is used. */
export function kafkaTransport(options: EventLogOptions, names: Names): LogTransport {
  const { partitions, sessionTimeoutMs = SESSION_TIMEOUT_MS } = options;
  const compression = compressionType(options.compression);
  const looks = new EndLooks(names.topic('intent.events'));
  const formerStates = new Map<number, FormerState>();
  const log = options.logger ?? SILENT;
  const connectId = (id: string, partition: number, name: string): Promise<KafkaTakenId> => {
    const lifeline = new Lifeline();
    return KafkaTakenId.connect(createClient(options, name, QUICK_RETRY, { lifeline }), {
      names,
      id,
      partition,
      compression,
      lifeline,
      looks,
    });
  };
  const sharing = new SharedWriters({
    newId: () => names.delegateId(randomUUID()),
    async take(id) {
      const taken = await connectId(id, 0, 'writer');
      try {
        await taken.take();
        return taken;
      } catch (error) {
        await taken.close();
        throw error;
      }
    },
  });
  return {
    partitions,
    async openWriter(partition, projected = async () => 0n): Promise<PartitionWriter> {
      const own = await connectId(names.transactionalId(partition), partition, `writer-${partition}`);
      try {
        const requests = sharingRequests(own, { names, partitions, log });
        await sharing.awaitRelease(partition, requests);
        let commands: bigint | null = null;
        await fenceFormerOwner({
          cluster: own.cluster,
          topic: names.topic('intent.events'),
          partition,
          transactionalId: own.id,
          fence: () => own.take(),
          async fenceDelegates() {
            const fenced = await sharing.fenceDelegates(partition, requests);
            commands = fenced.commands;
            return fenced.former;
          },
          formerStates,
          projected,
          log,
        });
        return sharing.writer(partition, own, commands);
      } catch (error) {
        await own.close();
        throw error;
      }
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
          onDelegating: member.group === OWNER_GROUP ? (all) => sharing.delegate(all) : null,
        },
        work,
      ),
    openProducer: () => KafkaProducer.open(createClient(options, 'publisher', BRIEF_RETRY), names, compression),
  };
}

/** By the connections of a partition's id. */
function sharingRequests(
  { cluster }: KafkaTakenId,
  { names, partitions, log }: { readonly names: Names; readonly partitions: number; readonly log: LogSink },
): SharingRequests {
  return {
    delegation: (partition, stable) =>
      cluster.delegation(names.group(OWNER_GROUP), names.topic('intent.commands'), partition, stable),
    async hasCommands(partition) {
      const ends = await cluster.offsets(names.topic('intent.commands'), [partition], 'end');
      return (ends.get(partition) ?? 0n) > 0n;
    },
    fence: (id) =>
      fenceDelegate(
        {
          cluster,
          topic: names.topic('intent.events'),
          transactionalId: id,
          fence: () => cluster.fence(id, TRANSACTION_TIMEOUT_MS),
          log,
        },
        partitions,
      ),
    delegates: async () =>
      (await cluster.transactions())
        .map(({ transactionalId }) => transactionalId)
        .filter((id) => names.isDelegateId(id)),
  };
}
