import { afterEach, expect, it, jest } from '@jest/globals';
import type { TransactionHash } from '@pf/domain';
import type { RpcNode, RpcPool } from '@pf/rpc';
import { LRUCache } from 'lru-cache';
import { keccak256, toHex, type Hex } from 'viem';
import type { Receipt } from '../../../src/evm/calls.ts';
import { paymentsIn } from '../../../src/tempo/observe/landings.ts';
import { type SecondShowing, verdictsOn } from '../../../src/tempo/observe/second-showing.ts';
import { poolBesideAway, WAYS_TO_BE_AWAY } from '../../second-away.ts';
import { network, terms, usdc } from '../payments.ts';

const HASH = `0x${'ab'.repeat(32)}` as TransactionHash;
const BLOCK = `0x${'bb'.repeat(32)}`;
const TRANSFER = keccak256(toHex('Transfer(address,address,uint256)'));
const WITH_MEMO = keccak256(toHex('TransferWithMemo(address,address,uint256,bytes32)'));
const word = (hex: string): Hex => `0x${hex.slice(2).padStart(64, '0')}`;
const parties = [word(`0x${'66'.repeat(20)}`), word(`0x${'77'.repeat(20)}`)];

/** The logs of one payment with this memo. */
const paymentOf = (first: number, memo: string, units: bigint): readonly object[] =>
  [
    [TRANSFER, ...parties],
    [WITH_MEMO, ...parties, memo],
  ].map((topics, place) => ({
    address: usdc,
    topics,
    data: word(toHex(units)),
    blockNumber: 5n,
    blockHash: BLOCK,
    transactionHash: HASH,
    logIndex: BigInt(first + place),
    removed: false,
  }));
const receiptOf = (logs: readonly object[]): Receipt =>
  ({ transactionHash: HASH, status: 1n, blockNumber: 5n, blockHash: BLOCK, logs }) as unknown as Receipt;
const shownByLiar = (receipt: Receipt) => ({ receipt, by: 'liar', recipient: terms.requestor });

afterEach(() => void jest.restoreAllMocks());

it('a second showing proves no other receipt of the same transaction', async () => {
  const small = paymentOf(0, `0x${'01'.repeat(32)}`, 5n);
  const truth = receiptOf(small);
  const lie = receiptOf([...small, ...paymentOf(2, `0x${'02'.repeat(32)}`, 1_000_000n)]);
  expect(paymentsIn(lie, network)).toHaveLength(2);
  let asked = 0;
  const honest = {
    name: 'honest',
    batch: (calls: readonly unknown[]) => {
      asked += 1;
      return Promise.resolve(calls.map(() => truth));
    },
  } as unknown as RpcNode;
  const pool = {
    size: 2,
    doubleCheck: async (_node: RpcNode, _first: string, work: (by: RpcNode) => unknown) => [await work(honest)],
  } as unknown as RpcPool;
  const context: SecondShowing = {
    node: { ...honest, name: 'liar' },
    pool,
    network,
    receipts: new LRUCache({ max: 1 }),
    proven: new LRUCache({ max: 1 }),
  };
  const verdictOn = async (receipt: Receipt) => (await verdictsOn(context, [shownByLiar(receipt)])).get(HASH);
  expect(await verdictOn(lie)).toBe('denied');
  expect(await verdictOn(truth)).toBe('same');
  expect(await verdictOn(lie)).toBe('denied');
  expect(asked).toBe(3);
  expect(await verdictOn(truth)).toBe('same');
  expect(asked).toBe(3);
});

it('a second showing that was read beside the steps is of another upstream than the first', async () => {
  const receipt = receiptOf(paymentOf(0, `0x${'01'.repeat(32)}`, 5n));
  const node = { name: 'liar' } as RpcNode;
  const pool = { size: 2, doubleCheck: () => Promise.resolve(null) } as unknown as RpcPool;
  const verdictBy = async (...names: readonly string[]): Promise<unknown> => {
    const context: SecondShowing = {
      node,
      pool,
      network,
      receipts: new LRUCache({ max: 1 }),
      proven: new LRUCache({ max: 1 }),
      seconds: {
        reads: { isKnown: () => false },
        come: new Map([[HASH, names.map((by) => ({ by, result: receipt, hasBlock: true }))]]),
        begin: () => undefined,
        hasTime: () => true,
        waited: () => undefined,
      },
    };
    return (await verdictsOn(context, [shownByLiar(receipt)])).get(HASH);
  };
  expect(await verdictBy('liar')).toBe('awaited');
  expect(await verdictBy('liar', 'honest')).toBe('same');
});

it.each(WAYS_TO_BE_AWAY)('a second showing is awaited however long the second upstream is %s', async (way) => {
  const receipt = receiptOf(paymentOf(0, `0x${'01'.repeat(32)}`, 5n));
  const node = {
    name: 'liar',
    batch: (calls: readonly unknown[]) => Promise.resolve(calls.map(() => receipt)),
  } as unknown as RpcNode;
  const pool = poolBesideAway(node, way);
  const proven = new LRUCache<TransactionHash, string>({ max: 1 });
  const context: SecondShowing = { node, pool, network, receipts: new LRUCache({ max: 1 }), proven };
  const clock = jest.spyOn(performance, 'now');
  const began = performance.now();
  for (const minutes of [0, 11]) {
    clock.mockReturnValue(began + minutes * 60_000);
    expect((await verdictsOn(context, [shownByLiar(receipt)])).get(HASH)).toBe('awaited');
  }
  await pool.close();
  expect(proven.size).toBe(0);
});
