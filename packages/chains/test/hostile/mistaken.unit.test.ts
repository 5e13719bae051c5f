import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Reference } from '@pf/domain';
import type { RpcPool } from '@pf/rpc';
import { type RpcProxy, startRpcProxy } from '@pf/testing/chains';
import { type Hex, numberToHex, toHex } from 'viem';
import { encodePayment } from '../../src/base/calldata.ts';
import { TRANSFER } from '../../src/base/observe/landings.ts';
import { BaseObserver } from '../../src/base/observer.ts';
import { networkOf } from '../../src/index.ts';
import { Clock, poolOver } from '../base/chain.ts';
import { CHAIN, terms } from '../base/payments.ts';
import { Watcher } from '../conformance/watching.ts';
import { type At, logAt, type Shown, topic } from './base.ts';
import { ScriptedChain } from './scripted-chain.ts';

const CALLER: Hex = `0x${'ba'.repeat(20)}`;
const ROUTER: Hex = `0x${'cd'.repeat(20)}`;
/** In the order in which the calldata names them. */
const NAMES = ['pi_x', 'pi_y', 'pi_z'] as const;
type Name = (typeof NAMES)[number];
const of = (name: Name) => ({ ...terms, reference: toHex(NAMES.indexOf(name) + 1, { size: 32 }) as Reference });
const callOf = (name: Name): Hex => encodePayment(terms.requestor, terms.amount, of(name).reference) as Hex;
/** Which intent each of three wallets has paid. */
const PAID: readonly Name[] = ['pi_z', 'pi_y', 'pi_x'];
const walletOf = (place: number): Hex => toHex(0x5a00 + place, { size: 20 });

describe('three equal transfers, of which an upstream has explained the first one', () => {
  let chain: ScriptedChain;
  let proxy: RpcProxy;
  let pool: RpcPool;
  let isWhole: boolean;
  beforeEach(async () => {
    [chain, isWhole] = [new ScriptedChain(), false];
    proxy = await startRpcProxy('');
    proxy.respond = (request) => (request.method === 'trace_filter' ? tokenCalls() : chain.respond(request));
    pool = poolOver([proxy.url]);
  });
  afterEach(async () => {
    await pool.close();
    await proxy.stop();
  });

  let hash: Hex | undefined;
  const tokenCalls = (): readonly object[] =>
    PAID.slice(0, isWhole ? 3 : 1).map((name, place) => ({
      type: 'call',
      action: { callType: 'call', from: walletOf(place), to: terms.tokenAddress, input: callOf(name) },
      transactionHash: hash,
    }));
  const shown = (at: At): Shown => {
    const { block, blockHash } = at;
    const data = toHex(terms.amount, { size: 32 });
    const logs = PAID.map((_, place) =>
      logAt(at, place, terms.tokenAddress, [TRANSFER, topic(walletOf(place)), topic(terms.requestor)], data),
    );
    const input = `0x6a761202${NAMES.map((name) => callOf(name).slice(2)).join('')}`;
    const sent = { from: CALLER, to: ROUTER };
    hash = at.hash;
    return {
      logs,
      transaction: { ...sent, hash, type: '0x2', nonce: '0x1', gas: '0x30d40', value: '0x0', input, blockHash },
      receipt: { ...sent, transactionHash: hash, status: '0x1', blockNumber: numberToHex(block), blockHash, logs },
      trace: new Error('no state for this block'),
    };
  };

  it('are each told as no payment of every intent that they were reported for', async () => {
    const clock = new Clock();
    const watcher = new Watcher(new BaseObserver(networkOf(CHAIN), pool, clock.now));
    for (const name of NAMES) watcher.watched.add(name, of(name));
    await watcher.step();
    const told = new Set<string>();
    const observe = async (steps: number): Promise<readonly string[]> => {
      told.clear();
      for (let step = 0; step < steps; step += 1) {
        for (const { intentId, type, data } of await watcher.step()) {
          const index = 'transfer' in data ? data.transfer.index : '';
          const reference = 'transfer' in data && 'reference' in data.transfer ? data.transfer.reference : null;
          const isOwn = reference === of(intentId as string as Name).reference;
          told.add(`${intentId} ${type === 'landed' ? (isOwn ? 'paid' : 'unproven') : type} by ${index}`);
        }
        clock.pass(5_000);
        chain.mine();
      }
      return [...told].toSorted();
    };
    chain.mine(shown);
    expect(await observe(5)).toEqual(['pi_z paid by 0']);
    clock.pass(12 * 3_600_000);
    expect(await observe(5)).toEqual(expect.arrayContaining(['pi_x unproven by 1', 'pi_y unproven by 2']));
    isWhole = true;
    clock.pass(600_000);
    expect(await observe(10)).toEqual(
      expect.arrayContaining(['pi_x disproved by 1', 'pi_x paid by 2', 'pi_y disproved by 2', 'pi_y paid by 1']),
    );
  });
});
