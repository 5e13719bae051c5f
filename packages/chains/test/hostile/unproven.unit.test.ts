import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Reference, TransactionHash } from '@pf/domain';
import type { RpcPool } from '@pf/rpc';
import { type RpcProxy, startRpcProxy } from '@pf/testing/chains';
import { type Hex, numberToHex, toHex } from 'viem';
import { encodePayment } from '../../src/base/calldata.ts';
import { TRANSFER } from '../../src/base/observe/landings.ts';
import { BaseObserver } from '../../src/base/observer.ts';
import { networkOf, rewindCursor } from '../../src/index.ts';
import { Clock, poolOver } from '../base/chain.ts';
import { CHAIN, terms } from '../base/payments.ts';
import { Watcher } from '../conformance/watching.ts';
import { type At, logAt, type Shown, topic } from './base.ts';
import { ScriptedChain } from './scripted-chain.ts';

const WALLET: Hex = `0x${'5a'.repeat(20)}`;
const CALLER: Hex = `0x${'ba'.repeat(20)}`;
const ofIntent = (name: number) => ({ ...terms, reference: toHex(name, { size: 32 }) as Reference });
const [own, stranger] = [ofIntent(0xb), ofIntent(0xa)];
const callOf = ({ requestor, amount, reference }: typeof own): Hex =>
  encodePayment(requestor, amount, reference) as Hex;

/** The wallet of a payer pays its intent by what it was told before. Whoever calls it chooses the calldata. */
describe('a payment through a contract, while no upstream has its trace', () => {
  let chain: ScriptedChain;
  let proxy: RpcProxy;
  let pool: RpcPool;
  let clock: Clock;
  let watcher: Watcher;
  beforeEach(async () => {
    chain = new ScriptedChain();
    proxy = await startRpcProxy('');
    proxy.respond = chain.respond;
    pool = poolOver([proxy.url]);
    clock = new Clock();
    watcher = new Watcher(new BaseObserver(networkOf(CHAIN), pool, clock.now));
    watcher.watched.add('pi_own', own);
    watcher.watched.add('pi_stranger', stranger);
    await watcher.step();
  });
  afterEach(async () => {
    await pool.close();
    await proxy.stop();
  });

  const shown = ({ hash, block, blockHash }: At, named: readonly (typeof own)[], isTraced: boolean): Shown => {
    const at = { hash, block, blockHash };
    const data = toHex(own.amount, { size: 32 });
    const logs = [logAt(at, 0, own.tokenAddress, [TRANSFER, topic(WALLET), topic(own.requestor)], data)];
    const input = `0x6a761202${named.map((one) => callOf(one).slice(2)).join('')}`;
    const sent = { from: CALLER, to: WALLET };
    const call = { type: 'CALL', from: WALLET, to: own.tokenAddress, input: callOf(own), logs };
    return {
      logs,
      transaction: { ...sent, hash, type: '0x2', nonce: '0x1', gas: '0x30d40', value: '0x0', input, blockHash },
      receipt: { ...sent, transactionHash: hash, status: '0x1', blockNumber: numberToHex(block), blockHash, logs },
      trace: isTraced ? { type: 'CALL', ...sent, input, calls: [call] } : new Error('no state for this block'),
    };
  };
  /** What is observed in so many steps. */
  async function observed(steps: number, ms: number): Promise<readonly string[]> {
    const told: string[] = [];
    for (let step = 0; step < steps; step += 1) {
      for (const { intentId, type, data } of await watcher.step())
        if ('level' in data)
          told.push(`${intentId} ${data.transfer.reference === own.reference ? 'paid' : 'unproven'} ${data.level}`);
        else told.push(`${intentId} ${type}`);
      clock.pass(ms);
      chain.mine();
    }
    return told;
  }
  /** Puts it into a block. @returns what shows its trace from then on */
  function mined(...named: readonly (typeof own)[]): { readonly hash: TransactionHash; readonly trace: () => void } {
    let place: At | undefined;
    const [hash] = chain.mine((at) => {
      place = at;
      return shown(at, named, false);
    });
    if (hash === undefined || place === undefined) throw new Error('it is in a block');
    const at = place;
    return { hash: hash as TransactionHash, trace: () => chain.change(hash, shown(at, named, true)) };
  }
  /** What is observed for 90 s without a trace, and then for 200 s with it. */
  async function toldOf(...named: readonly (typeof own)[]): Promise<readonly (readonly string[])[]> {
    const { trace } = mined(...named);
    const before = await observed(45, 2_000);
    trace();
    return [before, await observed(40, 5_000)];
  }
  const restart = (): Watcher => watcher.restart(new BaseObserver(networkOf(CHAIN), pool, clock.now));
  const paid = ['pi_own paid confirmed', 'pi_own paid finalized'];
  const once = (told: readonly string[]): readonly string[] => [...new Set(told)];

  it('is told for no intent while its calldata names several, and then for the one that it pays', async () => {
    const [before, after = []] = await toldOf(stranger, own);
    expect([before, once(after)]).toEqual([[], ['pi_stranger disproved', ...paid]]);
  });

  it('is told as no payment of the only one that its calldata names, once it pays another', async () => {
    const [before, after = []] = await toldOf(stranger);
    expect([before, once(after)]).toEqual([['pi_stranger unproven confirmed'], ['pi_stranger disproved', ...paid]]);
  });

  it('is told as no payment of it by a watcher that was started again', async () => {
    const { trace } = mined(stranger);
    expect(await observed(45, 2_000)).toEqual(['pi_stranger unproven confirmed']);
    watcher = restart();
    trace();
    expect(once(await observed(40, 5_000))).toEqual(['pi_stranger disproved', ...paid]);
  });

  it('is told as no payment of it where its blocks are read again after it was given up', async () => {
    const { hash, trace } = mined(stranger);
    expect(await observed(45, 2_000)).toEqual(['pi_stranger unproven confirmed']);
    clock.pass(25 * 3_600_000);
    expect(await observed(3, 2_000)).toEqual([]);
    expect(watcher.warnings.filter((one) => one.includes('is given up'))).toHaveLength(1);
    trace();
    const observer = new BaseObserver(networkOf(CHAIN), pool, clock.now);
    expect(await observer.judge(hash, watcher.watched)).toMatchObject([
      { type: 'disproved', intentId: 'pi_stranger' },
      { type: 'landed', intentId: 'pi_own' },
    ]);
    watcher = restart();
    watcher.moveCursor((cursor) => rewindCursor(networkOf(CHAIN), cursor, 1n));
    expect(once(await observed(40, 5_000))).toEqual(['pi_stranger disproved', ...paid]);
  });

  it('is not told for it once more where its blocks are read again soon', async () => {
    const { trace } = mined(stranger);
    expect(await observed(45, 2_000)).toEqual(['pi_stranger unproven confirmed']);
    trace();
    watcher.moveCursor((cursor) => rewindCursor(networkOf(CHAIN), cursor, 1n));
    expect(once(await observed(40, 5_000))).toEqual(['pi_stranger disproved', ...paid]);
  });

  it('is told for the first that its calldata names where no trace comes for half a day', async () => {
    chain.mine((at) => shown(at, [stranger, own], false));
    expect(await observed(45, 2_000)).toEqual([]);
    clock.pass(12 * 3_600_000);
    expect(await observed(5, 2_000)).toEqual(['pi_stranger unproven confirmed']);
  });

  it('is told as unproven for the only one that its calldata names', async () => {
    const [before] = await toldOf(own);
    expect(before).toEqual(['pi_own unproven confirmed']);
  });
});
