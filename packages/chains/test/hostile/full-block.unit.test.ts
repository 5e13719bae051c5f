import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Address, TransactionHash } from '@pf/domain';
import type { RpcNode, RpcPool } from '@pf/rpc';
import { type RpcProxy, startRpcProxy } from '@pf/testing/chains';
import { longestTurn } from '@pf/testing/quiet-core';
import { type Hex, numberToHex, toHex } from 'viem';
import { BaseObserver } from '../../src/base/observer.ts';
import { firstByOwners } from '../../src/base/observe/by-owners.ts';
import type { Judging } from '../../src/base/observe/context.ts';
import { type LoggedTransfer, TRANSFER } from '../../src/base/observe/landings.ts';
import { Memory } from '../../src/base/observe/memory.ts';
import { judge } from '../../src/base/observe/scan.ts';
import type { Log } from '../../src/evm/calls.ts';
import { networkOf } from '../../src/index.ts';
import { Clock, poolOver } from '../base/chain.ts';
import { CHAIN, terms } from '../base/payments.ts';
import { named, Watched, Watcher } from '../conformance/watching.ts';
import { respondingNode } from '../nodes.ts';
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

/** As many transfers as a block of Base has room for, each in a transaction and by a payer of its own. */
const CROWD = 60_000;
const TURN_MAX_MS = 50;
/** Are looked up in a step. */
const MOST = 500;

describe('a block full of payers who differ', () => {
  const transferAt = (at: number, to: Address): LoggedTransfer => {
    const hash = toHex(at + 1, { size: 32 }) as TransactionHash;
    const log: Log = {
      address: terms.tokenAddress as string as Log['address'],
      topics: [],
      data: '0x',
      blockNumber: 7n,
      blockHash: toHex(7, { size: 32 }),
      transactionHash: hash,
      logIndex: BigInt(at),
      removed: false,
    };
    return {
      from: toHex(0x5bec_0000 + at, { size: 20 }) as string as Address,
      to,
      amount: BigInt(1 + (at % 977)),
      log,
    };
  };

  it.each<[string, (at: number) => Address]>([
    ['one recipient', () => terms.requestor],
    ['many recipients of many accounts', (at) => toHex(0xacc + (at % 3_000), { size: 20 }) as string as Address],
  ])('is judged without holding up the process where they pay %s', async (_whom, recipientOf) => {
    const watch = new Watched();
    watch.add('pi_paid', terms);
    for (let at = 0; at < 3_000; at += 1) watch.own(recipientOf(at), `acct_${at % 100}`, `acct_${at % 70}`);
    const hits = Array.from({ length: CROWD }, (_, at) => ({ transfer: transferAt(at, recipientOf(at)) }));
    const node = respondingNode(({ method }) => new Error(`no ${method} here`));
    const shown = (hash: TransactionHash) => ({
      hash,
      from: terms.requestor,
      to: terms.tokenAddress as string as Address,
      nonce: 1n,
      input: '0x',
    });
    const asked: TransactionHash[] = [];
    const batch: RpcNode['batch'] = (calls) => {
      const hashes = calls.map(({ params }) => params[0] as TransactionHash);
      asked.push(...hashes);
      return Promise.resolve(hashes.map(shown)) as never;
    };
    const one = async (): Promise<void> => {
      const context: Judging = {
        pool: { onAnother: () => Promise.resolve(null) } as unknown as RpcPool,
        node: { ...node, batch },
        network: networkOf(CHAIN),
        watch,
        memory: new Memory(),
        now: 0,
        waitsSince: () => undefined,
      };
      await judge(context, hits, { order: (all) => firstByOwners(watch, all, 1_000), most: MOST });
    };
    expect(await longestTurn(one, TURN_MAX_MS)).toBeLessThan(TURN_MAX_MS);
    expect(asked.length % MOST).toBe(0);
  });
});
