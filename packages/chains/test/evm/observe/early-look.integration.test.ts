import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PaymentTerms, TokenAddress } from '@pf/domain';
import { upstreamAt, type UpstreamSettings } from '@pf/rpc';
import type { StackChain, StackWallet } from '@pf/testing';
import { type RpcProxy, startRpcProxy } from '@pf/testing/chains';
import { walletOn } from '@pf/testing/wallets';
import { BaseObserver } from '../../../src/base/observer.ts';
import type { ChainObserver, Cursor } from '../../../src/index.ts';
import { TempoObserver } from '../../../src/tempo/observer.ts';
import { poolOver, startBase } from '../../base/chain.ts';
import type { ChainUnderTest } from '../../conformance/suite.ts';
import { Watched } from '../../conformance/watching.ts';
import { startTempoUnderTest, tempoPool } from '../../tempo/chain.ts';

/** Longer than between two readings of all recipients. */
const WHOLE_MS = 15_000;
/** Blocks until a payment is confirmed, by our clock. */
const CONFIRM_MS = 2_000;

interface Chain {
  readonly under: ChainUnderTest;
  readonly chain: StackChain & { mine(): Promise<void> };
  readonly observerOver: (
    upstreams: readonly UpstreamSettings[],
    now: () => number,
  ) => {
    readonly observer: ChainObserver;
    readonly close: () => Promise<void>;
  };
}

const onBase = async (): Promise<Chain> => {
  const under = await startBase();
  return {
    under,
    chain: under.anvil,
    observerOver: (upstreams, now) => {
      const pool = poolOver(upstreams);
      return { observer: new BaseObserver(under.adapter.network, pool, now), close: () => pool.close() };
    },
  };
};
const onTempo = async (): Promise<Chain> => {
  const under = await startTempoUnderTest();
  return {
    under,
    chain: under.tempo,
    observerOver: (upstreams, now) => {
      const pool = tempoPool(upstreams);
      return { observer: new TempoObserver(under.adapter.network, pool, now), close: () => pool.close() };
    },
  };
};

describe.each([
  ['Base', onBase],
  ['Tempo', onTempo],
])('an observer of %s with more recipients than one call takes', (_name, start) => {
  let on: Chain;
  let proxy: RpcProxy;
  beforeAll(async () => {
    on = await start();
    proxy = await startRpcProxy(on.chain.rpcUrl);
  });
  afterAll(async () => {
    await proxy.stop();
    await on.under.stop();
  });

  /** Of a new recipient. */
  const newTerms = (under: ChainUnderTest): PaymentTerms => ({
    chain: under.adapter.network.chain,
    tokenAddress: under.adapter.token('USDC')?.address as TokenAddress,
    amount: 1_000_000n,
    requestor: under.newRecipient(),
    reference: under.adapter.newReference(),
  });

  /** A watch over one intent that was made a moment ago, and one that was made long ago. */
  async function watching() {
    const [fresh, old] = [newTerms(on.under), newTerms(on.under)];
    const watched = new Watched();
    watched.add('pi_fresh', fresh);
    watched.await(fresh);
    watched.add('pi_old', old);
    let now = 1_000_000;
    const begin = () => on.observerOver([{ ...upstreamAt(proxy.url), plan: { logTopics: 1 } }], () => now);
    let running = begin();
    let cursor: Cursor | null = null;
    /** @returns the intents whose payments the step has observed */
    const step = async (): Promise<readonly string[]> => {
      const taken = await running.observer.step(cursor, () => Promise.resolve(watched));
      cursor = taken.cursor;
      for (const observation of taken.observations) watched.apply(observation);
      return taken.observations.filter(({ type }) => type === 'landed').map(({ intentId }) => intentId);
    };
    const seen = async (): Promise<readonly string[]> => {
      const first = await step();
      // What a block has is confirmed when it has stayed there for a while.
      now += CONFIRM_MS;
      return [...new Set([...first, ...(await step())])];
    };
    return {
      fresh,
      old,
      step,
      seen,
      pass: (ms: number) => void (now += ms),
      restart: async () => {
        await running.close();
        running = begin();
      },
      close: () => running.close(),
    };
  }

  async function pay(terms: PaymentTerms): Promise<void> {
    const payer = walletOn(on.chain, on.chain.wallets[0] as StackWallet);
    await payer.pay(terms.tokenAddress, terms.requestor, terms.amount, terms.reference);
    await on.chain.mine();
  }
  const lists = (): number => proxy.calls.get('eth_getLogs') ?? 0;

  it('finds the payment of a new intent in the next step, and of an old one within 15 s', async () => {
    const watch = await watching();
    expect(await watch.seen()).toEqual([]);
    await pay(watch.old);
    await pay(watch.fresh);
    expect(await watch.seen()).toEqual(['pi_fresh']);
    watch.pass(WHOLE_MS);
    // What the early look has reported is not reported again.
    expect(await watch.seen()).toEqual(['pi_old']);
    await watch.close();
  });

  it('reads after a restart what an early look has passed', async () => {
    const watch = await watching();
    expect(await watch.seen()).toEqual([]);
    await pay(watch.old);
    await pay(watch.fresh);
    expect(await watch.seen()).toEqual(['pi_fresh']);
    await watch.restart();
    expect(await watch.seen()).toEqual(['pi_old']);
    await watch.close();
  });

  it('asks for the logs of those that are paid soonest, one list of them, between two readings', async () => {
    const watch = await watching();
    await watch.seen();
    await on.chain.mine();
    watch.pass(WHOLE_MS);
    await watch.step();
    const before = lists();
    for (let block = 0; block < 3; block += 1) {
      await on.chain.mine();
      await watch.step();
    }
    expect(lists() - before).toBe(3);
    await watch.close();
  });
});
