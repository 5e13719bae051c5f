import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Address, PaymentTerms, Reference, TransactionHash } from '@pf/domain';
import type { RpcPool } from '@pf/rpc';
import { type RpcProxy, startRpcProxy } from '@pf/testing/chains';
import { leastCpu, leastDelay } from '@pf/testing/quiet-core';
import { getAddress, numberToHex, toHex } from 'viem';
import { getCallTrace } from '../../src/base/nested/call-trace.ts';
import { keptLogsOf } from '../../src/base/nested/kept-logs.ts';
import { BaseObserver } from '../../src/base/observer.ts';
import { getReceipt } from '../../src/evm/calls.ts';
import { networkOf } from '../../src/index.ts';
import { Clock, poolOver } from '../base/chain.ts';
import { CHAIN, terms } from '../base/payments.ts';
import { named, Watcher } from '../conformance/watching.ts';
import { HOSTILE, type Place, type Shown } from './base.ts';
import { DELAY_MAX_MS } from './delay.ts';
import { honest, ScriptedChain } from './scripted-chain.ts';

/** What never comes is waited for so long. */
const TIMEOUT_MS = 2_000;
const mine: PaymentTerms = { ...terms, requestor: getAddress(`0x${'0d'.repeat(20)}`) as string as Address };
const attacked: PaymentTerms = { ...terms, reference: `0x${'0f'.repeat(32)}` as Reference };

describe('a payment beside hostile transactions', () => {
  let proxy: RpcProxy;
  let pool: RpcPool;
  let chain: ScriptedChain;
  let clock: Clock;
  let watcher: Watcher;
  beforeEach(async () => {
    chain = new ScriptedChain();
    proxy = await startRpcProxy('');
    proxy.respond = chain.respond;
    pool = poolOver([proxy.url], TIMEOUT_MS);
    clock = new Clock();
    watcher = new Watcher(new BaseObserver(networkOf(CHAIN), pool, clock.now));
    watcher.watched.add('pi_mine', mine);
    watcher.watched.add('pi_attacked', attacked);
    await watcher.step();
  });
  afterEach(async () => {
    await pool.close();
    await proxy.stop();
  });
  type At = (place: Pick<Place, 'hash' | 'block' | 'blockHash'>) => Shown;
  const hostile =
    (name: string, recipient = attacked.requestor): At =>
    (place) => {
      const make = HOSTILE[name];
      if (make === undefined) throw new Error(`there is no "${name}"`);
      const { tokenAddress, reference } = attacked;
      return make({ ...place, token: tokenAddress as string as Address, recipient, reference });
    };
  /** What is observed within its usual time: seen in a step, confirmed in the first one two seconds later. */
  async function observed(): Promise<readonly string[]> {
    const first = await watcher.step();
    clock.pass(2_000);
    return [...first, ...(await watcher.step())].map((one) => `${one.intentId} ${named([one])[0] ?? ''}`);
  }

  it.each(Object.keys(HOSTILE))('is confirmed in its usual time: %s', async (name) => {
    let payments = 0;
    const pay = async (...beside: readonly At[]): Promise<void> => {
      const paid = { ...mine, reference: toHex((payments += 1), { size: 32 }) as string as Reference };
      watcher.watched.add(`pi_${payments}`, paid);
      chain.mine(...beside, honest(paid), ...beside);
      expect(await observed()).toEqual([`pi_${payments} landed confirmed`]);
    };
    const delayMs = await leastDelay(
      () => pay(),
      () => pay(hostile(name)),
      DELAY_MAX_MS,
    );
    expect(delayMs).toBeLessThan(DELAY_MAX_MS);
  });

  it('is confirmed in its usual time beside all of them, also to its own recipient', async () => {
    const all = Object.keys(HOSTILE);
    chain.mine(...all.map((name) => hostile(name)), honest(mine), ...all.map((name) => hostile(name, mine.requestor)));
    expect(await observed()).toEqual(['pi_mine landed confirmed']);
    // The next one is not delayed by what is looked at again.
    const next = { ...mine, reference: `0x${'0e'.repeat(32)}` as Reference };
    watcher.watched.add('pi_next', next);
    chain.mine(honest(next));
    expect(await observed()).toEqual(['pi_next landed confirmed']);
  }, 30_000);

  it('waits with the blocks, instead of being set aside, where a node shows none of what it logs', async () => {
    const lost = [mine, { ...mine, reference: `0x${'0e'.repeat(32)}` as Reference }];
    const places = lost.map((): Place[] => []);
    const hashes = chain.mine(
      ...lost.map((terms, at): At => (place) => {
        places[at]?.push(place as Place);
        return { ...honest(terms)(place), transaction: new Error('not now') };
      }),
    );
    await expect(watcher.step()).rejects.toThrow('shows none of 2 transactions that it logs');
    for (const [at, hash] of hashes.entries())
      chain.change(hash, honest(lost[at] as PaymentTerms)(places[at]?.[0] as Place));
    expect(await observed()).toEqual(['pi_mine landed confirmed']);
  });

  it.each(['a receipt that is refused', 'a receipt that never comes', 'no receipt', 'a transaction that is refused'])(
    'is found by another look: %s',
    async (name) => {
      let place: Pick<Place, 'hash' | 'block' | 'blockHash'> | null = null;
      const [hash] = chain.mine((at) => {
        place = at;
        return hostile(name)(at);
      });
      expect(await observed()).toEqual([]);
      expect(watcher.warnings).toContainEqual(expect.stringMatching(new RegExp(`^${hash} of block 1 is set aside: `)));
      if (hash === undefined || place === null) throw new Error('it is in a block');
      const [transfer] = hostile(name)(place).logs as readonly { readonly topics: readonly string[] }[];
      const from = `0x${transfer?.topics[1]?.slice(26)}`;
      const shown = hostile('the same log twice')(place);
      const receipt = { ...(shown.receipt as object), logs: [transfer] };
      const call = { type: 'CALL', from, to: attacked.tokenAddress };
      const trace = { ...call, input: (shown.transaction as { readonly input: string }).input, logs: [transfer] };
      chain.change(hash, { ...shown, receipt, trace });
      const found: string[] = [];
      for (let looks = 0; looks < 20 && found.length === 0; looks += 1) {
        clock.pass(10_000);
        found.push(...(await observed()));
      }
      expect(found).toEqual(['pi_attacked landed confirmed']);
    },
  );
});

describe('what is read of hostile transactions', () => {
  const CPU_MAX_MS = 500;
  const place: Place = {
    hash: `0x${'ab'.repeat(32)}`,
    block: 1n,
    blockHash: `0x${'bb'.repeat(32)}`,
    token: terms.tokenAddress as string as Address,
    recipient: terms.requestor,
    reference: terms.reference,
  };
  const keeps = keptLogsOf(networkOf(CHAIN));

  it.each(Object.entries(HOSTILE))('takes no more than 50 ms at a time: %s', (_name, make) => {
    const { receipt, trace } = make(place);
    const hash = place.hash as string as TransactionHash;
    for (const [call, shown] of [
      [getReceipt(hash, keeps), receipt],
      [getCallTrace(hash, keeps), trace],
    ] as const) {
      const text = JSON.stringify(shown instanceof Error ? null : (shown ?? null));
      const read = (): void => {
        try {
          call.parse(JSON.parse(text));
        } catch (error) {
          // What has no form that is known is set aside.
          expect(error).toBeInstanceOf(Error);
        }
      };
      if (text.length <= (call.maxBytes ?? Number.POSITIVE_INFINITY)) expect(leastCpu(read)).toBeLessThan(50);
    }
  });

  it('are the logs that say what was paid, of 40,000, in little time', () => {
    const shown = HOSTILE['a receipt of 40,000 empty logs']?.(place);
    let kept = 0;
    const cpuMs = leastCpu(() => {
      kept = getReceipt(place.hash, keeps).parse(shown?.receipt)?.logs.length ?? 0;
    });
    expect(kept).toBe(1);
    expect(cpuMs).toBeLessThan(CPU_MAX_MS);
  });

  it('are the calls of a trace, of 40,000, in little time', () => {
    const call = { type: 'CALL', from: place.token, to: place.token, input: '0x', gas: numberToHex(1) };
    const calls = Array.from({ length: 40_000 }, () => ({ ...call, calls: [] }));
    const cpuMs = leastCpu(() => {
      const trace = getCallTrace(place.hash as string as TransactionHash, keeps).parse({ ...call, calls });
      expect(trace.calls).toHaveLength(40_000);
    });
    expect(cpuMs).toBeLessThan(CPU_MAX_MS);
  });
});
