import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { RpcPool } from '@pf/rpc';
import { type RpcProxy, startRpcProxy } from '@pf/testing/chains';
import { type Hex, numberToHex, toHex } from 'viem';
import { BaseObserver } from '../../src/base/observer.ts';
import { TRANSFER } from '../../src/base/observe/landings.ts';
import { networkOf } from '../../src/index.ts';
import { Clock, poolOver } from '../base/chain.ts';
import { CHAIN, terms } from '../base/payments.ts';
import { named, Watcher } from '../conformance/watching.ts';
import { type At, logAt, type Shown, topic } from './base.ts';
import { honest, ScriptedChain } from './scripted-chain.ts';

/** Twice what is read of a range of blocks. */
const TRANSFERS = 15_000;
const STRANGERS = 20;
const STEPS_MAX = 4;

/** A transfer of a stranger's. */
const speckAt =
  (index: number) =>
  (at: At): Shown => {
    const payer: Hex = toHex(0x5bec_0000 + (index % STRANGERS), { size: 20 });
    const log = logAt(
      at,
      index,
      terms.tokenAddress,
      [TRANSFER, topic(payer), topic(terms.requestor)],
      toHex(1, { size: 32 }),
    );
    const { hash, blockHash } = at;
    const transaction = {
      hash,
      type: '0x2',
      from: payer,
      to: terms.tokenAddress,
      nonce: '0x1',
      gas: '0xffff',
      value: '0x0',
      input: '0x',
      blockHash,
    };
    return { logs: [log], transaction, receipt: null, trace: null };
  };

describe('a block full of transfers to one recipient', () => {
  let proxy: RpcProxy;
  let pool: RpcPool;
  let chain: ScriptedChain;
  beforeEach(async () => {
    chain = new ScriptedChain();
    proxy = await startRpcProxy('');
    proxy.respond = (request) => chain.respond?.(request);
    pool = poolOver([proxy.url], 60_000);
  });
  afterEach(async () => {
    await pool.close();
    await proxy.stop();
  });

  it('does not hide the payment behind them', async () => {
    const clock = new Clock();
    const watcher = new Watcher(new BaseObserver(networkOf(CHAIN), pool, clock.now));
    watcher.watched.add('pi_paid', terms);
    await watcher.stepOnce();
    chain.mine(...Array.from({ length: TRANSFERS }, (_, index) => speckAt(index)), (at) => {
      const shown = honest(terms)(at);
      for (const log of shown.logs) Object.assign(log, { logIndex: numberToHex(TRANSFERS) });
      return shown;
    });
    const found: string[] = [];
    for (let step = 0; step < STEPS_MAX && found.length === 0; step += 1) {
      const { observations } = await watcher.stepOnce();
      found.push(...observations.map((one) => `${one.intentId} ${named([one])[0] ?? ''}`));
      clock.pass(2_000);
    }
    expect(found).toEqual(['pi_paid landed confirmed']);
  });
});
