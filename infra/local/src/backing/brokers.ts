import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { freePorts } from '@pf/testing';
import { kafkaNode, type KafkaNode } from './kafka-node.ts';
import { type KillableProcess, killableProcess } from '../processes/killable-process.ts';
import { type Reaper, startReaper } from '../processes/reaper.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../..');

/** A broker process of its own. */
export interface Broker extends KillableProcess {
  /** Its node id, from 1. */
  readonly id: number;
  /** `host:port` for clients. */
  readonly address: string;
}

/** Brokers that belong to one test or tool, beside those of the running stack. */
export interface Brokers {
  /** The addresses of all, as in KAFKA_BROKERS. */
  readonly addresses: string;
  /** Replicas that a topic on them should have. */
  readonly replication: number;
  readonly nodes: readonly Broker[];
  /** Ends them. Their data stay in the folder. */
  close(): Promise<void>;
}

export interface BrokersOptions {
  /** 1, or 3 with every topic on all three. */
  readonly count: 1 | 3;
  /** Gets their data and logs; made if it is missing. */
  readonly folder: string;
  /** Properties that replace those of infra/kafka/broker.properties. */
  readonly properties?: Readonly<Record<string, string>>;
  /** A listener of the one broker beside the usual one, such as `SSL://127.0.0.1:9093`. */
  readonly further?: string | undefined;
  /** Further options of Java, such as a log level: `-Dorg.slf4j.simpleLogger.log.kafka.coordinator=info`. */
  readonly java?: readonly string[];
}

/**
 * Starts one broker, or three that replicate to each other, on free loopback ports with empty data. They end with this
 * process, even if it is killed. Each takes about 230 MB.
 */
export async function startBrokers({
  count,
  folder,
  properties = {},
  further,
  java = [],
}: BrokersOptions): Promise<Brokers> {
  await mkdir(folder, { recursive: true });
  const ports = await freePorts(2 * count);
  const voters = Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    port: ports[2 * index] ?? 0,
    controllerPort: ports[2 * index + 1] ?? 0,
    directory: randomBytes(16).toString('base64url'),
  }));
  const cluster = randomBytes(16).toString('base64url');
  const reaper = startReaper();
  const nodes = voters.map((voter) =>
    broker(
      kafkaNode({
        root: ROOT,
        tools: path.join(ROOT, '.tools'),
        folder: path.join(folder, `broker-${voter.id}`),
        voters,
        id: voter.id,
        cluster,
        properties,
        further,
        java,
      }),
      path.join(folder, `broker-${voter.id}.log`),
      reaper,
    ),
  );
  const close = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.kill()));
    reaper.close();
  };
  try {
    await Promise.all(nodes.map((node) => node.start()));
  } catch (error) {
    await close();
    throw error;
  }
  return { addresses: nodes.map(({ address }) => address).join(','), replication: count, nodes, close };
}

function broker(node: KafkaNode, log: string, reaper: Reaper): Broker {
  const { id, address } = node;
  const program = killableProcess({
    label: `Broker ${id}`,
    log,
    reaper,
    prepare: () => node.prepare(),
    command: () => node.command,
    ready: () => node.ready(),
  });
  return Object.assign(program, { id, address });
}
