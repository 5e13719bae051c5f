import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { PublicIntent } from '@pf/domain';
import {
  type ApiClient,
  apiClient,
  type BuildBody,
  type Cluster,
  type CreatedBody,
  readBackingStack,
  type StackWallet,
  startCluster,
  until,
} from '@pf/testing';
import { startTempo, type Tempo } from '@pf/testing/chains';
import { type ChainWallet, newWallet, tempoWallet, walletOn } from '@pf/testing/wallets';
import type { Hex } from 'viem';
import { Account, Transaction } from 'viem/tempo';
import { type FeePayer, startFeePayer } from './relayer.ts';
import { summaryOf, whileBusy } from '../responses.ts';

const PACE_MS = 300;
const WAIT_MS = 60_000;
/** A test waits several times. */
const TEST_MS = 180_000;
const UNITS = 3_000_000n;

interface Order {
  readonly id: string;
  readonly merchant: ChainWallet;
  /** With the intent's secret: what the payer's app has. */
  readonly payer: ApiClient;
}

let chain: Tempo;
let cluster: Cluster;
let feePayer: FeePayer;
let api: ApiClient;
let baseUrl: string;
let usdc: string;

beforeAll(async () => {
  chain = await startTempo({ blockMs: PACE_MS });
  usdc = chain.tokens['USDC'] ?? '';
  feePayer = await startFeePayer(chain, chain.wallets[3] as StackWallet);
  cluster = await startCluster(readBackingStack(), [chain]);
  const [gateway] = await Promise.all([cluster.start('gateway'), cluster.start('intent'), cluster.start('watcher')]);
  baseUrl = `${gateway.url}/v1`;
  api = apiClient(baseUrl, cluster.apiKeys.test);
}, TEST_MS);
afterAll(async () => {
  await cluster.close();
  await Promise.all([feePayer.stop(), chain.stop()]);
});

async function order(): Promise<Order> {
  const merchant = walletOn(chain, newWallet(chain));
  const { status, body } = await whileBusy<CreatedBody>('an intent', () =>
    api.create({ chain: chain.caip2, token: 'USDC', amount: '3', requestor: merchant.address }),
  );
  expect([status, body.error]).toEqual([201, undefined]);
  return { id: body.intent.id, merchant, payer: apiClient(baseUrl, body.clientSecret) };
}
/** Someone with exactly the amount, and nothing for a fee. */
async function penniless(): Promise<StackWallet> {
  const payer = newWallet(chain);
  await tempoWallet(chain, chain.wallets[0] as StackWallet).transfer(usdc, payer.address, UNITS);
  await until('the payer to have the amount', async () => (await held(payer)) === UNITS, WAIT_MS);
  return payer;
}
const held = (wallet: StackWallet): Promise<bigint> => walletOn(chain, wallet).tokenBalance(usdc);
const build = ({ id, payer }: Order, { address }: StackWallet, sponsored: boolean) =>
  whileBusy('a transaction', () =>
    payer.request<BuildBody>('POST', `/intents/${id}/build`, { fulfiller: address, sponsored }),
  );
/** What the payer signs and hands to whoever pays the fee. */
async function sign(what: Order, payer: StackWallet): Promise<{ readonly transaction: Hex }> {
  const { status, body } = await build(what, payer, true);
  expect([status, body.error]).toEqual([200, undefined]);
  expect(body.transaction.estimatedFeeUsdc).toBeNull();
  const unsigned = Transaction.deserialize(`0x${Buffer.from(body.transaction.blob, 'base64').toString('hex')}`);
  const account = Account.fromSecp256k1(payer.privateKey as Hex);
  return { transaction: await account.signTransaction({ ...unsigned, feePayer: true } as never) };
}
const submit = ({ id, payer }: Order, text: string | undefined, { address }: { readonly address: string }) =>
  whileBusy('the broadcast', () => payer.submit(id, text ?? '', address));
async function expectPaidOnce(what: Order, by: string): Promise<void> {
  const paid = await until(
    `${what.id} to be finalized`,
    async (): Promise<PublicIntent | false> => {
      const { intent } = (await api.get(what.id)).body;
      return intent.state === 'finalized' && intent;
    },
    WAIT_MS,
  );
  expect(paid).toMatchObject({ fulfiller: by, retryRequired: false });
  expect(await what.merchant.tokenBalance(usdc)).toBe(UNITS);
}
/** Another payer, with a transaction of its own. */
async function paidByAnother(what: Order, place: number): Promise<void> {
  const wallet = walletOn(chain, chain.wallets[place] as StackWallet);
  const { body } = await whileBusy('a transaction', () => api.build(what.id, wallet.address));
  expect((await submit(what, await wallet.sign(body.transaction.blob), wallet)).status).toBe(200);
  await expectPaidOnce(what, wallet.address);
}

it(
  'a payer with nothing for the fee pays with the signature of a fee payer behind its own',
  async () => {
    const [what, account] = [await order(), await penniless()];
    expect(summaryOf(await build(what, account, false))).toEqual([422, 'transaction.rejected']);
    const handed = await sign(what, account);
    expect(summaryOf(await submit(what, handed.transaction, account))).toEqual([422, 'transaction.malformed']);
    const { transaction } = await feePayer.ask('honest', handed);
    expect(summaryOf(await submit(what, transaction, account))).toEqual([200, undefined]);
    await expectPaidOnce(what, account.address);
    expect(await held(account)).toBe(0n);
  },
  TEST_MS,
);

it(
  'the bytes of a sponsored build stay the same while they can land, whatever is asked for then',
  async () => {
    const [what, account] = [await order(), await penniless()];
    const first = await build(what, account, true);
    for (const sponsored of [true, false])
      expect((await build(what, account, sponsored)).body.transaction).toEqual(first.body.transaction);
  },
  TEST_MS,
);

it(
  'a fee payer that alters what the payer signed is refused, and another one pays',
  async () => {
    const [what, account] = [await order(), await penniless()];
    const handed = await sign(what, account);
    const altered = await feePayer.ask('alters', handed);
    expect(summaryOf(await submit(what, altered.transaction, account))).toEqual([422, 'transaction.mismatch']);
    const { transaction } = await feePayer.ask('honest', handed);
    expect(summaryOf(await submit(what, transaction, account))).toEqual([200, undefined]);
    await expectPaidOnce(what, account.address);
  },
  TEST_MS,
);

it(
  'a fee payer that refuses or lies claims nothing, and another payer pays',
  async () => {
    const [what, account] = [await order(), await penniless()];
    const handed = await sign(what, account);
    expect(await feePayer.ask('refuses', handed)).toMatchObject({ status: 403 });
    const { transaction: lie } = await feePayer.ask('lies', handed);
    await until('the service to miss what it was told of', async () => {
      const [, code] = summaryOf(await what.payer.submit(what.id, lie ?? '', account.address));
      return code === 'transaction.not_visible';
    });
    await paidByAnother(what, 1);
  },
  TEST_MS,
);

it(
  'a fee payer that stalls claims nothing, and comes too late for an intent that is paid',
  async () => {
    const [what, account] = [await order(), await penniless()];
    expect(await feePayer.ask('stalls', await sign(what, account))).toMatchObject({ status: 202 });
    await paidByAnother(what, 2);
    const { transaction } = await feePayer.ask('wakes-up');
    expect(summaryOf(await submit(what, transaction, account))).toEqual([409, 'intent.already_fulfilled']);
    expect(await what.merchant.tokenBalance(usdc)).toBe(UNITS);
  },
  TEST_MS,
);
