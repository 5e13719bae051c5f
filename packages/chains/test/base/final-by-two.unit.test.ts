import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { IntentId, Reference, TransactionHash, Transfer } from '@pf/domain';
import { type RpcCall, type RpcNode, type RpcPool, RpcUpstreamError } from '@pf/rpc';
import { pad, toHex } from 'viem';
import { encodePayment } from '../../src/base/calldata.ts';
import type { Scan } from '../../src/base/observe/context.ts';
import { TRANSFER } from '../../src/base/observe/landings.ts';
import { Memory } from '../../src/base/observe/memory.ts';
import { finalize } from '../../src/base/observe/settlements.ts';
import { networkOf } from '../../src/index.ts';
import { Watched } from '../conformance/watching.ts';
import { respondingNode } from '../nodes.ts';
import { poolBesideAway, WAYS_TO_BE_AWAY } from '../second-away.ts';
import { CHAIN, fulfiller, terms } from './payments.ts';

const HASH = `0x${'ab'.repeat(32)}` as TransactionHash;
const BLOCK = `0x${'bb'.repeat(32)}`;
const transfer: Transfer = {
  tokenAddress: terms.tokenAddress,
  from: fulfiller,
  to: terms.requestor,
  amount: terms.amount,
  reference: terms.reference,
  block: 100n,
  blockHash: BLOCK,
  index: '3',
};
const topic = (address: string) => pad(address.toLowerCase() as `0x${string}`);
const log = {
  address: terms.tokenAddress,
  topics: [TRANSFER, topic(fulfiller), topic(terms.requestor)],
  data: toHex(terms.amount, { size: 32 }),
  blockNumber: '0x64',
  blockHash: BLOCK,
  transactionHash: HASH,
  logIndex: '0x3',
};
const receipt = {
  transactionHash: HASH,
  status: '0x1',
  blockNumber: '0x64',
  blockHash: BLOCK,
  from: fulfiller,
  to: terms.tokenAddress,
  logs: [log],
};

const calling = (reference: Reference) => ({
  hash: HASH,
  from: fulfiller,
  to: terms.tokenAddress,
  nonce: '0x1',
  gas: '0xffff',
  input: encodePayment(terms.requestor, terms.amount, reference),
});
const OTHER = `0x${'02'.repeat(32)}` as Reference;
const transaction = calling(terms.reference);

/** What a node shows of it. */
interface Shown {
  readonly receipt: unknown;
  readonly transaction?: unknown;
  /** Of its block. */
  readonly logs?: readonly unknown[];
}
/** A node that shows this, and has the block. */
const nodeWith = ({ receipt: shown, transaction: sent = transaction, logs = [] }: Shown): RpcNode => {
  const respond = ({ method, parse }: RpcCall<unknown>): unknown => {
    if (method === 'eth_getTransactionReceipt') return parse(shown);
    if (method === 'eth_getLogs') return parse(logs);
    if (method.includes('trace')) throw new RpcUpstreamError(`no ${method} here`, 'no', undefined, 'unsupported');
    return method === 'eth_getTransactionByHash' ? parse(sent) : { number: 100n, hash: BLOCK };
  };
  return respondingNode(respond, 'node.example');
};

afterEach(() => void jest.restoreAllMocks());

describe('a settlement in a final block, with two upstreams', () => {
  let memory: Memory;
  let watch: Watched;
  let asked: number;
  beforeEach(() => {
    [memory, watch, asked] = [new Memory(), new Watched(), 0];
    watch.add('pi_1', terms);
    watch.apply({
      kind: 'observation',
      type: 'landed',
      intentId: 'pi_1' as IntentId,
      data: { hash: HASH, level: 'confirmed', transfer },
    });
  });
  /** @param shown by the second upstream; null: it may soon respond */
  const finals = (shown: Shown | null, now = 0) => {
    const pool = {
      size: 2,
      doubleCheck: async (_node: RpcNode, _first: string | null, work: (by: RpcNode) => Promise<unknown>) => {
        asked += 1;
        return shown && [await work(nodeWith(shown))];
      },
    } as unknown as RpcPool;
    return finalsOver(pool, now);
  };
  const finalsOver = (pool: RpcPool, now: number) => {
    const context: Scan = {
      pool,
      node: nodeWith({ receipt }),
      network: networkOf(CHAIN),
      watch,
      memory,
      now,
      waitsSince: () => undefined,
    };
    return finalize(context, 1_000n);
  };

  it('is final once the second one shows the same in the same block, and is asked for once', async () => {
    expect((await finals({ receipt })).observations).toMatchObject([{ data: { level: 'finalized' } }]);
    expect((await finals({ receipt })).observations).toEqual([]);
    expect(asked).toBe(1);
  });

  it.each<[string, unknown, unknown?]>([
    ['no receipt', null],
    ['a receipt of another block', { ...receipt, blockHash: `0x${'cc'.repeat(32)}` }],
    ['no such log', { ...receipt, logs: [] }],
    ['another place of the log', { ...receipt, logs: [{ ...log, logIndex: '0x4' }] }],
    ['another sender', { ...receipt, logs: [{ ...log, topics: [TRANSFER, topic(terms.requestor), log.topics[2]] }] }],
    ['less money', { ...receipt, logs: [{ ...log, data: toHex(terms.amount - 1n, { size: 32 }) }] }],
    ['another contract', { ...receipt, logs: [{ ...log, address: terms.requestor }] }],
    ['what is no receipt', { logs: 'many' }],
    ['another reference', receipt, calling(OTHER)],
    ['no transaction', receipt, null],
  ])('is not final while the second one shows %s', async (_what, receiptShown, sent = transaction) => {
    const shown = { receipt: receiptShown, transaction: sent };
    expect((await finals(shown)).observations).toEqual([]);
    expect(asked).toBe(1);
    // It is asked again after growing pauses.
    expect((await finals(shown, 1_999)).observations).toEqual([]);
    expect(asked).toBe(1);
    expect((await finals({ receipt }, 2_000)).observations).toMatchObject([{ data: { level: 'finalized' } }]);
  });

  it('is seen for the first time as the payment that the second one shows in its place', async () => {
    watch.add('pi_2', { ...terms, reference: OTHER });
    const { observations, seen } = await finals({ receipt, transaction: calling(OTHER) }, 5_000);
    expect(observations).toEqual([]);
    const instead = { ...transfer, reference: OTHER };
    expect(seen).toEqual([
      { kind: 'landed', intentId: 'pi_2', hash: HASH, transfer: instead, seenAt: 5_000, reported: false },
    ]);
  });

  it('is final where the receipt is too long to be read, and the logs of its block show the same', async () => {
    expect((await finals({ receipt: 'too long', logs: [log] })).observations).toHaveLength(1);
  });

  it('waits while the second one may soon respond', async () => {
    expect((await finals(null)).observations).toEqual([]);
    expect((await finals({ receipt }, 2_000)).observations).toHaveLength(1);
  });

  it.each(WAYS_TO_BE_AWAY)('is not final, however long the second one is %s, and counts as unshown', async (way) => {
    const pool = poolBesideAway({ name: 'node.example' }, way);
    const clock = jest.spyOn(performance, 'now');
    const name = `${HASH} ${BLOCK} 3 ${terms.reference}`;
    const unshown: number[] = [];
    const began = performance.now();
    for (const minutes of [0, 1, 11, 300]) {
      clock.mockReturnValue(began + minutes * 60_000);
      expect(await finalsOver(pool, minutes * 60_000)).toMatchObject({
        observations: [],
        warnings: [],
        hasMore: false,
      });
      unshown.push(memory.unshown.longAmong(() => [name], minutes * 60_000));
    }
    expect(unshown).toEqual([0, 1, 1, 1]);
    // A minute after it is back at the latest.
    expect((await finals({ receipt }, 301 * 60_000)).observations).toHaveLength(1);
    expect(memory.unshown.longAmong(() => [name], 301 * 60_000)).toBe(0);
    await pool.close();
  });

  it('is told of when the second one does not show it for a minute', async () => {
    const warnings: string[] = [];
    for (const now of [0, 2_000, 6_000, 14_000, 30_000, 62_000])
      warnings.push(...(await finals({ receipt: null }, now)).warnings);
    expect(warnings).toEqual([`${HASH} is final at node.example, and no second upstream shows it in its block`]);
  });

  it('is final where its account has gained less than was transferred', async () => {
    watch.add('pi_2', { ...terms, reference: OTHER });
    const more = { ...receipt, logs: [{ ...log, data: toHex(terms.amount + 1n, { size: 32 }) }] };
    expect((await finals({ receipt: more })).observations).toHaveLength(1);
  });

  it.each<[string, string, number]>([
    ['names the reference behind the transfer', transaction.input, 1],
    ['does not name it', calling(OTHER).input, 0],
  ])('has no trace at the second one, whose calldata %s', async (_what, input, finalized) => {
    watch.add('pi_2', { ...terms, reference: OTHER });
    const contract = `0x${'cd'.repeat(20)}`;
    const shown = { receipt: { ...receipt, to: contract }, transaction: { ...transaction, to: contract, input } };
    expect((await finals(shown)).observations).toHaveLength(finalized);
  });
});
