import { beforeEach, describe, expect, it } from '@jest/globals';
import type { TransactionHash } from '@pf/domain';
import type { RpcNode, RpcPool } from '@pf/rpc';
import { LRUCache } from 'lru-cache';
import type { Block } from '../../../src/evm/calls.ts';
import { LogWindow } from '../../../src/evm/observe/log-window.ts';
import { ReceiptSchedule } from '../../../src/evm/observe/receipt-schedule.ts';
import { duePendingOutcomes, readPendingOutcomes } from '../../../src/tempo/observe/pending-outcomes.ts';
import { ProofBlocks } from '../../../src/tempo/observe/proof-blocks.ts';
import type { Scan } from '../../../src/tempo/observe/scan.ts';
import { Watched } from '../../conformance/watching.ts';
import { network, terms } from '../payments.ts';

const HASH = `0x${'ab'.repeat(32)}` as TransactionHash;
const VALID_BEFORE = 1_000n;
const hashOf = (number: bigint): string => `0x${number.toString(16).padStart(64, '0')}`;
const blockAt = (number: bigint): Block => ({
  number,
  hash: hashOf(number),
  parentHash: hashOf(number - 1n),
  timestamp: VALID_BEFORE + number,
  baseFeePerGas: 0n,
});

/** A node that has the blocks up to this one, and no receipts. */
const nodeAt = (head: bigint): RpcNode => ({
  name: `node at ${head}`,
  plan: {},
  callsIn: () => Number.POSITIVE_INFINITY,
  call: () => Promise.reject(new Error('only batches')),
  batch: (calls) =>
    Promise.resolve(
      calls.map(({ method, params }) => {
        const number = method === 'eth_getBlockByNumber' ? BigInt(String(params[0])) : null;
        return number === null || number > head ? null : blockAt(number);
      }),
    ) as never,
});

describe('an expired transaction on Tempo', () => {
  let context: Omit<Scan, 'node' | 'pool'>;
  const schedule = new ReceiptSchedule();
  beforeEach(() => {
    const watch = new Watched();
    watch.add('pi_test', terms);
    const lifetime = { kind: 'time', validBefore: VALID_BEFORE } as const;
    watch.submit({ hash: HASH, sender: terms.requestor, nonce: null, lifetime, terms }, 0);
    context = {
      network,
      watch,
      window: new LogWindow(),
      receipts: new LRUCache({ max: 1 }),
      proven: new LRUCache({ max: 1 }),
      proofBlocks: new ProofBlocks(),
      aside: new Set(),
    };
  });

  /** What a step at this final block observes, beside an upstream that is so many blocks behind. */
  async function stepAt(final: bigint, behind: bigint, now: number): Promise<readonly string[]> {
    const nodes = [nodeAt(final), nodeAt(final - behind)] as const;
    const pool = {
      onAnother: () => Promise.resolve(null),
      onAll: async (work: (node: RpcNode) => Promise<unknown>) => ({
        responses: await Promise.all(nodes.map(work)),
        conclusive: true,
      }),
    } as unknown as RpcPool;
    const scan: Scan = { ...context, node: nodes[0], pool };
    const due = duePendingOutcomes(scan, schedule, blockAt(final), now);
    const { found } = await readPendingOutcomes(scan, schedule, due, blockAt(final), now);
    return found.map(({ type }) => type);
  }

  it('is dropped where every upstream has the final block and no receipt', async () => {
    expect(await stepAt(7n, 0n, 0)).toEqual(['dropped']);
  });

  it('is not dropped while it is set aside, as it has logged a payment whose receipt may be pruned', async () => {
    context = { ...context, aside: new Set([HASH]) };
    expect(await stepAt(7n, 0n, 0)).toEqual([]);
  });

  it('is dropped although an upstream is always a block behind', async () => {
    expect(await stepAt(7n, 1n, 0)).toEqual([]);
    expect(await stepAt(8n, 1n, 500)).toEqual(['dropped']);
  });

  it('is not dropped by an upstream that has not come to the block', async () => {
    expect(await stepAt(7n, 5n, 0)).toEqual([]);
    expect(await stepAt(11n, 5n, 500)).toEqual([]);
    expect(await stepAt(12n, 5n, 1_000)).toEqual(['dropped']);
  });
});
