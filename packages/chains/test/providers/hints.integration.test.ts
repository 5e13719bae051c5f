import { afterEach, describe, expect, it } from '@jest/globals';
import type { Address, ChainId, PaymentTerms, Reference, TokenAddress } from '@pf/domain';
import { type StackChain, type StackWallet, until } from '@pf/testing';
import { startAnvil, startSolana, startTempo } from '@pf/testing/chains';
import { type ProfileName, startProvider } from '@pf/testing/providers';
import { newWallet, walletOn } from '@pf/testing/wallets';
import { createChains, type ChainObserver, type Step } from '../../src/index.ts';
import { log } from '../base/chain.ts';
import { named, Watched } from '../conformance/watching.ts';

/** Those that a stream of the profile `streams` loses first, and one of each of its ways. */
const PAYMENTS = 6;

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

  /**
   * An observer behind this profile, whose WebSockets it listens to, and an announced payment that it expects.
   * @param socketsBefore how many others have opened one before it
   */
  async function expecting(family: string, profile: ProfileName, socketsBefore = 0) {
    const { chain, pass, stop } = await (LOCAL[family] as () => Promise<Local>)();
    const provider = await startProvider(profile, chain.rpcUrl, {
      limits: profile === 'streams' ? { lateMs: 200 } : {},
    });
    const id = chain.caip2 as ChainId;
    const upstream = {
      url: provider.url,
      stream: provider.url.replace(/^http/, 'ws'),
      headers: {},
      plan: {},
      prices: null,
    };
    for (let socket = 0; socket < socketsBefore; socket += 1) {
      const other = new WebSocket(upstream.stream);
      await new Promise((resolve) => other.addEventListener('open', resolve, { once: true }));
      closing.push(async () => other.close());
    }
    const chains = createChains({ upstreams: new Map([[id, [upstream]]]), log });
    closing.push(
      stop,
      () => provider.stop(),
      () => chains.close(),
    );
    const observer = chains.observers.get(id) as ChainObserver;
    const watched = new Watched();
    const announced = (name: string): PaymentTerms => {
      const terms: PaymentTerms = {
        chain: id,
        tokenAddress: chain.tokens['USDC'] as TokenAddress,
        amount: 1_000_000n,
        requestor: newWallet(chain).address as Address,
        reference: chains.adapters.get(id)?.newReference() as Reference,
      };
      watched.add(name, terms);
      watched.detect(terms);
      return terms;
    };
    const terms = announced('pi_hinted');
    let step: Step | undefined;
    const take = async (): Promise<Step> => {
      step = await observer.step(step?.cursor ?? null, () => Promise.resolve(watched));
      for (const observation of step.observations) watched.apply(observation);
      return step;
    };
    await take();
    const pay = async ({ tokenAddress, requestor, amount, reference } = terms): Promise<void> => {
      const payer = walletOn(chain, chain.wallets[0] as StackWallet);
      await payer.pay(tokenAddress, requestor, amount, reference);
      await pass();
    };
    return { observer, announced, take, pay, pass };
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

  it.each([
    ['Base', 'silent', 0],
    ['Base', 'late, doubled and lost', 1],
    ['Solana', 'silent', 0],
    ['Solana', 'late, doubled and lost', 1],
    ['Tempo', 'silent', 0],
    ['Tempo', 'late, doubled and lost', 1],
  ])('finds each payment once by the poll on %s while what the stream says is %s', async (family, _what, others) => {
    const { announced, take, pay, pass } = await expecting(family, 'streams', others);
    const seen: string[] = [];
    for (let payment = 0; payment < PAYMENTS; payment += 1) {
      const id = `pi_${payment}`;
      const terms = announced(id);
      await take();
      await pay(terms);
      await until(`payment ${payment}`, async () => {
        const { observations } = await take();
        seen.push(...named(observations).map((name, place) => `${observations[place]?.intentId ?? ''} ${name}`));
        await pass();
        return seen.some((one) => one.startsWith(`${id} landed`));
      });
    }
    expect(new Set(seen).size).toBe(seen.length);
  });

  it('observes the same where the plan has no WebSockets', async () => {
    const { observer, take, pay } = await expecting('Base', 'ankr-public');
    await pay();
    await until('the payment', async () => (await take()).observations.some(({ type }) => type === 'landed'));
    expect(observer.hinted).toBeDefined();
  });
});
