import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { ProcessSpec } from '../processes/process-spec.ts';
import type { Settings } from '../stack/settings.ts';
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

/** One Kafka node from its Maven artifacts, broker and controller in one process. */
export function kafkaSpec(settings: Settings): { spec: ProcessSpec; brokers: string } {
  const { kafka: port, kafkaController: controllerPort } = settings.ports;
  const folder = path.join(settings.data, 'kafka');
  const properties = path.join(folder, 'server.properties');
  const log = path.join(folder, 'log');
  const classpath = path.join(settings.tools, 'kafka', '*');

  async function configure(): Promise<void> {
    const address = `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`;
    const defaults = await readFile(path.join(settings.root, 'infra', 'kafka', 'broker.properties'), 'utf8');
    await mkdir(folder, { recursive: true });
    await writeFile(
      properties,
      `${defaults}\nlisteners=${address}\nadvertised.listeners=${address}\n` +
        `controller.quorum.bootstrap.servers=127.0.0.1:${controllerPort}\nlog.dirs=${log}\n`,
    );
  }

  async function format(): Promise<void> {
    await rm(log, { recursive: true, force: true });
    const cluster = randomBytes(16).toString('base64url');
    // Passed with "=": one id in 64 begins with a dash, which would be read as an option.
    await run('java', [
      ...JVM,
      '-cp',
      classpath,
      'kafka.tools.StorageTool',
      'format',
      '--standalone',
      `--cluster-id=${cluster}`,
      '-c',
      properties,
    ]);
  }

  return {
    brokers: `127.0.0.1:${port}`,
    spec: {
      name: 'kafka',
      label: 'Kafka 4.3 (KRaft, one node)',
      ports: ['kafka', 'kafkaController'],
      stopSignal: 'SIGTERM',
      orphanSignal: 'SIGTERM',
      stopMs: 15_000,
      jsonLogs: false,
      stuck: async () => false,
      async prepare() {
        await configure();
        // The last file that a format writes: an interrupted format is repeated.
        const formatted = await stat(path.join(log, 'bootstrap.checkpoint')).then(
          () => true,
          () => false,
        );
        if (!formatted) await format();
      },
      command: () => ({ file: 'java', args: [...JVM, '-cp', classpath, 'kafka.Kafka', properties] }),
      ready: async () => (await ask(port, API_VERSIONS)).readInt32BE(4) === 7,
    },
  };
}
