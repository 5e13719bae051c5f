import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Command } from '../processes/process-spec.ts';
import { ask } from '../processes/sockets.ts';

const run = promisify(execFile);

/** A small heap, the serial collector, the C1 compiler only: 210 MB resident, listening after 2 s. */
const JVM = [
  '-Xms256m',
  '-Xmx256m',
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=1',
  '-Xshare:auto',
  '-Djava.awt.headless=true',
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
];

/** A request of Kafka's ApiVersions v0: length, API key 18, version, correlation id 7, client id "pf". */
const API_VERSIONS = Buffer.from([0, 0, 0, 12, 0, 18, 0, 0, 0, 0, 0, 7, 0, 2, 0x70, 0x66]);

/** A node of a cluster whose nodes are all broker and controller. */
interface Voter {
  readonly id: number;
  readonly port: number;
  readonly controllerPort: number;
  /** The id of its data folder: 16 bytes in base64url. */
  readonly directory: string;
}

interface KafkaNodeOptions {
  /** The repository. */
  readonly root: string;
  readonly tools: string;
  /** Gets its properties and data. */
  readonly folder: string;
  /** All nodes of the cluster. */
  readonly voters: readonly Voter[];
  /** Which of them this is. */
  readonly id: number;
  /** The id of the cluster: 16 bytes in base64url. */
  readonly cluster: string;
  /** Properties that replace those of infra/kafka/broker.properties. */
  readonly properties?: Readonly<Record<string, string>>;
  /** A listener beside PLAINTEXT: `NAME://host:port`. */
  readonly further?: string | undefined;
  /** Further options of Java. */
  readonly java?: readonly string[];
}

/** How to run one Kafka node from its Maven artifacts, broker and controller in one process. */
export interface KafkaNode {
  readonly id: number;
  /** `host:port` for clients. */
  readonly address: string;
  readonly command: Command;
  /** Before every start: writes the properties, and formats the data folder once. */
  readonly prepare: () => Promise<void>;
  /** True when it accepts clients. */
  readonly ready: () => Promise<boolean>;
}

/** With several nodes every record is on all of them, and two must have it before it counts. */
function replicated(count: number): Readonly<Record<string, string>> {
  if (count === 1) return {};
  const [factor, inSync] = [String(count), String(count - 1)];
  return {
    'offsets.topic.replication.factor': factor,
    'transaction.state.log.replication.factor': factor,
    'transaction.state.log.min.isr': inSync,
    'share.coordinator.state.topic.replication.factor': factor,
    'share.coordinator.state.topic.min.isr': inSync,
  };
}

export function kafkaNode({
  root,
  tools,
  folder,
  voters,
  id,
  cluster,
  properties = {},
  further,
  java = [],
}: KafkaNodeOptions): KafkaNode {
  const self = voters.find((voter) => voter.id === id);
  if (!self) throw new RangeError(`Node ${id} is not among the nodes of its cluster.`);
  const { port, controllerPort } = self;
  const file = path.join(folder, 'server.properties');
  const log = path.join(folder, 'log');
  const classpath = path.join(tools, 'kafka', '*');
  const controllers = voters.map((voter) => `127.0.0.1:${voter.controllerPort}`).join(',');

  async function configure(): Promise<void> {
    const address = [
      `PLAINTEXT://127.0.0.1:${port}`,
      `CONTROLLER://127.0.0.1:${controllerPort}`,
      ...(further === undefined ? [] : [further]),
    ].join(',');
    const defaults = await readFile(path.join(root, 'infra', 'kafka', 'broker.properties'), 'utf8');
    const own = {
      ...replicated(voters.length),
      'node.id': String(id),
      listeners: address,
      'advertised.listeners': address,
      'controller.quorum.bootstrap.servers': controllers,
      'log.dirs': log,
      ...properties,
    };
    await mkdir(folder, { recursive: true });
    // The last of two lines for one property counts.
    await writeFile(file, [defaults, ...Object.entries(own).map(([name, value]) => `${name}=${value}`), ''].join('\n'));
  }

  async function format(): Promise<void> {
    await rm(log, { recursive: true, force: true });
    const initial = voters.map((voter) => `${voter.id}@127.0.0.1:${voter.controllerPort}:${voter.directory}`);
    // Passed with "=": one id in 64 begins with a dash, which would be read as an option.
    await run('java', [
      ...JVM,
      '-cp',
      classpath,
      'kafka.tools.StorageTool',
      'format',
      `--initial-controllers=${initial.join(',')}`,
      `--cluster-id=${cluster}`,
      '-c',
      file,
    ]);
  }

  return {
    id,
    address: `127.0.0.1:${port}`,
    command: { file: 'java', args: [...JVM, ...java, '-cp', classpath, 'kafka.Kafka', file] },
    async prepare() {
      await configure();
      // The last file that a format writes: an interrupted format is repeated.
      const formatted = await stat(path.join(log, 'bootstrap.checkpoint')).then(
        () => true,
        () => false,
      );
      if (!formatted) await format();
    },
    ready: async () => (await ask(port, API_VERSIONS)).readInt32BE(4) === 7,
  };
}
