import type { PublicIntent, Reference } from '@pf/domain';
import {
  type ApiClient,
  apiClient,
  readBackingStack,
  startCluster,
  type StackChain,
  type StackWallet,
  until,
  upstreamEnvironment,
} from '@pf/testing';
import { type RpcProxy, type RpcRequest, startAnvil, startRpcProxy, startSolana, startTempo } from '@pf/testing/chains';
import { newWallet, walletOn } from '@pf/testing/wallets';
import { z } from 'zod';
import { memoryOf } from '../memory.ts';

/**
 * What watching costs: RPC calls (questions, which providers charge for) and HTTP requests a minute on each network, by
 * the number of open intents, while an unsolicited payment on each is found. A counting upstream stands in front of
 * each real local chain, before the running watcher. Then the states of pending ones on Solana. The counts hold on any
 * machine.
 */
const LEVELS = [10, 1_000, 10_000] as const;
const REQUESTORS = 20;
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 60);
const PENDING = [10, 300, 600] as const;
const PENDING_SECONDS = 15;
/** Creates, and submits, that are under way at once. */
const AT_ONCE = 32;
const SUBMITS_AT_ONCE = 8;
const AMOUNT = '3';
const UNITS = 3_000_000n;
const FOUND_WITHIN_MS = 5_000;
const RATIO_MAX = 1.1;
/** Of a network's watch, in the health report. */
const health = z.looseObject({
  networks: z.record(z.string(), z.object({ watched: z.number().nullable(), behind: z.string().nullable() })),
});

/** What each step asks once, and nothing else does: the head. */
const HEAD: Readonly<Record<string, (request: RpcRequest) => boolean>> = {
  'base-sepolia': ({ method, params: [tag] }) => method === 'eth_getBlockByNumber' && tag === 'latest',
  'solana-devnet': ({ method, params: [options] }) =>
    method === 'getEpochInfo' && JSON.stringify(options).includes('"confirmed"'),
  'tempo-moderato': ({ method, params: [tag] }) => method === 'eth_getBlockByNumber' && tag === 'finalized',
};

interface Watched {
  readonly name: string;
  readonly chain: StackChain;
  readonly proxy: RpcProxy;
  readonly steps: () => number;
  readonly requestors: readonly string[];
}
interface Counted {
  /** Questions of one step: what a slow machine does not change. */
  readonly perStep: number;
  readonly calls: number;
  readonly requests: number;
}

const callsOf = ({ calls }: RpcProxy): number => [...calls.values()].reduce((sum, count) => sum + count, 0);
async function counted({ proxy, steps }: Watched, during: Promise<unknown>): Promise<Counted> {
  const [began, calls, requests, before] = [performance.now(), callsOf(proxy), proxy.requests, steps()];
  await during;
  const minutes = (performance.now() - began) / 60_000;
  return {
    perStep: (callsOf(proxy) - calls) / (steps() - before),
    calls: (callsOf(proxy) - calls) / minutes,
    requests: (proxy.requests - requests) / minutes,
  };
}
const MIB = 1_024 * 1_024;
/** Linux only; elsewhere unknown. */
function residentMb(pid: number): string {
  const { now } = memoryOf(pid);
  return Number.isNaN(now) ? '?' : (now / MIB).toFixed(0);
}
const timePasses = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The same for each number up to `count`, so many at a time. */
async function each(count: number, atOnce: number, work: (place: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let place = next++; place < count; place = next++) await work(place);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

async function create(api: ApiClient, { chain, requestors }: Watched, place: number): Promise<PublicIntent> {
  const { status, body } = await api.create({
    chain: chain.caip2,
    token: 'USDC',
    amount: AMOUNT,
    requestor: requestors[place % REQUESTORS],
  });
  if (status !== 201) throw new Error(`a create returned ${status}: ${JSON.stringify(body.error)}`);
  return body.intent;
}

/** Milliseconds from when the wallet begins to pay until the intent shows it. */
async function paidAlone(api: ApiClient, watched: Watched): Promise<number> {
  const intent = await create(api, watched, 0);
  const payer = walletOn(watched.chain, watched.chain.wallets[0] as StackWallet);
  const began = performance.now();
  await payer.pay(watched.chain.tokens['USDC'] ?? '', intent.requestor, UNITS, intent.reference as Reference);
  await until(
    'the payment to be found',
    async () => (await api.get(intent.id)).body.intent.state !== 'created',
    60_000,
  );
  return performance.now() - began;
}

const [base, solana, tempo] = await Promise.all([
  startAnvil({ blockMs: 250 }),
  startSolana({ slotMs: 200 }),
  startTempo({ blockMs: 500 }),
]);
const chains: readonly (readonly [string, StackChain])[] = [
  ['base-sepolia', base],
  ['solana-devnet', solana],
  ['tempo-moderato', tempo],
];
const networks = await Promise.all(
  chains.map(async ([name, chain]): Promise<Watched> => {
    const proxy = await startRpcProxy(chain.rpcUrl);
    let steps = 0;
    proxy.respond = (request) => void (HEAD[name]?.(request) === true && (steps += 1));
    return {
      name,
      chain,
      proxy,
      steps: () => steps,
      requestors: Array.from({ length: REQUESTORS }, () => newWallet(chain).address),
    };
  }),
);
const cluster = await startCluster(
  readBackingStack(),
  chains.map(([, chain]) => chain),
);
try {
  const env = { LOG_LEVEL: 'warn', NODE_ENV: 'production' };
  const counting = upstreamEnvironment(networks.map(({ chain, proxy }) => ({ ...chain, rpcUrl: proxy.url })));
  const [gateway, watcher] = await Promise.all([
    cluster.start('gateway', { env }),
    cluster.start('watcher', { env: { ...env, ...counting } }),
    cluster.start('intent', { env }),
  ]);
  const api = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
  const isWatching = async (count: number): Promise<boolean> => {
    const reported = health.parse(await (await fetch(`${watcher.url}/readyz`)).json()).networks;
    return networks.every(({ name }) => (reported[name]?.watched ?? 0) >= count && reported[name]?.behind === '0');
  };
  let missed = 0;

  console.log(
    `\nOpen intents of ${REQUESTORS} requestors per network, ${SECONDS} s each; one payment each is not submitted.\n`,
  );
  console.log(
    '| network | open intents | calls a minute | HTTP requests a minute | calls a step',
    `| ÷ those at ${LEVELS[0]} | payment found after ms |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |`,
  );
  const first = new Map<string, number>();
  const memory: string[] = [];
  let open = 0;
  for (const level of LEVELS) {
    await Promise.all(
      networks.map((network) => each(level - open, AT_ONCE, async (place) => void (await create(api, network, place)))),
    );
    open = level;
    await until('the watcher to know them all', () => isWatching(level), 60_000);
    const rows = await Promise.all(
      networks.map(async (network) => {
        const paying = paidAlone(api, network);
        const count = await counted(network, Promise.all([timePasses(SECONDS * 1_000), paying]));
        return { name: network.name, ...count, ms: await paying };
      }),
    );
    for (const { name, calls, requests, perStep, ms } of rows) {
      const least = first.get(name) ?? perStep;
      first.set(name, least);
      const ratio = perStep / least;
      if (ratio > RATIO_MAX || ms > FOUND_WITHIN_MS) missed += 1;
      const cells = [calls.toFixed(0), requests.toFixed(0), perStep.toFixed(2), ratio.toFixed(2), ms.toFixed(0)];
      console.log(`| ${[name, level, ...cells].join(' | ')} |`);
    }
    memory.push(`${level}: ${residentMb(watcher.pid)}`);
  }

  console.log(`\nMemory of the watcher in MB, by open intents of each network: ${memory.join(', ')}.`);

  // What is taken and forgotten stays pending while the clock stands still.
  const network = networks.find(({ chain }) => chain === solana) as Watched;
  const payer = solana.wallets[1] as StackWallet;
  await solana.pause();
  await solana.drop({ payer: payer.address });
  let asked = 0;
  // A step asks about all of them; a broadcast about one transaction, which is no part of the watch.
  let steps = 0;
  network.proxy.respond = (request) => {
    const [hashes] = request.params;
    if (request.method === 'getSignatureStatuses' && Array.isArray(hashes) && hashes.length > 1) asked += 1;
    if (HEAD[network.name]?.(request) === true) steps += 1;
    return undefined;
  };
  console.log(`\nPending intents on Solana, ${PENDING_SECONDS} s each: status calls in a step.\n`);
  console.log('| pending | status calls a step | ⌈n/256⌉ |\n| ---: | ---: | ---: |');
  let pending = 0;
  for (const level of PENDING) {
    await each(level - pending, SUBMITS_AT_ONCE, async (place) => {
      const { id } = await create(api, network, place);
      const { body: built } = await api.build(id, payer.address);
      const { status, body } = await api.submit(
        id,
        await walletOn(solana, payer).sign(built.transaction.blob),
        payer.address,
      );
      if (status !== 200) throw new Error(`a submit returned ${status}: ${JSON.stringify(body.error)}`);
    });
    pending = level;
    const known = steps;
    await until('steps that know of them all', () => steps > known + 3, 60_000);
    const [askedBefore, stepsBefore] = [asked, steps];
    await timePasses(PENDING_SECONDS * 1_000);
    const perStep = (asked - askedBefore) / (steps - stepsBefore);
    if (Math.round(perStep) > Math.ceil(level / 256)) missed += 1;
    console.log(`| ${level} | ${perStep.toFixed(2)} | ${Math.ceil(level / 256)} |`);
  }
  const goals = `at most ${RATIO_MAX} × the calls, found within ${FOUND_WITHIN_MS / 1_000} s, a status call for 256`;
  console.log(missed === 0 ? `\nWithin the goals: ${goals}.` : `\n${missed} goals missed.`);
  process.exitCode = missed === 0 ? 0 : 1;
} finally {
  await cluster.close();
  await Promise.all(networks.map(({ proxy }) => proxy.stop()));
  await Promise.all([base.stop(), solana.stop(), tempo.stop()]);
}
