// The entry point of every command (`npm start`, `npm test`, `npm run pf` …). Plain JavaScript without dependencies,
// for Node 18 and later: installs what the command needs and is missing, then hands over to Node 24.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { analysts } from './setup/analysts.mjs';
import { chromium } from './setup/chromium.mjs';
import { earlierRelease } from './setup/earlier-release.mjs';
import { kafka } from './setup/kafka.mjs';
import { oneAtATime } from './setup/lock.mjs';
import { cdxgen, node as getNode, pnpm as getPnpm, typescript as getTypeScript } from './setup/programs.mjs';
import { faketime } from './setup/faketime.mjs';
import { prometheus } from './setup/prometheus.mjs';
import { redis } from './setup/redis.mjs';
import { allOf, SetupError, say } from './setup/say.mjs';
import { versitygw } from './setup/versitygw.mjs';
import { buildClient, bundle, compile, generate, install } from './setup/workspace.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');
const tools = path.join(root, '.tools');
/** Resolves our packages to their TypeScript sources: nothing need be compiled. */
const sources = ['--conditions=source'];
const supervisor = 'infra/local/src/main.ts';
const benchmarks = [
  'create',
  'reads',
  'rebuild',
  'telemetry',
  'rpc-calls',
  'rollout',
  'size',
  'growth',
  'soak',
  'watch',
  'webhooks',
  'kill-brokers',
];

/**
 * What a command needs before it runs, and what runs then: arguments to Node. `built`: what is built of our packages,
 * `before` it or `meanwhile`, is what runs; or `all` is compiled before it, for the types; or nothing is, `never`;
 * `late`: what runs is built before it, and all is compiled meanwhile. `plain`: it takes no arguments.
 */
const commands = {
  start: { backing: true, built: 'meanwhile', args: [...sources, supervisor, 'start'] },
  backing: { backing: true, plain: true, built: 'never', args: [...sources, supervisor, 'backing'] },
  reset: { backing: false, plain: true, built: 'never', args: [...sources, supervisor, 'reset'] },
  build: { backing: false, plain: true, built: 'all', args: null },
  test: {
    backing: true,
    chromium: true,
    built: 'before',
    args: [...sources, 'infra/local/src/checks/main.ts'],
  },
  demo: { backing: false, built: 'before', args: [...sources, 'infra/local/src/demo/main.ts'] },
  pay: { backing: false, built: 'before', args: ['packages/client/examples/pay.mjs'] },
  pf: { backing: false, built: 'before', args: ['infra/docker/dist/main.js', 'pf'] },
  k8s: { backing: false, built: 'before', args: [...sources, 'infra/k8s-checks/src/main.ts'] },
  alerts: {
    backing: false,
    plain: true,
    prometheus: true,
    built: 'before',
    args: [...sources, 'infra/observability/src/check.ts'],
  },
  mutants: { backing: false, built: 'before', args: [...sources, 'infra/mutants/src/main.ts'] },
  screenshots: {
    backing: false,
    plain: true,
    chromium: true,
    built: 'before',
    args: [...sources, 'infra/e2e/test/screenshots.ts'],
  },
  simulate: { backing: false, built: 'before', args: [...sources, 'infra/simulation/src/main.ts'] },
  chaos: { backing: true, built: 'before', args: [...sources, 'infra/bench/src/chaos.ts'] },
  drill: { backing: true, built: 'before', args: [...sources, 'infra/bench/src/drill.ts'] },
  bench: { backing: false, built: 'before', args: sources },
  generate: { backing: false, plain: true, built: 'never', args: [...sources, 'infra/generate/src/main.ts'] },
  audit: {
    backing: false,
    plain: true,
    built: 'never',
    args: ['.tools/pnpm/node_modules/pnpm/bin/pnpm.cjs', 'audit', '--audit-level=high'],
  },
  release: {
    backing: false,
    plain: true,
    cdxgen: true,
    built: 'never',
    args: [...sources, 'infra/release/src/main.ts'],
  },
  format: {
    backing: false,
    plain: true,
    built: 'never',
    args: ['node_modules/prettier/bin/prettier.cjs', '--write', '.'],
  },
  run: { backing: false, built: 'before', args: sources },
};

/** The npm scripts with the comment that each begins with, as `npm run` shows them. */
function usage() {
  const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const lines = Object.entries(scripts).map(([script, text]) => {
    const npm = ['start', 'test'].includes(script) ? 'npm' : 'npm run';
    return `  ${`${npm} ${script}`.padEnd(28)}${text.split('\n')[0].replace('# ', '')}`;
  });
  return [
    'Commands:',
    ...lines,
    '',
    'Without npm: node infra/local/bootstrap.mjs COMMAND. It has two more:',
    `  ${'backing'.padEnd(28)}Run only Postgres, Redis, Kafka and the chains until Ctrl-C`,
    `  ${'run FILE …'.padEnd(28)}Run a JavaScript or TypeScript file of this repository`,
  ].join('\n');
}

/**
 * A backing service that the environment names runs elsewhere: nothing is fetched for it.
 * @returns the folder of a Java that is not on the PATH
 */
async function fetchBacking() {
  const [java] = await allOf([
    process.env.KAFKA_BROKERS ? null : kafka({ root, tools }),
    process.env.REDIS_URL ? undefined : redis(tools),
  ]);
  return java;
}

/** Gets everything but our own packages built. @returns what Node 24 and its child processes run with */
async function prepare(command) {
  const installed = async () => {
    const pnpm = await getPnpm(tools);
    await install({ root, tools, pnpm });
    return pnpm;
  };
  const [node, pnpm, typescript, promtool, browser, s3, sbom, java] = await allOf([
    getNode(tools),
    installed(),
    command.built === 'never' ? null : getTypeScript(tools),
    command.prometheus ? prometheus(tools) : null,
    command.chromium ? chromium(tools) : undefined,
    command.s3 ? versitygw(tools) : undefined,
    command.cdxgen ? cdxgen(tools) : undefined,
    command.backing ? fetchBacking() : undefined,
    command.faketime ? faketime(tools) : undefined,
    command.analysts ? analysts(tools) : undefined,
  ]);
  const environment = {
    ...process.env,
    // Most of the time in which a service starts goes into compiling modules.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? path.join(tools, 'compile-cache'),
    PATH: [path.dirname(node), promtool, java, process.env.PATH].filter(Boolean).join(path.delimiter),
    ...(browser && { CHROMIUM: browser }),
    ...(s3 && { VERSITYGW: s3 }),
    ...(sbom && { CDXGEN: sbom }),
  };
  const place = { root, tools, node, pnpm, typescript, environment };
  const release = command.earlierRelease ? await earlierRelease(place) : null;
  return release ? { ...place, environment: { ...environment, EARLIER_RELEASE: release } } : place;
}

/** What runs in another form than the sources. */
async function buildToRun(place) {
  await generate(place);
  await allOf([bundle(place), buildClient(place)]);
}

async function buildAll(place) {
  await generate(place);
  await allOf([bundle(place), buildClient(place).then(() => compile(place))]);
}

/** Runs Node 24 in the foreground until it ends. It gets our signals, and notices our end by the closed IPC channel. */
function handOver(place, args, meanwhile) {
  const child = spawn(place.node, ['--disable-warning=ExperimentalWarning', ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    cwd: root,
    env: place.environment,
  });
  // Ctrl-C reaches the child from the terminal itself; the others are sent to us alone.
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  // npm was killed (kill -9): Ctrl-C no longer reaches us, so the stack ends too. Without npm a parent may well end.
  const above = ancestors();
  if (process.env.npm_lifecycle_event) setInterval(() => ancestors() === above || child.kill('SIGTERM'), 1000).unref();
  meanwhile().then(
    () => child.connected && child.send('built', () => undefined),
    (error) => {
      complain(error);
      process.exitCode = 1;
      // Tests end by themselves, with a count.
      if (command.built === 'late' && child.connected) child.send('not built', () => undefined);
      else child.kill('SIGTERM');
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

let [name, ...rest] = process.argv.slice(2);
let command = Object.hasOwn(commands, name ?? '') ? commands[name] : null;
const asksForHelp = rest.includes('--help') || rest.includes('-h');
// Types, lint and unit tests need neither Java nor Redis; a browser is for the end-to-end tests alone, wrong clocks, an
// earlier release, an S3 server and the programs of analysts for the drills.
if (name === 'test') {
  // Paths of test files are among the arguments too (infra/local/src/checks/arguments.ts).
  const named = rest.filter((argument) => !argument.startsWith('-') && !/\/|\.ts$/.test(argument));
  if (asksForHelp || named.length > 0)
    command = {
      ...command,
      built: asksForHelp ? 'never' : named.some((phase) => ['types', 'lint'].includes(phase)) ? 'late' : 'before',
      backing: named.some((phase) => ['integration', 'e2e', 'drills', 'providers'].includes(phase)),
      chromium: named.includes('e2e'),
      faketime: named.includes('drills'),
      analysts: named.includes('drills'),
      s3: named.includes('drills'),
      earlierRelease: named.includes('drills'),
    };
}
// Its options are known without anything that is built.
if (name === 'start' && asksForHelp) command = { ...command, backing: false, built: 'never' };
if (command?.plain && rest.length > 0) {
  if (asksForHelp) say(`${usage()}\n\n${name} takes no arguments.`);
  else say(`${name} takes no arguments: "${rest[0]}" is not expected.`);
  process.exit(asksForHelp ? 0 : 64);
}
if (!command) {
  const isHelp = ['help', '--help', '-h'].includes(name);
  if (name !== undefined && !isHelp) say(`There is no command "${name}".\n`);
  say(usage());
  process.exit(isHelp ? 0 : 64);
}
if (name === 'bench') {
  if (!benchmarks.includes(rest[0])) {
    say(`Name a benchmark: ${benchmarks.join(', ')}.`);
    process.exit(64);
  }
  rest = ['infra/bench/src/main.ts', ...rest];
}
if (!existsSync(path.join(root, 'package.json'))) throw new Error(`${root} is not the repository.`);
try {
  const place = await oneAtATime(tools, async () => {
    const prepared = await prepare(command);
    if (command.built === 'all') await buildAll(prepared);
    if (['before', 'late'].includes(command.built)) await buildToRun(prepared);
    return prepared;
  });
  if (command.args)
    handOver(
      place,
      [...command.args, ...rest],
      async () =>
        void (
          ['meanwhile', 'late'].includes(command.built) &&
          (await oneAtATime(tools, () => (command.built === 'late' ? buildAll(place) : buildToRun(place))))
        ),
    );
} catch (error) {
  complain(error);
  // Scripts that count tests read the last line.
  if (name === 'test') process.stdout.write('0 passed, 1 failed\n');
  process.exitCode = 1;
}
