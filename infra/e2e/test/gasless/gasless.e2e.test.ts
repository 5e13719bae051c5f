import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Authorization, decodeIntent, type RelayedCall, type TypedData } from '@pf/contracts';
import type { PaymentIntent, PublicIntent } from '@pf/domain';
import { type ApiClient, type CreatedBody, type StackWallet, until } from '@pf/testing';
import { type Anvil, contractNamed, startAnvil, startTempo, type Tempo } from '@pf/testing/chains';
import { bundle, installEntryPoint, newSmartWallet, newWallet, walletOn } from '@pf/testing/wallets';
import { encodeFunctionData, type Hex, type TypedDataDefinition } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { type Relayer, startRelayer } from './relayer.ts';
import { type Order, PACE_MS, Shop, TEST_MS, UNITS, WAIT_MS } from './shop.ts';
import { summaryOf, whileBusy } from '../responses.ts';

/** Longer than any authorization lives, in seconds. */
const LIFETIME_S = 700;
/** So many blocks later, the nodes of a provider that lag have what the chain has. */
const NODES_LAG = 3;

interface Signed {
  readonly authorization: Authorization;
  readonly signature: Hex;
}
interface Relayed {
  readonly intent: PublicIntent;
  readonly call: RelayedCall;
}

let chain: Anvil;
let tempo: Tempo;
let shop: Shop;
let relayer: Relayer;
let api: ApiClient;
let usdc: string;

beforeAll(async () => {
  [chain, tempo] = await Promise.all([startAnvil({ blockMs: PACE_MS }), startTempo({ blockMs: PACE_MS })]);
  usdc = chain.tokens['USDC'] ?? '';
  relayer = await startRelayer(chain, chain.wallets[3] as StackWallet);
  shop = await Shop.open(chain, tempo);
  ({ api } = shop);
}, TEST_MS);
afterAll(async () => {
  await shop.close();
  await Promise.all([relayer.stop(), chain.stop(), tempo.stop()]);
});

/** Someone with USDC and no ETH at all. */
async function penniless(): Promise<PrivateKeyAccount> {
  const account = privateKeyToAccount(generatePrivateKey());
  await chain.asTokenOwner(usdc, 'mint', [account.address, 2n * UNITS]);
  return account;
}
const build = ({ id, payer }: Order, fulfiller: string) =>
  whileBusy('typed data', () =>
    payer.request<{ readonly intent: PublicIntent; readonly typedData: TypedData }>(
      'POST',
      `/intents/${id}/authorization/build`,
      { fulfiller },
    ),
  );
/** The wallet signs what `build` returns, as it is. */
async function sign(what: Order, account: PrivateKeyAccount, change: Partial<Authorization> = {}): Promise<Signed> {
  const { status, body } = await build(what, account.address);
  expect([status, body.error]).toEqual([200, undefined]);
  const authorization = { ...body.typedData.message, ...change };
  const typedData = { ...body.typedData, message: authorization } as unknown as TypedDataDefinition;
  return { authorization, signature: await account.signTypedData(typedData) };
}
const submit = ({ id, payer }: Order, signed: Signed) =>
  whileBusy('the call', () => payer.request<Relayed>('POST', `/intents/${id}/authorization/submit`, signed));
async function authorize(what: Order, account: PrivateKeyAccount): Promise<Signed & { readonly call: RelayedCall }> {
  const signed = await sign(what, account);
  const { status, body } = await submit(what, signed);
  expect([status, body.error]).toEqual([200, undefined]);
  return { ...signed, call: body.call };
}
/** The intent in the ledger, with what the API does not show. */
async function stored({ id }: Order): Promise<PaymentIntent> {
  const { rows } = await shop.cluster.database.sql.query<{ state: string }>(
    'SELECT state FROM ledger.intents WHERE id = $1',
    [id],
  );
  return decodeIntent(rows[0]?.state ?? '');
}
const claimEnded = (what: Order): Promise<unknown> =>
  until(
    `the claim of ${what.id} to end`,
    async () => (await stored(what)).submissions.every(({ status }) => status !== 'live'),
    WAIT_MS,
  );
/** The chain's clock goes on by more than an authorization lives. */
const timePasses = async (): Promise<void> => {
  await chain.rpc('evm_increaseTime', LIFETIME_S);
  await chain.mine();
};
async function expectPaidOnce(what: Order, by: string, hash: string | undefined): Promise<void> {
  const paid = await shop.reached(what, 'finalized');
  expect(paid).toMatchObject({ fulfiller: by, txSignature: hash, retryRequired: false });
  expect(await what.merchant.tokenBalance(usdc)).toBe(UNITS);
  expect((await stored(what)).transfers).toHaveLength(1);
}
/** Another payer, with a transaction of its own. */
async function paidByAnother(what: Order, place: number): Promise<void> {
  const wallet = walletOn(chain, chain.wallets[place] as StackWallet);
  const { body } = await whileBusy('a transaction', () => api.build(what.id, wallet.address));
  const signed = await wallet.sign(body.transaction.blob);
  const { status, body: paid } = await whileBusy('the broadcast', () => api.submit(what.id, signed, wallet.address));
  expect(status).toBe(200);
  await expectPaidOnce(what, wallet.address, paid.txSignature);
}

describe('a payer without ETH', () => {
  it(
    "pays with a signature, which the shop's relayer sends",
    async () => {
      const [what, account] = [await shop.order(), await penniless()];
      const { call } = await authorize(what, account);
      expect((await api.get(what.id)).body.intent).toMatchObject({ state: 'created', txSignature: null });
      const { hash } = await relayer.ask('honest', call);
      await expectPaidOnce(what, account.address, hash);
      expect((await api.events(what.id)).body.events.map(({ type }) => type)).toEqual([
        'intent.created',
        'intent.pending',
        'intent.confirmed',
        'intent.finalized',
      ]);
      await claimEnded(what);
      expect(await chain.rpc('eth_getBalance', account.address, 'latest')).toBe('0x0');
    },
    TEST_MS,
  );

  it(
    'pays without the service, through a relayer that was given the authorization alone',
    async () => {
      const [what, account] = [await shop.order(), await penniless()];
      const { authorization, signature } = await sign(what, account);
      const { from, to, value, validAfter, validBefore, nonce } = authorization;
      const data = encodeFunctionData({
        abi: contractNamed('Stablecoin').abi,
        functionName: 'transferWithAuthorization',
        args: [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, signature],
      });
      const { hash } = await relayer.ask('honest', { to: usdc, data });
      await expectPaidOnce(what, account.address, hash);
    },
    TEST_MS,
  );

  it(
    'pays through a bundler, in the operation of an account that pays the gas',
    async () => {
      const [what, account] = [await shop.order(), await penniless()];
      await installEntryPoint(chain, '0.7');
      const sponsor = await newSmartWallet(chain, '0.7');
      const { call } = await authorize(what, account);
      const relayed = sponsor.calldataOf([{ to: call.to, data: call.data as Hex }]);
      const hash = await bundle(chain, '0.7', [await sponsor.operation(relayed)]);
      await expectPaidOnce(what, account.address, hash);
    },
    TEST_MS,
  );
});

describe('a signed authorization', () => {
  it(
    'keeps other payers out while it can move money, and returns the same call again',
    async () => {
      const [what, account, rival] = [await shop.order(), await penniless(), await penniless()];
      const late = await sign(what, rival);
      const { authorization, signature, call } = await authorize(what, account);
      const repeated = await submit(what, { authorization, signature });
      expect([repeated.status, repeated.body.call]).toEqual([200, call]);
      expect((await stored(what)).submissions).toMatchObject([{ status: 'live', attempts: 1 }]);
      const busy = [409, 'intent.submission_in_progress'];
      for (const fulfiller of [rival.address, account.address])
        expect(summaryOf(await whileBusy('a build', () => api.build(what.id, fulfiller)))).toEqual(busy);
      expect(summaryOf(await build(what, rival.address))).toEqual(busy);
      expect(summaryOf(await submit(what, late))).toEqual(busy);
      expect(summaryOf(await whileBusy('a cancel', () => api.cancel(what.id)))).toEqual(busy);
      // Its own wallet may sign again: whatever is sent, one of the two moves money.
      const { call: second } = await authorize(what, account);
      await relayer.ask('honest', call);
      await relayer.ask('honest', second);
      await shop.reached(what, 'finalized');
      expect(await what.merchant.tokenBalance(usdc)).toBe(UNITS);
      expect((await stored(what)).transfers).toHaveLength(1);
    },
    TEST_MS,
  );

  it(
    'is refused for another intent, altered, too late, cancelled and used',
    async () => {
      const [what, other, account] = [await shop.order(), await shop.order(), await penniless()];
      const signed = await sign(what, account);
      expect(await submit(other, signed)).toMatchObject({
        status: 422,
        body: { error: { code: 'transaction.mismatch', details: { reference: {}, recipient: {} } } },
      });
      for (const change of [{ value: '1' }, { to: account.address }, { nonce: other.intent.reference }])
        expect(summaryOf(await submit(what, await sign(what, account, change)))).toEqual([422, 'transaction.mismatch']);
      const altered = { ...signed, authorization: { ...signed.authorization, validAfter: '1' } };
      expect(await submit(what, altered)).toMatchObject({
        status: 422,
        body: { error: { code: 'transaction.rejected', message: expect.stringContaining('invalid signature') } },
      });
      expect(summaryOf(await submit(what, await sign(what, account, { validBefore: '1' })))).toEqual([
        422,
        'transaction.rejected',
      ]);
      await chain.rpc('eth_sendTransaction', {
        from: (chain.wallets[4] as StackWallet).address,
        to: usdc,
        data: encodeFunctionData({
          abi: contractNamed('Stablecoin').abi,
          functionName: 'cancelAuthorization',
          args: [
            account.address,
            what.intent.reference,
            await account.signTypedData({
              domain: { name: 'USDC', version: '2', chainId: 84_532, verifyingContract: usdc as Hex },
              types: {
                CancelAuthorization: [
                  { name: 'authorizer', type: 'address' },
                  { name: 'nonce', type: 'bytes32' },
                ],
              },
              primaryType: 'CancelAuthorization',
              message: { authorizer: account.address, nonce: what.intent.reference as Hex },
            }),
          ],
        }),
      });
      await chain.mine(1 + NODES_LAG);
      expect(await submit(what, signed)).toMatchObject({
        status: 422,
        body: { error: { code: 'transaction.rejected', message: expect.stringContaining('used or canceled') } },
      });
      expect((await stored(what)).submissions).toEqual([]);
      await paidByAnother(what, 0);
    },
    TEST_MS,
  );

  it('returns 422 on a chain without EIP-3009 tokens', async () => {
    const { body } = await whileBusy<CreatedBody>('an intent', () =>
      api.create({ chain: tempo.caip2, token: 'USDC', amount: '3', requestor: newWallet(tempo).address }),
    );
    const refused = await whileBusy('typed data', () =>
      api.request('POST', `/intents/${body.intent.id}/authorization/build`, { fulfiller: newWallet(tempo).address }),
    );
    expect(summaryOf(refused)).toEqual([422, 'chain.not_available']);
  });
});

describe.each([
  ['refuses', 403],
  ['lies', 200],
  ['stalls', 202],
] as const)('a relayer that %s', (way, says) => {
  it(
    'costs nothing: once the authorization has ended, another pays, and nothing lands late',
    async () => {
      const [what, account] = [await shop.order(), await penniless()];
      const { call } = await authorize(what, account);
      const { status, hash } = await relayer.ask(way, call);
      expect(status).toBe(says);
      if (hash !== undefined)
        await until('the service to miss what it was told of', async () => {
          const [, code] = summaryOf(await api.submit(what.id, hash, account.address));
          return code === 'transaction.not_visible';
        });
      expect((await api.get(what.id)).body.intent).toMatchObject({ state: 'created', txSignature: null });
      await timePasses();
      await claimEnded(what);
      expect(await stored(what)).toMatchObject({ status: 'created', submissions: [{ status: 'dropped' }] });
      await paidByAnother(what, 1);
      if (way === 'stalls') expect(await relayer.ask('wakes-up')).toMatchObject({ status: 200 });
      await chain.mine(2);
      expect(await what.merchant.tokenBalance(usdc)).toBe(UNITS);
    },
    TEST_MS,
  );
});

describe.each(['redirects', 'takes-more'] as const)('a relayer that alters the call: %s', (way) => {
  it(
    'moves nothing, and the same authorization pays through another',
    async () => {
      const [what, account] = [await shop.order(), await penniless()];
      const { call } = await authorize(what, account);
      const { hash: useless } = await relayer.ask(way, call);
      await until('its transaction to fail', async () => {
        const receipt = await chain.rpc<{ status: string } | null>('eth_getTransactionReceipt', useless);
        return receipt?.status === '0x0';
      });
      expect((await api.get(what.id)).body.intent).toMatchObject({ state: 'created' });
      const { hash } = await relayer.ask('honest', call);
      await expectPaidOnce(what, account.address, hash);
      await claimEnded(what);
    },
    TEST_MS,
  );
});
