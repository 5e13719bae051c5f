// In place of kubectl: `exec` runs the program on this machine with the environment of the pod, and `get` knows the
// secrets. Everything else is the check's of `npm run test:k8s`, which has an API server.
import { spawnSync } from 'node:child_process';
import { complain } from '../../../../k8s-checks/src/runbooks/complaints.ts';
import { readSurroundings } from './surroundings.ts';

/** As the scripts of Kafka's bin folder. */
const KAFKA_TOOLS: Readonly<Record<string, string>> = {
  'kafka-configs': 'kafka.admin.ConfigCommand',
  'kafka-consumer-groups': 'org.apache.kafka.tools.consumer.group.ConsumerGroupCommand',
  'kafka-get-offsets': 'org.apache.kafka.tools.GetOffsetShell',
  'kafka-log-dirs': 'org.apache.kafka.tools.LogDirsCommand',
  'kafka-topics': 'org.apache.kafka.tools.TopicCommand',
  'kafka-transactions': 'org.apache.kafka.tools.TransactionsCommand',
};
const JVM = [
  '-Xmx128m',
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=1',
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=error',
];
/** None of the commands waits for anything; on a busy machine they take seconds. */
const ENDS_WITHIN_MS = 60_000;
/** Kafka's tools end with 0 after some errors. */
const KAFKA_ERROR = /^error|exception|authoriz/im;

const surroundings = readSurroundings();
const ownEnvironment = {
  PATH: surroundings.values['PATH'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
};
const args = process.argv.slice(2);
const isOfBrokers = args[0] === '-n' && args[1] === 'kafka';
const [verb = '', ...rest] = args[0] === '-n' ? args.slice(2) : args;

interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

const elsewhere = (text: string): string =>
  Object.entries(surroundings.replaced).reduce((changed, [from, to]) => changed.replaceAll(from, to), text);

async function inBroker(command: readonly string[]): Promise<Program | null> {
  const [name = '', ...options] = command;
  // A shell of its own: this machine's listeners have no TLS.
  if (name === 'sh') {
    const script = (options[1] ?? '').replace('cat >', "sed 's/=SASL_SSL$/=SASL_PLAINTEXT/' >");
    return { file: 'sh', args: ['-c', script.replaceAll('/tmp/', `${surroundings.brokerFolder}/`)] };
  }
  const tool = KAFKA_TOOLS[/^bin\/(.*)\.sh$/.exec(name)?.[1] ?? ''];
  if (tool === undefined) return null;
  const given = options.map((option) =>
    option.replace('pf-kafka-bootstrap:9093', surroundings.brokers).replace('/tmp/', `${surroundings.brokerFolder}/`),
  );
  if (given.includes('abort')) {
    const { beginTransaction } = await import('./transaction.ts');
    given[given.indexOf('--start-offset') + 1] = await beginTransaction(surroundings.brokers);
  }
  return { file: 'java', args: [...JVM, '-cp', `${surroundings.jars}/*`, tool, ...given] };
}

function inPod(pod: string, command: readonly string[]): Program | null {
  const workload = pod.replace(/^\w+\//, '').replace(/-0$/, '');
  const isImport = command.join(' ').includes('pf log import');
  const environment = surroundings.environments[isImport ? `${workload} of an import` : workload];
  const [name, program = '', ...options] = command;
  if (name !== 'node' || environment === undefined) return null;
  const file = program === 'dist/main.js' ? surroundings.image : program;
  return { file: process.execPath, args: [file, ...options.map(elsewhere)], environment };
}

async function exec(): Promise<string> {
  const at = rest.indexOf('--');
  const command = rest.slice(at + 1);
  const pod = rest.slice(0, at).find((arg) => !arg.startsWith('-')) ?? '';
  const program = isOfBrokers ? await inBroker(command) : inPod(pod, command);
  const line = command.join(' ');
  if (program === null) {
    complain(`nothing runs "${line}" in ${pod}`);
    return '';
  }
  const { status, stdout, stderr } = spawnSync(program.file, program.args, {
    env: { ...ownEnvironment, ...program.environment },
    stdio: [rest.includes('-i') ? 'inherit' : 'ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    timeout: ENDS_WITHIN_MS,
  });
  const said = `${stdout}${stderr}`;
  const [, refusal] = Object.entries(surroundings.refused).find(([part]) => line.includes(part)) ?? [];
  const isWrong = status !== 0 || (program.file === 'java' && KAFKA_ERROR.test(said));
  if (isWrong && !(refusal !== undefined && said.includes(refusal)))
    complain(`"${line}" in ${pod} ended with ${status}: ${said.slice(0, 1_000)}`);
  return stdout;
}

/** What a jsonpath of one field asks for. */
function get(): string {
  const [kind = '', name = ''] = rest;
  const key = /^jsonpath=\{\.data\.(.+)\}$/.exec(rest[rest.indexOf('-o') + 1] ?? '')?.[1]?.replaceAll('\\', '');
  if (kind === 'pod' && isOfBrokers) return 'pf-brokers-0';
  if (key === undefined) return '';
  const value = surroundings.values[`${kind}/${name}/${key}`];
  if (value === undefined) complain(`${kind} ${name} has no ${key} in this check`);
  return kind === 'secret' ? Buffer.from(value ?? '').toString('base64') : (value ?? '');
}

const answers: Readonly<Record<string, () => string | Promise<string>>> = { exec, get };
const said = (await answers[verb]?.()) ?? '';
// `head` may be gone already.
process.stdout.on('error', () => undefined).write(said);
