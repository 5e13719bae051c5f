import { afterEach, describe, expect, it } from '@jest/globals';
import type { Address, ChainId, PaymentTerms, Reference, TokenAddress } from '@pf/domain';
import { type StackChain, type StackWallet, until } from '@pf/testing';
import { startAnvil, startSolana, startTempo } from '@pf/testing/chains';
import { type ProfileName, startProvider } from '@pf/testing/providers';
import { newWallet, walletOn } from '@pf/testing/wallets';
import { createChains, type ChainObserver, type Step } from '../../src/index.ts';
import { log } from '../base/chain.ts';
import { Watched } from '../conformance/watching.ts';

interface Local {
  readonly chain: StackChain;
  readonly pass: () => Promise<unknown>;
  readonly stop: () => Promise<void>;
}
const LOCAL: Readonly<Record<string, () => Promise<Local>>> = {
  Base: async () => {
    const chain = await startAnvil();
    return { chain, pass: () => chain.mine(), stop: () => chain.stop() };
  },
  Solana: async () => {
    const chain = await startSolana();
    return { chain, pass: () => chain.advance(), stop: () => chain.stop() };
  },
  Tempo: async () => {
    const chain = await startTempo();
    return { chain, pass: () => chain.mine(), stop: () => chain.stop() };
  },
};

describe('an observer with a stream', () => {
  let closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.toReversed()) await close();
    closing = [];
  });

  /** An observer behind this profile, whose WebSockets it listens to, and an announced payment that it expects. */
  async function expecting(family: string, profile: ProfileName) {
    const { chain, pass, stop } = await (LOCAL[family] as () => Promise<Local>)();
    const provider = await startProvider(profile, chain.rpcUrl);
    const id = chain.caip2 as ChainId;
    const upstream = {
      url: provider.url,
      stream: provider.url.replace(/^http/, 'ws'),
      headers: {},
      plan: {},
      prices: null,
    };
    const chains = createChains({ upstreams: new Map([[id, [upstream]]]), log });
    closing.push(
      stop,
      () => provider.stop(),
      () => chains.close(),
    );
    const observer = chains.observers.get(id) as ChainObserver;
    const terms: PaymentTerms = {
      chain: id,
      tokenAddress: chain.tokens['USDC'] as TokenAddress,
      amount: 1_000_000n,
      requestor: newWallet(chain).address as Address,
      reference: chains.adapters.get(id)?.newReference() as Reference,
    };
    const watched = new Watched();
    watched.add('pi_hinted', terms);
    watched.detect(terms);
    let step: Step | undefined;
    const take = async (): Promise<Step> => {
      step = await observer.step(step?.cursor ?? null, () => Promise.resolve(watched));
      return step;
    };
    await take();
    const pay = async (): Promise<void> => {
      const payer = walletOn(chain, chain.wallets[0] as StackWallet);
      await payer.pay(terms.tokenAddress, terms.requestor, terms.amount, terms.reference);
      await pass();
    };
    return { observer, take, pay };
  }

  it.each([
    ['Base', 'cdp'],
    ['Solana', 'alchemy-free'],
    ['Tempo', 'tempo-rpc'],
  ] as const)('is hinted at a payment on %s', async (family, profile) => {
    const { observer, pay } = await expecting(family, profile);
    const over = new AbortController();
    let hinted = false;
    void observer.hinted?.(over.signal).then(() => (hinted = true));
    // One before the subscription is there goes by.
    await until('a hint', async () => (await pay(), hinted));
    over.abort();
  });

  it('observes the same where the plan has no WebSockets', async () => {
    const { observer, take, pay } = await expecting('Base', 'ankr-public');
    await pay();
    await until('the payment', async () => (await take()).observations.some(({ type }) => type === 'landed'));
    expect(observer.hinted).toBeDefined();
  });
});
