import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PublicIntent, Reference } from '@pf/domain';
import {
  type ApiClient,
  apiClient,
  type Cluster,
  type Instance,
  readBackingStack,
  startCluster,
  type StackChain,
  type StackWallet,
  until,
  upstreamEnvironment,
} from '@pf/testing';
import { type RpcFault, type RpcProxy, startAnvil, startRpcProxy, startSolana, startTempo } from '@pf/testing/chains';
import { walletOn } from '@pf/testing/wallets';
import { type Name, NAMES } from '../chain-names.ts';

type Of<Value> = Readonly<Record<Name, Value>>;
const AMOUNT = '3';
const UNITS = 3_000_000n;
/** More blocks than any lag that counts as normal. */
const OLD_BLOCKS = 60;
const PAID = ['intent.created', 'intent.pending', 'intent.confirmed', 'intent.finalized'];

/** The faults of the preferred upstream while payments are made. */
const FAULTS: readonly (readonly [string, readonly RpcFault[]])[] = [
  // The first case, before any wallet has a nonce that the old head does not know.
  ['lags behind by 60 blocks', [{ kind: 'behind', blocks: OLD_BLOCKS }]],
  ['knows no transaction or block that the other knows', [{ kind: 'forgetful' }]],
  ['serves another chain', [{ kind: 'stranger' }]],
  ['accepts requests and never responds', [{ kind: 'swallow' }]],
  [
    'responds with 429 or invalid JSON, or closes the connection',
    [{ kind: 'status', status: 429, share: 0.33 }, { kind: 'malformed', share: 0.5 }, { kind: 'lose' }],
  ],
];

/** A second upstream is asked again after pauses that grow while it is unavailable. */
const SHOWN_AGAIN_MS = 150_000;

let chains: Of<StackChain & { stop(): Promise<void> }>;
let proxies: Of<RpcProxy>;
let cluster: Cluster;
let api: ApiClient;
let running: readonly Instance[] = [];

/** Wallet 0 is the requestor. */
const walletAt = (name: Name, place: number): StackWallet => chains[name].wallets[place] as StackWallet;
const onAll = <Value>(make: (name: Name) => Promise<Value>): Promise<Value[]> => Promise.all(NAMES.map(make));
const spoil = (faults: readonly RpcFault[], names: readonly Name[] = NAMES): void =>
  names.forEach((name) => (proxies[name].faults = faults));

/** Restarts the gateway and the watcher with these upstreams, in order of preference. */
async function serve(upstreamsOf: (name: Name) => readonly string[]): Promise<void> {
  await Promise.all(running.map((instance) => (instance.kill('SIGTERM'), instance.exited)));
  const env = upstreamEnvironment(NAMES.map((name) => ({ ...chains[name], rpcUrl: upstreamsOf(name).join(',') })));
  const [gateway, watcher] = await Promise.all([cluster.start('gateway', { env }), cluster.start('watcher', { env })]);
  running = [gateway, watcher];
  api = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
}

async function create(name: Name): Promise<PublicIntent> {
  const { status, body } = await api.create({
    chain: chains[name].caip2,
    token: 'USDC',
    amount: AMOUNT,
    requestor: walletAt(name, 0).address,
  });
  expect([status, body.error]).toEqual([201, undefined]);
  return body.intent;
}
async function signed(name: Name, id: string, place: number): Promise<string> {
  const wallet = walletOn(chains[name], walletAt(name, place));
  const { status, body } = await api.build(id, wallet.address);
  expect([status, body.error]).toEqual([200, undefined]);
  return wallet.sign(body.transaction.blob);
}
/** Submits the same bytes again after a 503, as a client does. */
async function submit(name: Name, id: string, place: number): Promise<void> {
  const bytes = await signed(name, id, place);
  await until(`${id} to be submitted`, async () => {
    const { status, body } = await api.submit(id, bytes, walletAt(name, place).address);
    if (status !== 200) expect([status, body.error?.code]).toEqual([503, 'rpc.unavailable']);
    return status === 200;
  });
}
const payDirectly = (name: Name, { reference }: PublicIntent, place: number): Promise<string> =>
  walletOn(chains[name], walletAt(name, place)).pay(
    chains[name].tokens['USDC'] ?? '',
    walletAt(name, 0).address,
    UNITS,
    reference as Reference,
  );

/** The requests of every step of a watcher; probes do not make them. */
const STEP_METHODS = ['eth_getBlockByNumber', 'getMultipleAccounts'] as const;
/** Waits until the watcher uses the first upstream again, after its fault has ended. */
async function preferred(name: Name): Promise<void> {
  proxies[name].calls.clear();
  await until(
    `the first upstream of ${name} to be used`,
    () => STEP_METHODS.some((method) => proxies[name].calls.has(method)),
    45_000,
  );
}

const confirmed = (id: string): Promise<unknown> =>
  until(
    `${id} to be confirmed`,
    async () => ['confirmed', 'finalized'].includes((await api.get(id)).body.intent.state),
    45_000,
  );

/** Expects the direct way to finalized: never failed, never dropped, never signed twice. */
async function paid(id: string, withinMs = 45_000): Promise<void> {
  await until(`${id} to be finalized`, async () => (await api.get(id)).body.intent.state === 'finalized', withinMs);
  expect((await api.events(id)).body.events.map(({ type }) => type)).toEqual(PAID);
}

beforeAll(async () => {
  const [base, solana, tempo] = await Promise.all([
    startAnvil({ blockMs: 250 }),
    startSolana({ slotMs: 200 }),
    startTempo({ blockMs: 500 }),
  ]);
  chains = { base, solana, tempo };
  // The fault "behind" needs old heads.
  await Promise.all([base.mine(OLD_BLOCKS), solana.advance(OLD_BLOCKS), tempo.mine(OLD_BLOCKS)]);
  const [first, second, third] = await Promise.all([
    startRpcProxy(base.rpcUrl),
    startRpcProxy(solana.rpcUrl),
    startRpcProxy(tempo.rpcUrl),
  ]);
  proxies = { base: first, solana: second, tempo: third };
  cluster = await startCluster(
    readBackingStack(),
    NAMES.map((name) => chains[name]),
  );
  await cluster.start('intent');
  await serve((name) => [proxies[name].url, chains[name].rpcUrl]);
  // An open intent gives every step of the watcher something to request.
  await onAll(create);
});
afterAll(async () => {
  await cluster.close();
  await onAll((name) => proxies[name].stop());
  await onAll((name) => chains[name].stop());
});

describe('payments, submitted or sent directly', () => {
  it.each(FAULTS)('are confirmed while the preferred of two upstreams %s, then final', async (_what, faults) => {
    await onAll(async (name) => {
      await preferred(name);
      spoil(faults, [name]);
      const [submitted, direct] = await Promise.all([create(name), create(name)]);
      await Promise.all([submit(name, submitted.id, 1), payDirectly(name, direct, 2)]);
      // What a node of Tempo denies to be in a final block is not reported at all until it shows it.
      const isDenied = name === 'tempo' && faults.some(({ kind }) => kind === 'forgetful');
      if (!isDenied) await Promise.all([confirmed(submitted.id), confirmed(direct.id)]);
      // Nothing is final by the word of one alone, and one that has served another chain is not asked for a minute.
      spoil([], [name]);
      await Promise.all([paid(submitted.id, SHOWN_AGAIN_MS), paid(direct.id, SHOWN_AGAIN_MS)]);
    });
  });
});

describe('payments through a single upstream per network', () => {
  beforeAll(() => serve((name) => [proxies[name].url]));

  it.each([
    ['base', 'hangs', { kind: 'hang' }],
    ['solana', 'responds with 429', { kind: 'status', status: 429 }],
    ['tempo', 'responds with invalid JSON', { kind: 'malformed' }],
  ] as const)(
    'get a 503 while that of %s %s, are not lost, and are not delayed on other networks',
    async (faulty, _what, fault) => {
      const healthy = NAMES.filter((name) => name !== faulty);
      const [before, during] = await Promise.all([create(faulty), create(faulty)]);
      await submit(faulty, before.id, 1);
      spoil([fault], [faulty]);
      const { status, headers, body } = await api.build(during.id, walletAt(faulty, 1).address);
      expect([status, body.error?.code, headers.get('retry-after')]).toEqual([
        503,
        'rpc.unavailable',
        String(body.error?.details?.['retry_after']),
      ]);
      await payDirectly(faulty, during, 2);
      await Promise.all(
        healthy.map(async (name) => {
          const { id } = await create(name);
          await submit(name, id, 1);
          await paid(id, 30_000);
        }),
      );
      expect(['pending', 'confirmed', 'finalized']).toContain((await api.get(before.id)).body.intent.state);
      spoil([]);
      await Promise.all([paid(before.id), paid(during.id)]);
    },
  );
});
