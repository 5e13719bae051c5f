// The one entry of every command (`npm start`, `npm test`, `npm run pf` …). Plain JavaScript without dependencies, for
// any Node from 18 on: it gets what the command needs, skips what is there already, and hands over to Node 24.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { kafka } from './setup/kafka.mjs';
import { oneAtATime } from './setup/lock.mjs';
import { node as getNode, pnpm as getPnpm } from './setup/programs.mjs';
import { prometheus } from './setup/prometheus.mjs';
import { redis } from './setup/redis.mjs';
import { allOf, SetupError, say } from './setup/say.mjs';
import { compile, generate, install } from './setup/workspace.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');
const tools = path.join(root, '.tools');
/** Our packages as they are written: nothing need be compiled. */
const sources = ['--conditions=source'];
const supervisor = path.join('infra', 'local', 'src', 'main.ts');

const USAGE = `What to do: node infra/local/bootstrap.mjs …
  start       the whole stack, until Ctrl-C
  backing     only Postgres, Redis, Kafka and the chains
  reset       empty the data folder
  build       dependencies, the Prisma client, everything compiled
  test        types, lint, unit, integration, end to end; or only those named
  demo …      payments on every chain, as a client makes them; lost and failed ones
  pay ID      pays an intent on the local Base chain
  pf …        accounts, keys, webhooks
  alerts      every alert on made series, with promtool
  run FILE …  a TypeScript file of this repository`;

/** What a command needs before it runs, and what runs then: arguments to Node. */
const commands = {
  start: { backing: true, compiled: 'meanwhile', args: [...sources, supervisor, 'start'] },
  backing: { backing: true, compiled: 'never', args: [...sources, supervisor, 'backing'] },
  reset: { backing: false, compiled: 'never', args: [...sources, supervisor, 'reset'] },
  build: { backing: false, compiled: 'before', args: null },
  test: { backing: true, compiled: 'before', args: [path.join('infra', 'local', 'src', 'checks', 'main.ts')] },
  demo: {
    backing: false,
    compiled: 'before',
    args: [...sources, path.join('infra', 'local', 'src', 'demo', 'main.ts')],
  },
  pay: { backing: false, compiled: 'before', args: [path.join('packages', 'client', 'examples', 'pay.mjs')] },
  pf: { backing: false, compiled: 'before', args: [path.join('packages', 'cli', 'dist', 'main.js')] },
  alerts: {
    backing: false,
    prometheus: true,
    compiled: 'before',
    args: [...sources, path.join('infra', 'observability', 'src', 'check.ts')],
  },
  run: { backing: false, compiled: 'before', args: sources },
};

/** Backing parts that the environment names need nothing on this machine. */
async function fetchBacking() {
  await allOf([
    process.env.KAFKA_BROKERS ? undefined : kafka({ root, tools }),
    process.env.REDIS_URL ? undefined : redis(tools),
  ]);
}

/** Gets everything but our own packages compiled. @returns the place that Node 24 and everything below it runs in */
async function prepare(command) {
  const installed = async () => {
    const pnpm = await getPnpm(tools);
    await install({ root, tools, pnpm });
    return pnpm;
  };
  const [node, pnpm, promtool] = await allOf([
    getNode(tools),
    installed(),
    command.prometheus ? prometheus(tools) : null,
    command.backing ? fetchBacking() : undefined,
  ]);
  const environment = {
    ...process.env,
    PATH: [path.dirname(node), promtool, process.env.PATH].filter(Boolean).join(path.delimiter),
  };
  return { root, tools, node, pnpm, environment };
}

async function build(place) {
  await generate(place);
  await compile(place);
}

/** Runs Node 24 in the foreground until it ends; signals reach it, and our own end does too, through the channel. */
function handOver(place, args, meanwhile) {
  const child = spawn(place.node, ['--disable-warning=ExperimentalWarning', ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    cwd: root,
    env: place.environment,
  });
  // Ctrl-C reaches the child from the terminal itself; the others are sent to us alone.
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  // npm gone without a signal (kill -9): nobody is left to press Ctrl-C. Started otherwise, losing a parent is normal.
  const above = ancestors();
  if (process.env.npm_lifecycle_event) setInterval(() => ancestors() === above || child.kill('SIGTERM'), 1000).unref();
  meanwhile().then(
    () => child.connected && child.send('compiled', () => undefined),
    (error) => {
      complain(error);
      process.exitCode = 1;
      child.kill('SIGTERM');
    },
  );
  child.once('exit', (code, signal) => process.exit(process.exitCode || (code ?? (signal === 'SIGINT' ? 130 : 143))));
}

/** Our parent and its parent: npm starts a shell that starts us. */
function ancestors() {
  const stat = `/proc/${process.ppid}/stat`;
  const fields = existsSync(stat) ? readFileSync(stat, 'utf8').split(') ').at(-1).split(' ') : [];
  return `${process.ppid} ${fields[1]}`;
}

function complain(error) {
  say(`\n${error instanceof SetupError ? error.message : error.stack}`);
}

const [name, ...rest] = process.argv.slice(2);
let command = Object.hasOwn(commands, name ?? '') ? commands[name] : null;
// Types, lint and unit tests need neither Java nor Redis.
if (name === 'test' && rest.length > 0 && !rest.some((phase) => ['integration', 'e2e'].includes(phase)))
  command = { ...command, backing: false };
if (!command) {
  say(USAGE);
  process.exit(64);
}
if (!existsSync(path.join(root, 'package.json'))) throw new Error(`${root} is not the repository.`);
try {
  const place = await oneAtATime(tools, async () => {
    const prepared = await prepare(command);
    if (command.compiled === 'before') await build(prepared);
    return prepared;
  });
  if (command.args)
    handOver(
      place,
      [...command.args, ...rest],
      async () => void (command.compiled === 'meanwhile' && (await oneAtATime(tools, () => build(place)))),
    );
} catch (error) {
  complain(error);
  // Whoever counts tests reads the last line.
  if (name === 'test') process.stdout.write('0 passed, 1 failed\n');
  process.exitCode = 1;
}
