import { describe, expect, it } from '@jest/globals';
import type { PublicIntent } from '@pf/domain';
import { type ApiClient, apiClient, chainOf, readStack, type StackChain, type StackWallet, until } from '@pf/testing';
import { evmWallet, tempoWallet } from '@pf/testing/wallets';
import { type OddPayment, payPlainly } from '../odd-payments.ts';

const stack = readStack();
const api: ApiClient = apiClient(stack.baseUrl, stack.apiKeys.test);

type Pay = (chain: StackChain, payer: StackWallet, token: string, payment: OddPayment) => Promise<string>;
/** A transfer with the reference, which the wallet builds and sends itself. */
const pay: Readonly<Record<'base' | 'solana' | 'tempo', Pay>> = {
  base: (chain, payer, token, { to, units, references: [reference] }) =>
    evmWallet(chain, payer).transfer(token, to, units, reference as `0x${string}`),
  solana: payPlainly,
  tempo: (chain, payer, token, { to, units, references: [reference] }) =>
    tempoWallet(chain, payer).transfer(token, to, units, reference as `0x${string}`),
};

describe.each(['base', 'solana', 'tempo'] as const)('An intent that accepts at least its amount, on %s', (name) => {
  const chain: StackChain = chainOf(stack, name);
  const [payer, requestor] = chain.wallets as [StackWallet, StackWallet];

  it('is paid by a wallet that sends more, and says once that is final what has arrived', async () => {
    const { status, body } = await api.create({
      chain: chain.caip2,
      token: 'USDC',
      amount: '1.25',
      requestor: requestor.address,
      accept: 'at_least',
    });
    expect([status, body.error]).toEqual([201, undefined]);
    const { intent } = body;
    const hash = await pay[name](chain, payer, intent.tokenAddress, {
      to: requestor.address,
      units: BigInt(intent.amountBaseUnits) + 500_000n,
      references: [intent.reference],
    });
    const paid: PublicIntent = await until(`${intent.id} to be finalized`, async () => {
      const { intent: now } = (await api.get(intent.id)).body;
      return now.state === 'finalized' && now;
    });
    expect(paid).toMatchObject({
      txSignature: hash,
      fulfiller: payer.address,
      amount: '1.25',
      amountReceived: '1.75',
      amountReceivedBaseUnits: '1750000',
    });
    const { body: history } = await api.request<{ events: readonly { type: string; data: object }[] }>(
      'GET',
      `/intents/${intent.id}/events`,
    );
    expect(history.events.map(({ type }) => type)).toEqual([
      'intent.created',
      'intent.pending',
      'intent.confirmed',
      'intent.finalized',
      'intent.overpaid',
    ]);
    expect(history.events.at(-1)?.data).toMatchObject({
      overpayment: { txSignature: hash, amount: '0.5', amountBaseUnits: '500000' },
    });
  });
});
