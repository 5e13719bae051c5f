import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PublicIntent, Reference } from '@pf/domain';
import {
  type ApiClient,
  apiClient,
  type Cluster,
  type Instance,
  readBackingStack,
  type RpcFault,
  type RpcProxy,
  startAnvil,
  startCluster,
  startRpcProxy,
  startSolana,
  startTempo,
  type StackChain,
  type StackWallet,
  until,
  upstreamEnvironment,
  walletOn,
} from '@pf/testing';

const NAMES = ['base', 'solana', 'tempo'] as const;
type Name = (typeof NAMES)[number];
type Of<Value> = Readonly<Record<Name, Value>>;
const AMOUNT = '3';
const UNITS = 3_000_000n;
/** Longer than any lag that is passed by as normal. */
const OLD_BLOCKS = 60;
const PAID = ['intent.created', 'intent.pending', 'intent.confirmed', 'intent.finalized'];

/** What is wrong with the upstream that is asked first, while payments are made. */
const FAULTS: readonly (readonly [string, readonly RpcFault[]])[] = [
  // First: before any wallet has a nonce that it does not know.
  ['shows old heads, and nothing beyond', [{ kind: 'behind', blocks: OLD_BLOCKS }]],
  ['knows nothing of what others know', [{ kind: 'forgetful' }]],
  ['serves another chain', [{ kind: 'stranger' }]],
  ['takes what it is asked, and hangs', [{ kind: 'swallow' }]],
  [
    'answers 429, or what is no JSON, or breaks off',
    [{ kind: 'status', status: 429, share: 0.33 }, { kind: 'malformed', share: 0.5 }, { kind: 'lose' }],
  ],
];

let chains: Of<StackChain & { stop(): Promise<void> }>;
let proxies: Of<RpcProxy>;
let cluster: Cluster;
let api: ApiClient;
let running: readonly Instance[] = [];

/** Wallet 0 is paid to. */
const walletAt = (name: Name, place: number): StackWallet => chains[name].wallets[place] as StackWallet;
const onAll = <Value>(make: (name: Name) => Promise<Value>): Promise<Value[]> => Promise.all(NAMES.map(make));
const spoil = (faults: readonly RpcFault[], names: readonly Name[] = NAMES): void =>
  names.forEach((name) => (proxies[name].faults = faults));

/** The gateway and the watcher, restarted: their upstreams, in order of preference. */
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
/** As a client does that is told to try again: the same bytes. */
async function submit(name: Name, id: string, place: number): Promise<void> {
  const bytes = await signed(name, id, place);
  await until(`${id} to be submitted`, async () => {
    const { status, body } = await api.submit(id, bytes, walletAt(name, place).address);
    if (status !== 200) expect([status, body.error?.code]).toEqual([503, 'rpc.unavailable']);
    return status === 200;
  });
}
const unsolicited = (name: Name, { reference }: PublicIntent, place: number): Promise<string> =>
  walletOn(chains[name], walletAt(name, place)).pay(
    chains[name].tokens['USDC'] ?? '',
    walletAt(name, 0).address,
    UNITS,
    reference as Reference,
  );

/** What a watcher asks with every step, and no probe. */
const STEPPING = ['eth_getBlockByNumber', 'getMultipleAccounts'] as const;
/** Until the watcher's work goes to the first upstream, after what was wrong with it is over. */
async function preferred(name: Name): Promise<void> {
  proxies[name].calls.clear();
  await until(
    `the first upstream of ${name} to be asked first`,
    () => STEPPING.some((method) => proxies[name].calls.has(method)),
    45_000,
  );
}

/** It goes the straight way: never failed, never dropped, never signed twice. */
async function paid(id: string, withinMs = 45_000): Promise<void> {
  await until(`${id} to be finalized`, async () => (await api.get(id)).body.intent.state === 'finalized', withinMs);
  expect((await api.events(id)).body.events.map(({ type }) => type)).toEqual(PAID);
}

beforeAll(async () => {
  const [base, solana, tempo] = await Promise.all([
    startAnvil({ blockMs: 250 }),
    startSolana({ slotMs: 400 }),
    startTempo({ blockMs: 500 }),
  ]);
  chains = { base, solana, tempo };
  // So that there are old heads to show.
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
  // An intent is open, so that every step has something to ask.
  await onAll(create);
}, 90_000);
afterAll(async () => {
  await cluster.close();
  await onAll((name) => proxies[name].stop());
  await onAll((name) => chains[name].stop());
});

describe('the first of two upstreams', () => {
  it.each(FAULTS)(
    '%s does not keep submitted or directly sent payments from being paid',
    async (_what, faults) => {
      await onAll(async (name) => {
        await preferred(name);
        spoil(faults, [name]);
        const [asked, alone] = await Promise.all([create(name), create(name)]);
        await Promise.all([submit(name, asked.id, 1), unsolicited(name, alone, 2)]);
        await Promise.all([paid(asked.id), paid(alone.id)]);
        spoil([], [name]);
      });
    },
    90_000,
  );
});

describe('the only upstream', () => {
  beforeAll(() => serve((name) => [proxies[name].url]), 60_000);

  it.each([
    ['base', 'hangs', { kind: 'hang' }],
    ['solana', 'answers 429', { kind: 'status', status: 429 }],
    ['tempo', 'answers what is no JSON', { kind: 'malformed' }],
  ] as const)(
    'respond with 503 while %s %s, lose nothing, and delay no other network',
    async (sick, _what, fault) => {
      const well = NAMES.filter((name) => name !== sick);
      const [before, during] = await Promise.all([create(sick), create(sick)]);
      await submit(sick, before.id, 1);
      spoil([fault], [sick]);
      const { status, headers, body } = await api.build(during.id, walletAt(sick, 1).address);
      expect([status, body.error?.code, headers.get('retry-after')]).toEqual([
        503,
        'rpc.unavailable',
        String(body.error?.details?.['retry_after']),
      ]);
      await unsolicited(sick, during, 2);
      await Promise.all(
        well.map(async (name) => {
          const { id } = await create(name);
          await submit(name, id, 1);
          await paid(id, 15_000);
        }),
      );
      expect(['pending', 'confirmed', 'finalized']).toContain((await api.get(before.id)).body.intent.state);
      spoil([]);
      await Promise.all([paid(before.id), paid(during.id)]);
    },
    90_000,
  );
});
