import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { PaymentClient } from '@pf/client';
import { apiClient, type BuildBody, type Instance, type StackWallet } from '@pf/testing';
import { type Anvil, startAnvil } from '@pf/testing/chains';
import {
  askPaymaster,
  bundle,
  ENTRY_POINTS,
  installEntryPoint,
  installPaymaster,
  newSmartWallet,
  newUndeployedAccount,
  newWallet,
  type PaidVersion,
  paidOperation,
  type PaymasterAnswer,
  type SmartCall,
  type SmartWallet,
} from '@pf/testing/wallets';
import { concat, encodeFunctionData, erc20Abi, type Hex, parseTransaction, toHex } from 'viem';
import { summaryOf, whileBusy } from '../responses.ts';
import { type Paymaster, type PaymasterWay, startPaymaster } from './relayer.ts';
import { CHECKOUT_URL, type Order, PACE_MS, Shop, TEST_MS, UNITS } from './shop.ts';

const VERSIONS: readonly PaidVersion[] = ['0.6', '0.7'];
const CHAIN_ID = 84_532;

let chain: Anvil;
let shop: Shop;
let checkout: Instance;
let service: Paymaster;
let client: PaymentClient;
let usdc: string;
const wallets = new Map<PaidVersion, SmartWallet>();
const contracts: Partial<Record<PaidVersion, string>> = {};

beforeAll(async () => {
  chain = await startAnvil({ blockMs: PACE_MS });
  usdc = chain.tokens['USDC'] ?? '';
  const signer = chain.wallets[3] as StackWallet;
  for (const version of VERSIONS) {
    await installEntryPoint(chain, version);
    contracts[version] = await installPaymaster(chain, version, signer.address);
    const wallet = await newSmartWallet(chain, version);
    await chain.asTokenOwner(usdc, 'mint', [wallet.address, 10n * UNITS]);
    wallets.set(version, wallet);
  }
  service = await startPaymaster(chain, signer, contracts);
  shop = await Shop.open(chain);
  const { cluster, baseUrl } = shop;
  checkout = await cluster.start('checkout', { env: { GATEWAY_URL: baseUrl.replace('/v1', '') } });
  client = new PaymentClient({ baseUrl, apiKey: cluster.apiKeys.test });
}, TEST_MS);
afterAll(async () => {
  await shop.close();
  await Promise.all([service.stop(), chain.stop()]);
});
beforeEach(() => use('honest'));

const use = (way: PaymasterWay, context?: Readonly<Record<string, string>>) =>
  client.sponsors.set(chain.caip2, { url: service.at(way), ...(context && { context }) });
const walletOf = (version: PaidVersion): SmartWallet => wallets.get(version) as SmartWallet;
interface Offer {
  readonly sponsors: readonly string[];
  readonly paymasterUrl: string | null;
}
const offerOf = async ({ intent, payer }: Order): Promise<Offer> =>
  (await payer.request<Offer>('GET', `/intents/${intent.id}`)).body;
/** Where a wallet finds it that the page has told of it. */
async function paymasterOf(what: Order): Promise<string> {
  const { sponsors, paymasterUrl } = await offerOf(what);
  expect(sponsors).toEqual(['paymaster']);
  const { origin, pathname } = new URL(paymasterUrl ?? '');
  expect(origin).toBe(CHECKOUT_URL);
  return new URL(pathname, checkout.url).href;
}
async function callOf({ intent, payer }: Order, wallet: SmartWallet): Promise<SmartCall> {
  const body = { fulfiller: wallet.address, sponsored: true };
  const built = await whileBusy('a transaction', () =>
    payer.request<BuildBody>('POST', `/intents/${intent.id}/build`, body),
  );
  expect([built.status, built.body.error]).toEqual([200, undefined]);
  const { to, data } = parseTransaction(`0x${Buffer.from(built.body.transaction.blob, 'base64').toString('hex')}`);
  return { to: to ?? '', data: data ?? '0x' };
}
/** What a wallet asks with: fields of an operation with these calls, of version 0.6. */
const fieldsOf = (wallet: SmartWallet, calls: readonly SmartCall[], change: object = {}) => ({
  sender: wallet.address,
  nonce: '0x0',
  initCode: '0x',
  callData: wallet.calldataOf(calls),
  callGasLimit: toHex(100_000),
  verificationGasLimit: toHex(100_000),
  preVerificationGas: toHex(50_000),
  maxFeePerGas: toHex(100_000_000),
  maxPriorityFeePerGas: toHex(100_000_000),
  signature: '0x',
  ...change,
});
interface Place {
  readonly chainId?: number;
  readonly entryPoint?: string;
  readonly context?: object;
}
const ask = (
  url: string,
  fields: object,
  { chainId = CHAIN_ID, entryPoint = ENTRY_POINTS['0.6'].address, context = {} }: Place = {},
): Promise<PaymasterAnswer> => askPaymaster(url, 'pm_getPaymasterData', [fields, entryPoint, toHex(chainId), context]);
/** As an app asks that has the client secret. */
const askApi = ({ intent, payer }: Order, fields: object) =>
  payer.request<PaymasterAnswer>('POST', `/intents/${intent.id}/paymaster`, {
    jsonrpc: '2.0',
    id: 'a1',
    method: 'pm_getPaymasterData',
    params: [fields, ENTRY_POINTS['0.6'].address, toHex(CHAIN_ID), {}],
  });
const asked = async () => (await service.ask('asked')).result;
const plainTransfer = (to: string): SmartCall => ({
  to: usdc,
  data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to as Hex, UNITS] }),
});

it.each(VERSIONS)(
  'a smart account of EntryPoint %s without ETH pays by the paymaster of the shop',
  async (version) => {
    const [what, wallet] = [await shop.order(), walletOf(version)];
    const calldata = wallet.calldataOf([await callOf(what, wallet)]);
    const url = await paymasterOf(what);
    const operation = await paidOperation(wallet, version, CHAIN_ID, calldata, url);
    const hash = await bundle(chain, version, [operation]);
    expect(await shop.reached(what, 'finalized')).toMatchObject({ txSignature: hash, fulfiller: wallet.address });
    expect(await chain.rpc('eth_getBalance', wallet.address, 'latest')).toBe('0x0');
    expect((await offerOf(what)).sponsors).toEqual([]);
    const late = await ask(url, fieldsOf(wallet, []));
    expect(late.error?.message).toContain('finalized');
    expect(summaryOf(await askApi(what, fieldsOf(wallet, [])))).toEqual([409, 'intent.already_fulfilled']);
  },
  TEST_MS,
);

describe('the paymaster of an intent', () => {
  let what: Order;
  let other: Order;
  let url: string;
  let call: SmartCall;
  const wallet = () => walletOf('0.6');
  beforeAll(async () => {
    await use('honest');
    [what, other] = [await shop.order(), await shop.order()];
    url = await paymasterOf(what);
    call = await callOf(what, wallet());
  }, TEST_MS);

  it.each([
    ['with another call', () => [plainTransfer(wallet().address)], 'recipient, amount, reference'],
    ['with a call beside the payment', () => [call, plainTransfer(wallet().address)], 'calls'],
    ['without a call', () => [], 'calls'],
  ] as const)('promises nothing for an operation %s', async (_, calls, differs) => {
    const before = await asked();
    const { error } = await ask(url, fieldsOf(wallet(), calls()));
    expect(error?.message).toContain(`differs from this payment intent in ${differs}`);
    expect(await asked()).toBe(before);
  });

  it.each([
    ['of another chain', {}, { chainId: 8453 }, 'is for the chain 8453'],
    ['of another EntryPoint', {}, { entryPoint: `0x${'e7'.repeat(20)}` }, 'names an EntryPoint that is not known'],
    ['without a limit of its gas', { callGasLimit: undefined }, {}, 'has no callGasLimit'],
    ['that costs too much', { maxFeePerGas: toHex(10_000_000_000) }, {}, 'a sponsor pays 0.001 ETH at most'],
    ['whose sender is none', { sender: '0x12' }, {}, 'has no valid sender in the user operation'],
    ['of the recipient', { sender: 'the recipient' }, {}, 'fulfiller'],
  ] as const)('refuses an operation %s', async (_, change, place, says) => {
    const before = await asked();
    const sender = 'sender' in change && change.sender === 'the recipient' ? { sender: what.intent.requestor } : {};
    const { error } = await ask(url, fieldsOf(wallet(), [call], { ...change, ...sender }), place);
    expect(error?.message).toContain(says);
    expect(await asked()).toBe(before);
  });

  it('serves the API, too', async () => {
    const { status, body } = await askApi(what, fieldsOf(wallet(), [call]));
    expect([status, body]).toEqual([
      200,
      { jsonrpc: '2.0', id: 'a1', result: { paymasterAndData: expect.stringMatching(/^0x[\da-f]+$/i) } },
    ]);
    const other = await askApi(what, fieldsOf(wallet(), [plainTransfer(wallet().address)]));
    expect(summaryOf(other)).toEqual([422, 'transaction.mismatch']);
  });

  it('is called with the policy of the shop, whatever policy the wallet names', async () => {
    await use('by-policy', { policyId: 'of the shop' });
    const answered = await ask(url, fieldsOf(wallet(), [call]), { context: { policyId: 'of the wallet' } });
    expect(answered).toMatchObject({ result: { paymasterAndData: expect.stringMatching(/^0x/) } });
    await use('by-policy');
    const without = await ask(url, fieldsOf(wallet(), [call]), { context: { policyId: 'of the shop' } });
    expect(without.error?.message).toContain('it refused pm_getPaymasterData');
  });

  it('serves no other intent, and no token that was not issued here', async () => {
    const theirs = await paymasterOf(other);
    expect((await ask(theirs, fieldsOf(wallet(), [call]))).error?.message).toContain('reference');
    const forged = theirs.replace(other.intent.id, what.intent.id);
    expect((await ask(forged, fieldsOf(wallet(), [call]))).error?.message).toMatch(/API key/);
    expect((await ask(`${checkout.url}/p/nonsense`, {})).error?.message).toContain('No payment has this id');
    const token = new URL(url).pathname.slice('/p/'.length);
    expect(summaryOf(await apiClient(shop.baseUrl, token).get(what.intent.id))).toEqual([
      401,
      'api_key.insufficient_scope',
    ]);
  });

  it.each([
    ['refuses', 'it refused pm_getPaymasterData'],
    ['lies', 'without a valid result of pm_getPaymasterData'],
    ['hangs', 'did not respond'],
  ] as const)('promises nothing when the service of the shop %s', async (way, says) => {
    await use(way);
    const { error } = await ask(url, fieldsOf(wallet(), [call]));
    expect(error?.message).toContain(says);
    expect(error?.message).not.toContain('not today');
    expect((await shop.api.get(what.intent.id)).body.intent.state).toBe('created');
  });

  it('is open to wallets in browsers of every origin', async () => {
    const preflight = await fetch(url, {
      method: 'OPTIONS',
      headers: { origin: 'https://wallet.example', 'access-control-request-method': 'POST' },
    });
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
    expect((await fetch(url)).status).toBe(405);
  });

  it('is no longer offered once the shop has removed it', async () => {
    await client.sponsors.remove(chain.caip2);
    expect(await offerOf(what)).toMatchObject({ sponsors: [], paymasterUrl: null });
    expect((await ask(url, fieldsOf(wallet(), [call]))).error?.message).toContain('no sponsor on this chain');
    const body = { fulfiller: wallet().address, sponsored: true };
    const built = await what.payer.request('POST', `/intents/${what.intent.id}/build`, body);
    expect(summaryOf(built)).toEqual([422, 'chain.not_available']);
  });
});

describe('the deposit of a paymaster', () => {
  const wallet = () => walletOf('0.6');
  /** As little gas as the old bound of 0.001 ETH has room for at this price. */
  const HIGH_PRICE = { verificationGasLimit: toHex(60_000), ...priced(2_800_000_000) };
  function priced(wei: number) {
    return { maxFeePerGas: toHex(wei), maxPriorityFeePerGas: toHex(wei) };
  }
  beforeAll(() => use('honest'));

  it(
    'is not touched by 30 questions of a sender without code, at a price of its choice',
    async () => {
      const [what, before] = [await shop.order(), await asked()];
      const call = await callOf(what, wallet());
      const summaries = new Set<string>();
      for (let nonce = 0; nonce < 29; nonce++) {
        const { address } = newWallet(chain);
        const fields = fieldsOf(wallet(), [call], { ...HIGH_PRICE, sender: address, nonce: toHex(nonce) });
        summaries.add(String(summaryOf(await askApi(what, fields))));
      }
      expect([...summaries]).toEqual(['422,transaction.rejected']);
      expect(await asked()).toBe(before);
    },
    TEST_MS,
  );

  describe('by an operation that would not pay', () => {
    let what: Order;
    let call: SmartCall;
    let high: number;
    let idle: string;
    let poor: string;
    beforeAll(async () => {
      what = await shop.order();
      call = await callOf(what, wallet());
      [idle, poor] = [newWallet(chain).address, (await newSmartWallet(chain, '0.6')).address];
      const { baseFeePerGas } = await chain.rpc<{ baseFeePerGas: Hex }>('eth_getBlockByNumber', 'latest', false);
      // More than build proposes at most, and less than 0.001 ETH.
      high = 3 * Number(baseFeePerGas) + 600_000_000;
      // Its code does nothing, whatever it is called with.
      await chain.rpc('anvil_setCode', idle, '0x00');
      await chain.asTokenOwner(usdc, 'mint', [idle, UNITS]);
    }, TEST_MS);

    it.each([
      [
        'whose sender has no code',
        () => ({ sender: newWallet(chain).address }),
        'its simulation logs no such transfer',
      ],
      ['whose account does nothing', () => ({ sender: idle }), 'its simulation logs no such transfer'],
      ['whose account has no money', () => ({ sender: poor }), 'the payment would fail'],
      ['whose factory makes no account', () => ({ sender: poor, initCode: usdc }), 'the deployment of the account'],
      ['without gas for it', () => ({ callGasLimit: toHex(5_000) }), 'the payment would fail'],
      ['at a high price', () => ({ verificationGasLimit: toHex(60_000), ...priced(high) }), 'its maxFeePerGas is'],
      ['with gas for more', () => ({ callGasLimit: toHex(400_000) }), 'its callGasLimit is 400000'],
      ['whose bundler takes more', () => ({ preVerificationGas: toHex(400_000) }), 'its preVerificationGas is 400000'],
    ] as const)('is safe from an operation %s', async (_, change, says) => {
      const before = await asked();
      const answer = await askApi(what, fieldsOf(wallet(), [call], change()));
      expect(summaryOf(answer)).toEqual([422, 'transaction.rejected']);
      expect((answer.body as { error?: { message: string } }).error?.message).toContain(says);
      expect(await asked()).toBe(before);
    });
  });

  it.each(VERSIONS)(
    'pays for an operation of EntryPoint %s that deploys its account',
    async (version) => {
      const [what, account] = [await shop.order(), await newUndeployedAccount(chain, version)];
      const { address: sender, factory, factoryData } = account;
      await chain.asTokenOwner(usdc, 'mint', [sender, UNITS]);
      const of = walletOf(version);
      const call = await callOf(what, { ...of, address: sender });
      const deployment = version === '0.6' ? { initCode: concat([factory, factoryData]) } : { factory, factoryData };
      const fields = fieldsOf(of, [call], { sender, verificationGasLimit: toHex(400_000), ...deployment });
      const entryPoint = ENTRY_POINTS[version].address;
      expect((await ask(await paymasterOf(what), fields, { entryPoint })).error).toBeUndefined();
    },
    TEST_MS,
  );

  it(
    'is asked for ten promises of an intent, whoever asks, and for no more',
    async () => {
      const what = await shop.order();
      const call = await callOf(what, wallet());
      // What is refused does not count.
      await use('refuses');
      expect(summaryOf(await askApi(what, fieldsOf(wallet(), [call])))).toEqual([422, 'sponsor.refused']);
      await use('honest');
      const summaries: string[] = [];
      for (let nonce = 0; nonce < 12; nonce++)
        summaries.push(String(summaryOf(await askApi(what, fieldsOf(wallet(), [call], { nonce: toHex(nonce) })))));
      expect(summaries).toEqual([
        ...Array.from({ length: 10 }, () => '200,'),
        ...Array.from({ length: 2 }, () => '409,intent.limit_reached'),
      ]);
    },
    TEST_MS,
  );
});

describe('a build for a sponsor on Base', () => {
  it('needs no ETH from a wallet that is deployed with this payment', async () => {
    const [what, { address }] = [await shop.order(), newWallet(chain)];
    await chain.asTokenOwner(usdc, 'mint', [address, UNITS]);
    const build = (sponsored: boolean) =>
      whileBusy('a transaction', () =>
        what.payer.request('POST', `/intents/${what.intent.id}/build`, { fulfiller: address, sponsored }),
      );
    expect(summaryOf(await build(false))).toEqual([422, 'transaction.rejected']);
    expect(summaryOf(await build(true))).toEqual([200, undefined]);
  });
});
