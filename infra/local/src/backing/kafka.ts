import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { ProcessSpec } from '../processes/process-spec.ts';
import type { Settings } from '../stack/settings.ts';
import { kafkaNode } from './kafka-node.ts';

/** The stack's Kafka: one node. */
export function kafkaSpec({ root, tools, data, ports }: Settings): { spec: ProcessSpec; brokers: string } {
  const id = (): string => randomBytes(16).toString('base64url');
  const node = kafkaNode({
    root,
    tools,
    folder: path.join(data, 'kafka'),
    voters: [{ id: 1, port: ports.kafka, controllerPort: ports.kafkaController, directory: id() }],
    id: 1,
    cluster: id(),
  });
  return {
    brokers: node.address,
    spec: {
      name: 'kafka',
      label: 'Kafka 4.3 (KRaft, one node)',
      ports: ['kafka', 'kafkaController'],
      stopSignal: 'SIGTERM',
      orphanSignal: 'SIGTERM',
      stopMs: 15_000,
      jsonLogs: false,
      stuck: async () => false,
      prepare: node.prepare,
      command: () => node.command,
      ready: node.ready,
    },
  };
}
