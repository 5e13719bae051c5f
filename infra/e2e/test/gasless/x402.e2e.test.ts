import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { RelayedCall, TypedData, X402Settlement } from '@pf/contracts';
import type { PublicIntent } from '@pf/domain';
import { type ApiClient, type StackWallet, until } from '@pf/testing';
import { type Anvil, startAnvil } from '@pf/testing/chains';

import type { TypedDataDefinition } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { type Facilitator, startFacilitator } from './relayer.ts';
import { type Order, PACE_MS, Shop, TEST_MS, UNITS } from './shop.ts';
import { summaryOf, whileBusy } from '../responses.ts';

interface Submitted {
  readonly intent: PublicIntent;
  readonly call: RelayedCall;
  readonly x402: X402Settlement;
}

let chain: Anvil;
let shop: Shop;
let facilitator: Facilitator;
let api: ApiClient;
let usdc: string;

beforeAll(async () => {
  chain = await startAnvil({ blockMs: PACE_MS });
  usdc = chain.tokens['USDC'] ?? '';
  facilitator = await startFacilitator(chain, chain.wallets[3] as StackWallet);
  shop = await Shop.open(chain);
  ({ api } = shop);
}, TEST_MS);
afterAll(async () => {
  await shop.close();
  await Promise.all([facilitator.stop(), chain.stop()]);
});

/** Someone with USDC and no ETH at all. */
async function penniless(): Promise<PrivateKeyAccount> {
  const account = privateKeyToAccount(generatePrivateKey());
  await chain.asTokenOwner(usdc, 'mint', [account.address, 2n * UNITS]);
  return account;
}
/** What `authorization/submit` returns for the facilitator. */
async function authorize({ id, payer }: Order, account: PrivateKeyAccount): Promise<X402Settlement> {
  const path = `/intents/${id}/authorization`;
  const { body: built } = await whileBusy('typed data', () =>
    payer.request<{ readonly typedData: TypedData }>('POST', `${path}/build`, { fulfiller: account.address }),
  );
  const { typedData } = built;
  const signature = await account.signTypedData(typedData as unknown as TypedDataDefinition);
  const submitted = await whileBusy('the settlement', () =>
    payer.request<Submitted>('POST', `${path}/submit`, { authorization: typedData.message, signature }),
  );
  expect(summaryOf(submitted)).toEqual([200, undefined]);
  return submitted.body.x402;
}
async function expectPaidOnce(what: Order, by: string, hash: string | undefined): Promise<void> {
  const paid = await shop.reached(what, 'finalized');
  expect(paid).toMatchObject({ fulfiller: by, txSignature: hash });
  expect(await what.merchant.tokenBalance(usdc)).toBe(UNITS);
}

it(
  'an x402 facilitator verifies and settles what submit returns for it, unchanged',
  async () => {
    const [what, account] = [await shop.order(), await penniless()];
    const settlement = await authorize(what, account);
    expect(await facilitator.ask('verify', settlement)).toMatchObject({ isValid: true, payer: account.address });
    const settled = await facilitator.ask('settle', settlement);
    expect(settled).toMatchObject({ success: true });
    await expectPaidOnce(what, account.address, settled.transaction);
    expect(await facilitator.ask('verify', settlement)).toMatchObject({ isValid: false });
  },
  TEST_MS,
);

it(
  'an x402 facilitator that says it has settled is not believed, and an honest one settles',
  async () => {
    const [what, account] = [await shop.order(), await penniless()];
    const settlement = await authorize(what, account);
    const lie = await facilitator.ask('lies/settle', settlement);
    expect(lie).toMatchObject({ success: true });
    await until('the service to miss what it was told of', async () => {
      const [, code] = summaryOf(await api.submit(what.id, lie.transaction ?? '', account.address));
      return code === 'transaction.not_visible';
    });
    expect((await api.get(what.id)).body.intent).toMatchObject({ state: 'created', txSignature: null });
    const settled = await facilitator.ask('settle', settlement);
    await expectPaidOnce(what, account.address, settled.transaction);
  },
  TEST_MS,
);
