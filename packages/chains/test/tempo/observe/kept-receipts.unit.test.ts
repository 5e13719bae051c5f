import { describe, expect, it } from '@jest/globals';
import type { TransactionHash } from '@pf/domain';
import type { RpcPool } from '@pf/rpc';
import { LRUCache } from 'lru-cache';
import { toHex } from 'viem';
import type { Log, Receipt } from '../../../src/evm/calls.ts';
import { RECEIPTS_MAX_BYTES, receiptsKept } from '../../../src/tempo/observe/receipts.ts';
import { scan, type Scan } from '../../../src/tempo/observe/scan.ts';
import { Watched } from '../../conformance/watching.ts';
import { respondingNode } from '../../nodes.ts';
import { type Event, from, place, transfer, withMemo } from '../logged.ts';
import { network, terms } from '../payments.ts';

/** In one block: more than a step reads, and fewer than are passed. */
const PAYMENTS = 300;
/** What a stranger has made a log of, each time. The memory has it once. */
const LONG = `0x${'00'.repeat(500_000)}`;
const block = { number: place.blockNumber, hash: place.blockHash, timestamp: 1_795_000_000n };
const hashOf = (payment: number): TransactionHash => toHex(payment + 1, { size: 32 }) as TransactionHash;
const long: Event = { ...transfer(from, terms.requestor), data: LONG };
const receiptOf = (payment: number): Receipt => {
  const transactionHash = hashOf(payment);
  const events = [transfer(from, terms.requestor), withMemo(from, terms.requestor), long];
  const logs = events.map((event, index): Log => {
    const logIndex = BigInt(payment * events.length + index);
    return { ...event, ...place, transactionHash, logIndex, removed: false };
  });
  return { transactionHash, status: 1n, from: from, ...place, logs };
};
const receipts = new Map(Array.from({ length: PAYMENTS }, (_, payment) => [hashOf(payment), receiptOf(payment)]));

describe('the receipts that are kept between steps on Tempo', () => {
  it('have a bound of bytes, and payments of which they exceed it are read all the same', async () => {
    const node = respondingNode(({ method, params }) => {
      if (method !== 'eth_getTransactionReceipt') return { ...block, number: block.number - 1n };
      return receipts.get((params as readonly TransactionHash[])[0] as TransactionHash) ?? null;
    });
    const watch = new Watched();
    watch.add('pi_1', terms);
    const kept = receiptsKept();
    const context = {
      node,
      pool: { size: 1 } as unknown as RpcPool,
      network,
      watch,
      window: {
        read: async () => ({ logs: [...receipts.values()].flatMap(({ logs }) => logs.slice(0, 2)), end: block }),
      },
      receipts: kept,
      proven: new LRUCache({ max: 1 }),
      aside: new Set(),
    } as unknown as Scan;
    const found = new Set<string>();
    let end = block.number - 1n;
    let steps = 0;
    for (; end < block.number && steps < 10; steps += 1) {
      const reading = await scan(context, block.number, block.number, null);
      for (const { data } of reading.found) found.add(data.hash);
      for (const { hash } of reading.unjudged) found.add(hash);
      end = reading.end.number;
      expect(kept.calculatedSize).toBeLessThanOrEqual(RECEIPTS_MAX_BYTES);
    }
    expect(end).toBe(block.number);
    expect(found.size).toBe(PAYMENTS);
    expect(steps).toBeLessThanOrEqual(2);
  });
});
