import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Address, PaymentTerms, Reference } from '@pf/domain';
import type { RpcPool } from '@pf/rpc';
import { type RpcProxy, startRpcProxy } from '@pf/testing/chains';
import { getAddress, toHex } from 'viem';
import { BaseObserver } from '../../src/base/observer.ts';
import { networkOf } from '../../src/index.ts';
import { Clock, poolOver } from '../base/chain.ts';
import { CHAIN, terms } from '../base/payments.ts';
import { named, Watcher } from '../conformance/watching.ts';
import { honest, ScriptedChain } from './scripted-chain.ts';

const addressOf = (at: number): Address => getAddress(toHex(0x0d0000 + at, { size: 20 })) as string as Address;
const mine: PaymentTerms = { ...terms, requestor: addressOf(0) };
/** A free key creates so many intents in two minutes, each with a recipient of its own, and pays for none. */
const OTHERS = 17_000;
/** Lists of a thousand recipients that an early look asks for. */
const LISTS_MAX = 4;

describe('a payment on Base beside the recipients of another account, by the ten thousand', () => {
  let proxy: RpcProxy;
  let pool: RpcPool;
  let lists = 0;
  beforeEach(async () => {
    proxy = await startRpcProxy('');
  });
  afterEach(async () => {
    await pool.close();
    await proxy.stop();
  });

  it('is seen by a step that asks for few lists of recipients', async () => {
    const chain = new ScriptedChain();
    proxy.respond = (request) => {
      if (request.method === 'eth_getLogs') lists += 1;
      return chain.respond(request);
    };
    pool = poolOver([proxy.url]);
    const clock = new Clock();
    const watcher = new Watcher(new BaseObserver(networkOf(CHAIN), pool, clock.now));
    watcher.watched.add('pi_mine', mine);
    watcher.watched.await(mine);
    watcher.watched.own(mine.requestor, 'acct_mine');
    for (let at = 1; at <= OTHERS; at += 1) {
      const one = { ...terms, requestor: addressOf(at), reference: toHex(at, { size: 32 }) as string as Reference };
      watcher.watched.add(`pi_${at}`, one);
      watcher.watched.await(one);
      watcher.watched.own(one.requestor, 'acct_other');
    }
    await watcher.stepOnce();
    chain.mine(honest(mine));
    clock.pass(1_000);
    lists = 0;
    await watcher.stepOnce();
    expect(lists).toBeLessThanOrEqual(LISTS_MAX);
    clock.pass(2_000);
    expect(named((await watcher.stepOnce()).observations)).toContain('landed confirmed');
    // All recipients, once and again: one call each, where one of their lists would take 18.
    lists = 0;
    chain.mine(honest({ ...mine, requestor: addressOf(OTHERS) }));
    clock.pass(15_000);
    await watcher.stepOnce();
    expect(lists).toBeLessThanOrEqual(2);
  }, 60_000);
});
