import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PublicIntent } from '@pf/domain';
import {
  type ApiClient,
  apiClient,
  type ApiResponse,
  type Cluster,
  readBackingStack,
  type StackWallet,
  startCluster,
  until,
} from '@pf/testing';
import { type Anvil, contractNamed, startAnvil } from '@pf/testing/chains';
import {
  bundle,
  ENTRY_POINTS,
  type EntryPointVersion,
  installEntryPoint,
  newSmartWallet,
  newWallet,
  type SmartCall,
  type SmartWallet,
} from '@pf/testing/wallets';
import {
  createWalletClient,
  encodeAbiParameters,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  http,
  pad,
  parseTransaction,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { baseSepolia } from 'viem/chains';
import { whileBusy } from '../responses.ts';

const VERSIONS = Object.keys(ENTRY_POINTS) as EntryPointVersion[];
const PACE_MS = 300;
const WAIT_MS = 60_000;
/** A test waits several times. */
const TEST_MS = 180_000;
const UNITS = 3_000_000n;

let chain: Anvil;
let cluster: Cluster;
let api: ApiClient;
let usdc: string;
/** A payment from before all intents. */
let early: { readonly requestor: string; hash: Hex };
const wallets = new Map<EntryPointVersion, SmartWallet>();

beforeAll(async () => {
  chain = await startAnvil({ blockMs: PACE_MS });
  usdc = chain.tokens['USDC'] ?? '';
  for (const version of VERSIONS) {
    await installEntryPoint(chain, version);
    const wallet = await newSmartWallet(chain, version);
    await chain.asTokenOwner(usdc, 'mint', [wallet.address, 100n * UNITS]);
    wallets.set(version, wallet);
  }
  early = { requestor: newWallet(chain).address, hash: '0x' };
  early.hash = await execute('0.8', [plainTransfer(early.requestor)]);
  cluster = await startCluster(readBackingStack(), [chain]);
  const [gateway] = await Promise.all([cluster.start('gateway'), cluster.start('intent'), cluster.start('watcher')]);
  api = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
}, 120_000);
afterAll(async () => {
  await cluster.close();
  await chain.stop();
});

async function create(requestor = newWallet(chain).address): Promise<PublicIntent> {
  const { status, body } = await whileBusy('an intent', () =>
    api.create({ chain: chain.caip2, token: 'USDC', amount: '3', requestor }),
  );
  expect([status, body.error]).toEqual([201, undefined]);
  return body.intent;
}
/** The call that `build` returns, as an app passes it to `wallet_sendCalls`. */
async function buildCall({ id }: PublicIntent, fulfiller: string): Promise<SmartCall> {
  const { status, body } = await whileBusy('a transaction', () => api.build(id, fulfiller));
  expect([status, body.error]).toEqual([200, undefined]);
  const { to, data } = parseTransaction(`0x${Buffer.from(body.transaction.blob, 'base64').toString('hex')}`);
  return { to: to ?? '', data: data ?? '0x' };
}
const submit = (id: string, hash: string, fulfiller: string): Promise<ApiResponse<{ readonly intent: PublicIntent }>> =>
  whileBusy('the node to show what was sent', () => api.submit(id, hash, fulfiller));
const reached = (id: string, ...states: readonly string[]): Promise<PublicIntent> =>
  until(
    `${id} to be ${states.join(' or ')}`,
    async () => {
      const { intent } = (await api.get(id)).body;
      return states.includes(intent.state) && intent;
    },
    WAIT_MS,
  );
/** A transfer of the amount that names no intent. */
function plainTransfer(requestor: string): SmartCall {
  const args = [requestor as Hex, UNITS] as const;
  return { to: usdc, data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args }) };
}
const walletOf = (version: EntryPointVersion): SmartWallet => wallets.get(version) as SmartWallet;
async function execute(version: EntryPointVersion, calls: readonly SmartCall[]): Promise<Hex> {
  const wallet = walletOf(version);
  return bundle(chain, version, [await wallet.operation(wallet.calldataOf(calls))]);
}

describe.each(VERSIONS)('a smart account of EntryPoint %s', (version) => {
  it(
    'pays by submitting the hash of its bundle',
    async () => {
      const intent = await create();
      const { address } = walletOf(version);
      const hash = await execute(version, [await buildCall(intent, address)]);
      const { status, body } = await submit(intent.id, hash, address);
      expect([status, body.error]).toEqual([200, undefined]);
      expect(await reached(intent.id, 'finalized')).toMatchObject({ txSignature: hash, fulfiller: address });
    },
    TEST_MS,
  );

  it(
    'pays without submitting anything, two intents in one batch',
    async () => {
      const [one, other] = [await create(), await create()];
      const { address } = walletOf(version);
      const hash = await execute(version, [await buildCall(one, address), await buildCall(other, address)]);
      for (const { id } of [one, other])
        expect(await reached(id, 'confirmed', 'finalized')).toMatchObject({ txSignature: hash, fulfiller: address });
    },
    TEST_MS,
  );
});

it(
  'an EIP-7702 account pays by a batch that it sends to itself',
  async () => {
    const intent = await create();
    const { address, privateKey } = chain.wallets[1] as StackWallet;
    const account = privateKeyToAccount(privateKey as Hex);
    const { abi, bytecode } = contractNamed('Delegate');
    const contractAddress = newWallet(chain).address as Hex;
    await chain.rpc('anvil_setCode', contractAddress, bytecode);
    const { to, data } = await buildCall(intent, address);
    const calls = encodeAbiParameters(
      [
        {
          type: 'tuple[]',
          components: [
            { name: 'to', type: 'address' },
            { name: 'value', type: 'uint256' },
            { name: 'data', type: 'bytes' },
          ],
        },
      ],
      [[{ to: to as Hex, value: 0n, data }]],
    );
    const client = createWalletClient({ account, chain: baseSepolia, transport: http(chain.rpcUrl) });
    const hash = await client.sendTransaction({
      to: account.address,
      data: encodeFunctionData({ abi, functionName: 'execute', args: [pad('0x01', { dir: 'right' }), calls] }),
      authorizationList: [await client.signAuthorization({ contractAddress, executor: 'self' })],
      gas: 1_000_000n,
    });
    expect((await submit(intent.id, hash, address)).status).toBe(200);
    expect(await reached(intent.id, 'finalized')).toMatchObject({ txSignature: hash, fulfiller: address });
  },
  TEST_MS,
);

it(
  'POST /intents/{id}/submit tells the account that a bundle has paid without the reference',
  async () => {
    const intent = await create();
    const { address } = walletOf('0.7');
    const hash = await execute('0.7', [plainTransfer(intent.requestor)]);
    const { status, body } = await submit(intent.id, hash, address);
    expect([status, body.error]).toMatchObject([
      422,
      {
        code: 'transaction.mismatch',
        details: { reference: { expected: intent.reference, actual: null } },
        message: expect.stringContaining('the account that created the intent was told'),
      },
    ]);
    expect((await api.get(intent.id)).body.intent.state).toBe('created');
    const { events } = (await api.events(intent.id)).body;
    expect(events.find(({ type }) => type === 'intent.mismatched_payment')?.data).toMatchObject({
      payment: { txSignature: hash, sender: address, amount: '3', differs: ['reference'] },
    });
  },
  TEST_MS,
);

it(
  'POST /intents/{id}/submit does not take a payment without a reference for that of a later intent',
  async () => {
    const intent = await create(early.requestor);
    const { status, body } = await submit(intent.id, early.hash, walletOf('0.8').address);
    expect([status, body.error?.code, body.error?.message]).toEqual([
      422,
      'transaction.mismatch',
      expect.stringContaining('ask the requestor before you pay again'),
    ]);
    const { events } = (await api.events(intent.id)).body;
    expect(events.map(({ type }) => type)).toEqual(['intent.created']);
  },
  TEST_MS,
);
