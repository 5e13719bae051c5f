import { beforeEach, describe, expect, it } from '@jest/globals';
import type { TransactionHash } from '@pf/domain';
import type { RpcNode, RpcPool } from '@pf/rpc';
import { LRUCache } from 'lru-cache';
import type { Block } from '../../../src/evm/calls.ts';
import { LogWindow } from '../../../src/evm/observe/log-window.ts';
import { Absences } from '../../../src/evm/observe/absence.ts';
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

/** The same nodes, and how often they were asked for blocks, all together. */
function counted(...nodes: readonly [RpcNode, RpcNode]): readonly [readonly [RpcNode, RpcNode], () => number] {
  let sent = 0;
  for (const node of nodes) {
    const batch = node.batch.bind(node);
    node.batch = (calls) => {
      if (calls.some(({ method }) => method === 'eth_getBlockByNumber')) sent += 1;
      return batch(calls);
    };
  }
  return [nodes, () => sent];
}

describe('an expired transaction on Tempo', () => {
  let context: Omit<Scan, 'node' | 'pool'>;
  let watch: Watched;
  let schedule: ReceiptSchedule;
  function submit(id: string, hash: TransactionHash, of: typeof terms): void {
    watch.add(id, of);
    const lifetime = { kind: 'time', validBefore: VALID_BEFORE } as const;
    watch.submit({ hash, sender: terms.requestor, nonce: null, lifetime, terms: of }, 0);
  }
  beforeEach(() => {
    [watch, schedule] = [new Watched(), new ReceiptSchedule()];
    submit('pi_test', HASH, terms);
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

  function submitOthers(count: number): void {
    for (let n = 1; n <= count; n += 1) {
      const name = hashOf(BigInt(n));
      submit(`pi_${n}`, name as TransactionHash, { ...terms, reference: name as typeof terms.reference });
    }
  }
  /** What a step at this final block observes, beside an upstream that is so many blocks behind. */
  async function stepAt(
    final: bigint,
    behind: bigint,
    now: number,
    nodes: readonly [RpcNode, RpcNode] = [nodeAt(final), nodeAt(final - behind)],
  ): Promise<readonly string[]> {
    const pool = {
      onAnother: () => Promise.resolve(null),
      onAll: async (work: (node: RpcNode) => Promise<unknown>) => ({
        responses: await Promise.all(nodes.map(work)),
        conclusive: true,
      }),
    } as unknown as RpcPool;
    const scan: Scan = { ...context, node: nodes[0], pool };
    const due = duePendingOutcomes(scan, schedule, blockAt(final), now);
    const { found } = await readPendingOutcomes(
      scan,
      schedule,
      due,
      blockAt(final),
      now,
      new Absences(pool, () => now),
    );
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

  it('is dropped with 99 others by one look of every upstream, each at the block that was chosen for it', async () => {
    expect(await stepAt(7n, 1n, 0)).toEqual([]);
    submitOthers(99);
    const [nodes, looks] = counted(nodeAt(8n), nodeAt(7n));
    // The others are proven absent at block 8, which the second upstream does not have yet.
    expect(await stepAt(8n, 1n, 500, nodes)).toEqual(['dropped']);
    expect(await stepAt(9n, 1n, 1_000, [nodeAt(9n), nodeAt(8n)])).toHaveLength(100);
    expect(looks()).toBe(2);
  });

  it('waits for no proof of a hundred others that have expired', async () => {
    submitOthers(199);
    // The second upstream has none of these blocks. What a step asked for waits behind what it did not.
    expect(await stepAt(7n, 9n, 0)).toEqual([]);
    schedule.commit();
    const scan = { ...context, node: nodeAt(7n), pool: {} as RpcPool };
    const due = duePendingOutcomes(scan, schedule, blockAt(7n), 500);
    expect(due.map(({ submission: { hash } }) => hash)).toEqual(
      Array.from({ length: 100 }, (_, n) => hashOf(BigInt(n + 100))),
    );
  });
});
