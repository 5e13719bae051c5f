import { describe, expect, it } from '@jest/globals';
import type { PublicDeposit, PublicIntent } from '@pf/domain';
import { type ApiClient, apiClient, chainOf, readStack, type StackWallet, until } from '@pf/testing';
import { newWallet } from '@pf/testing/wallets';
import { plainTransfers } from '../plain-transfer.ts';

const stack = readStack();
const api: ApiClient = apiClient(stack.baseUrl, stack.apiKeys.test);

describe.each(['base', 'solana', 'tempo'] as const)('An intent that is paid by its amount, on %s', (name) => {
  const chain = chainOf(stack, name);
  const [, , key] = chain.wallets as [StackWallet, StackWallet, StackWallet];
  const send = plainTransfers[name](chain, key);
  const { address } = newWallet(chain);

  const create = async (): Promise<PublicIntent> => {
    const { status, body } = await api.create({
      chain: chain.caip2,
      token: 'USDC',
      amount: '1.25',
      requestor: address,
      attribution: 'amount',
    });
    expect([status, body.error]).toEqual([201, undefined]);
    return body.intent;
  };
  const reach = (id: string, ...states: string[]): Promise<PublicIntent> =>
    until(`${id} to be ${states.join(' or ')}`, async () => {
      const { intent } = (await api.get(id)).body;
      return states.includes(intent.state) && intent;
    });
  const depositOf = async (hash: string): Promise<PublicDeposit | undefined> => {
    const { body } = await api.request<{ deposits: readonly PublicDeposit[] }>('GET', `/deposits?txSignature=${hash}`);
    return body.deposits[0];
  };

  it('is confirmed and final with a plain transfer, and a second transfer stays a deposit', async () => {
    const [other, intent] = [await create(), await create()];
    expect([other.amount, intent.amount]).toEqual(['1.250001', '1.250002']);
    const hash = await send(intent.tokenAddress, address, BigInt(intent.amountBaseUnits));
    expect(await reach(intent.id, 'confirmed', 'finalized')).toMatchObject({
      txSignature: hash,
      fulfiller: key.address,
    });
    await reach(intent.id, 'finalized');
    const { body } = await api.request<{ events: readonly { readonly type: string }[] }>(
      'GET',
      `/intents/${intent.id}/events`,
    );
    expect(body.events.map(({ type }) => type).sort()).toEqual([
      'intent.confirmed',
      'intent.created',
      'intent.finalized',
      'intent.pending',
    ]);
    expect(await depositOf(hash)).toMatchObject({ state: 'assigned', intentId: intent.id });

    const again = await send(intent.tokenAddress, address, BigInt(intent.amountBaseUnits));
    const second = await until('the second transfer to be a deposit', () => depositOf(again));
    // The first intent is still paid by its own amount, which comes after it.
    await send(other.tokenAddress, address, BigInt(other.amountBaseUnits));
    await reach(other.id, 'confirmed', 'finalized');
    expect(await depositOf(again)).toMatchObject({ id: second.id, state: 'open', intentId: null });
  });
});
