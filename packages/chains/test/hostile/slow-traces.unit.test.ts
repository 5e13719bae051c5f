import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { type RpcCall, type RpcNode, type RpcPool, RpcUpstreamError } from '@pf/rpc';
import { type Hex, numberToHex, toHex } from 'viem';
import { encodePayment } from '../../src/base/calldata.ts';
import { TRANSFER } from '../../src/base/observe/landings.ts';
import { BaseObserver } from '../../src/base/observer.ts';
import { networkOf } from '../../src/index.ts';
import { Clock } from '../base/chain.ts';
import { CHAIN, terms } from '../base/payments.ts';
import { named, Watcher } from '../conformance/watching.ts';
import { type At, logAt, type Shown, topic } from './base.ts';
import { honest, ScriptedChain } from './scripted-chain.ts';

/** Of each trace, in ms. */
const TRACE_MS = 500;
const STEP_MAX_MS = 1_600;
const CROWD = 16;
const STRANGER: Hex = `0x${'5b'.repeat(20)}`;

/** A transfer of a contract whose calldata names an intent: only a trace can say what it is for. */
const slow =
  (payer: number) =>
  (at: At): Shown => {
    const wallet = toHex(0x0bad_0000 + payer, { size: 20 });
    const topics = [TRANSFER, topic(wallet), topic(terms.requestor)];
    const logs = [logAt(at, payer, terms.tokenAddress, topics, toHex(terms.amount, { size: 32 }))];
    const payment = encodePayment(terms.requestor, terms.amount, terms.reference);
    const sent = { from: STRANGER, to: wallet };
    const { hash, block, blockHash } = at;
    return {
      logs,
      transaction: {
        ...sent,
        hash,
        type: '0x2',
        nonce: '0x1',
        gas: '0x30d40',
        value: '0x0',
        input: `0x6a761202${payment.slice(2)}`,
        blockHash,
      },
      receipt: { ...sent, transactionHash: hash, status: '0x1', blockNumber: numberToHex(block), blockHash, logs },
      trace: new Error('no state for this block'),
    };
  };

describe('a payment beside transactions that take half a second to trace', () => {
  afterEach(() => void jest.restoreAllMocks());

  it('is confirmed in its usual time, by short steps, however many of them come in each block', async () => {
    let passed = 0;
    const began = performance.now();
    jest.spyOn(performance, 'now').mockImplementation(() => began + passed);
    const chain = new ScriptedChain();
    const call = async <T>({ method, params, parse }: RpcCall<T>): Promise<T> => {
      if (method === 'debug_traceTransaction') {
        const end = passed + TRACE_MS;
        await setImmediate();
        passed = Math.max(passed, end);
      }
      const result = chain.respond?.({ method, params: [...params] } as never);
      if (result instanceof Error) throw new RpcUpstreamError(result.message, 'no', undefined, 'rpc');
      return parse(result);
    };
    const node: RpcNode = {
      name: 'node.example',
      plan: {},
      callsIn: () => Number.POSITIVE_INFINITY,
      call,
      batch: (calls) => Promise.all(calls.map((one) => call(one))) as never,
    };
    const pool = {
      size: 1,
      run: (work: (by: RpcNode) => Promise<unknown>) => work(node),
      onAnother: () => Promise.resolve(null),
      async *attempts(work: (by: RpcNode) => Promise<unknown>) {
        yield { kind: 'completed', value: await work(node) };
      },
    } as unknown as RpcPool;
    const clock = new Clock();
    const watcher = new Watcher(new BaseObserver(networkOf(CHAIN), pool, clock.now));
    watcher.watched.add('pi_paid', terms);
    await watcher.stepOnce();

    const told: string[] = [];
    const took: number[] = [];
    for (let step = 0; step < 4; step += 1) {
      chain.mine(
        ...Array.from({ length: CROWD }, (_, payer) => slow(step * CROWD + payer)),
        ...(step === 1 ? [honest(terms)] : []),
      );
      const before = passed;
      const { observations } = await watcher.stepOnce();
      took.push(passed - before);
      told.push(...named(observations).map((what) => `${step} ${what}`));
      clock.pass(2_000);
    }
    expect(told).toContain('2 landed confirmed');
    expect(Math.max(...took)).toBeLessThan(STEP_MAX_MS);
    // Some are traced all the same: of those that are new, and of those that wait.
    expect(took.slice(1)).toEqual([3 * TRACE_MS, 3 * TRACE_MS, 3 * TRACE_MS]);
  });
});
