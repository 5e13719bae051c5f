import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { IntentId } from '@pf/domain';
import { RpcBehindError, type RpcNode, type RpcPool } from '@pf/rpc';
import {
  confirmArrivals,
  finalizeArrivals,
  orphanArrivals,
  paidArrivals,
  secondOf,
} from '../../../src/base/observe/arrivals.ts';
import type { Scan } from '../../../src/base/observe/context.ts';
import { Memory } from '../../../src/base/observe/memory.ts';
import type { Seen } from '../../../src/base/observe/position.ts';
import type { Sighting } from '../../../src/base/observe/sighting.ts';
import { Sightings } from '../../../src/base/observe/sightings.ts';
import type { Log } from '../../../src/evm/calls.ts';
import { networkOf } from '../../../src/index.ts';
import { Watched } from '../../conformance/watching.ts';
import { poolBesideAway, WAYS_TO_BE_AWAY } from '../../second-away.ts';
import { CHAIN, fulfiller, terms } from '../payments.ts';
import { blockHashOf, depositOf, hashOf, logAt, sighting } from './arriving.ts';

let watch: Watched;
beforeEach(() => {
  watch = new Watched();
  watch.add('pi_1', terms);
  watch.own(terms.requestor, 'acc_1');
});
afterEach(() => void jest.restoreAllMocks());
const keep = (one: Sighting) => {
  const deposit = depositOf(one);
  watch.deposits.set(deposit.id, deposit);
  return deposit.id;
};

interface Chain {
  /** The newest block that it has. */
  readonly head: bigint;
  /** From this block on it has others. */
  readonly forkedAt?: bigint;
  /** What its receipts show, by the hash of their transaction; without: that of logAt. */
  readonly logs?: readonly Log[];
}
/** A node with blocks up to its head, and the receipts of logAt(block, 0). */
const nodeOf = ({ head, forkedAt = head + 1n, logs }: Chain): RpcNode =>
  ({
    name: 'node.example',
    plan: {},
    callsIn: () => Number.POSITIVE_INFINITY,
    batch: async (calls: readonly { readonly method: string; readonly params: readonly unknown[] }[]) =>
      calls.map(({ method, params: [of] }) => {
        if (method === 'eth_getBlockByNumber') {
          const number = BigInt(String(of));
          const hash = number < forkedAt ? blockHashOf(number) : `0xf${number}`;
          return number > head ? null : { number, hash, timestamp: number };
        }
        const logged = logs?.filter(({ transactionHash }) => transactionHash === of);
        return logged === undefined ? null : { blockHash: logged[0]?.blockHash, logs: logged };
      }),
  }) as unknown as RpcNode;

/** What logAt(block, 0) makes of it. */
const arrivedIn = (block: bigint, change: Partial<Sighting> = {}): Sighting =>
  sighting(Number(block * 1_000n), { block, blockHash: blockHashOf(block), ...change });

describe('Confirming arrivals', () => {
  const confirm = (node: RpcNode, waiting: readonly Sighting[], now = 2_000) => {
    const sightings = new Sightings(watch, waiting);
    return confirmArrivals({ node, network: networkOf(CHAIN), now }, waiting, (one) => sightings.unheardBy(one));
  };

  it('reports what is still there after two seconds, with its block time, and waits for the ledger', async () => {
    const one = arrivedIn(100n);
    expect(await confirm(nodeOf({ head: 100n }), [one], 1_999)).toEqual({ deposits: [], sightings: [one] });
    const { deposits, sightings } = await confirm(nodeOf({ head: 100n }), [one]);
    expect(deposits).toMatchObject([{ type: 'deposit_landed', data: { arrival: { hash: one.hash, at: 100_000 } } }]);
    expect(sightings).toEqual([{ ...one, reported: true, seenAt: 2_000 }]);
  });

  it('forgets what is in another block now, and waits for a lagging node', async () => {
    const one = arrivedIn(100n);
    expect(await confirm(nodeOf({ head: 100n, forkedAt: 100n }), [one])).toEqual({ deposits: [], sightings: [] });
    expect(await confirm(nodeOf({ head: 99n }), [one])).toEqual({ deposits: [], sightings: [one] });
  });

  it('reads no more blocks than a step may, and reports all that they have', async () => {
    const node = { ...nodeOf({ head: 101n }), callsIn: () => 1 };
    const waiting = [arrivedIn(100n), arrivedIn(101n), sighting(7, { blockHash: blockHashOf(100n) })];
    const { deposits, sightings } = await confirm(node, waiting);
    expect(deposits).toHaveLength(2);
    expect(sightings.filter(({ reported }) => !reported)).toEqual([waiting[1]]);
  });
});

describe('Arrivals after a reorg', () => {
  it('are lost where the ledger has them, or was told of them, and else forgotten', async () => {
    const below = arrivedIn(98n);
    const id = keep(arrivedIn(100n));
    keep(below);
    const [waiting, reported] = [arrivedIn(101n), arrivedIn(102n, { reported: true })];
    const { deposits, sightings } = await orphanArrivals(
      { node: nodeOf({ head: 102n, forkedAt: 99n }), watch },
      [below, waiting, reported],
      98n,
      102n,
    );
    expect(deposits.map(({ type, depositId }) => [type, depositId])).toEqual([
      ['deposit_lost', id],
      ['deposit_lost', depositOf(reported).id],
    ]);
    expect(sightings).toEqual([below]);
  });

  it('are kept where their block stands, and where it is above a shorter fork', async () => {
    const kept = [arrivedIn(99n), arrivedIn(101n)];
    const node = nodeOf({ head: 100n, forkedAt: 100n });
    expect(await orphanArrivals({ node, watch }, kept, 98n, 100n)).toEqual({ deposits: [], sightings: kept });
  });

  it('are not concluded from a lagging node', async () => {
    const lagging = orphanArrivals({ node: nodeOf({ head: 99n }), watch }, [arrivedIn(100n)], 98n, 101n);
    await expect(lagging).rejects.toThrow(RpcBehindError);
  });
});

describe('Arrivals that turn out to pay an intent', () => {
  const landingOf = ({ from, ...one }: Sighting): Seen => ({
    kind: 'landed',
    intentId: 'pi_1' as IntentId,
    hash: one.hash,
    transfer: { ...one, from: from ?? fulfiller, reference: terms.reference },
    seenAt: 0,
    reported: false,
  });
  const withdrawnBy = (...all: Parameters<typeof paidArrivals>) =>
    paidArrivals(...all).map(({ type, depositId, data }) => [type, depositId, 'intentId' in data && data.intentId]);

  it('are withdrawn where they are open, with the intent', () => {
    const [open, other] = [sighting(1), sighting(2)];
    const id = keep(open);
    keep(other);
    expect(withdrawnBy(watch, [landingOf(open)], [])).toEqual([['deposit_withdrawn', id, 'pi_1']]);
    const elsewhere = landingOf({ ...open, blockHash: blockHashOf(99n) });
    expect(withdrawnBy(watch, [elsewhere], [])).toEqual([]);
  });

  it('are withdrawn where they may be final, if no first reading of their block has found the payment', () => {
    const final = sighting(1);
    expect(withdrawnBy(watch, [landingOf(final)], [])).toEqual([]);
    expect(withdrawnBy(watch, [landingOf(final)], [landingOf(final)])).toEqual([
      ['deposit_withdrawn', depositOf(final).id, 'pi_1'],
    ]);
  });
});

describe('A deposit in a final block', () => {
  const one = arrivedIn(100n);
  const shown = logAt(100n, 0n);
  const node = nodeOf({ head: 110n, logs: [shown] });
  let memory: Memory;
  let asked: number;
  beforeEach(() => {
    memory = new Memory();
    asked = 0;
  });
  const finals = (others: readonly RpcNode[] | null, { now = 0, of = node } = {}, over?: RpcPool) => {
    const pool = {
      size: others === null ? 1 : 2,
      doubleCheck: (_node: RpcNode, _first: string | null, work: (by: RpcNode) => Promise<unknown>) => {
        asked += 1;
        return Promise.all([of, ...(others ?? [])].map(work));
      },
    } as unknown as RpcPool;
    const network = networkOf(CHAIN);
    const context: Scan = { pool: over ?? pool, node: of, network, watch, memory, now, waitsSince: () => undefined };
    return finalizeArrivals(context, 100n);
  };

  it('is final once two upstreams show it in its block, and told once', async () => {
    const id = keep(one);
    expect((await finals([node])).deposits).toMatchObject([{ depositId: id, data: { level: 'finalized' } }]);
    expect((await finals([node])).deposits).toEqual([]);
    expect(asked).toBe(1);
  });

  it('is final by the only upstream that there is', async () => {
    keep(one);
    expect((await finals(null)).deposits).toMatchObject([{ data: { level: 'finalized' } }]);
    expect(asked).toBe(0);
  });

  it.each<[string, readonly Log[] | undefined]>([
    ['no receipt', undefined],
    ['a receipt of another block', [{ ...shown, blockHash: blockHashOf(99n) }]],
    ['another place of the log', [{ ...shown, logIndex: 4n }]],
    ['another amount', [{ ...shown, data: logAt(1n, 0n).data.replace(/5$/, '4') }]],
    ['another sender', [{ ...shown, topics: [shown.topics[0] ?? '', shown.topics[2] ?? '', shown.topics[2] ?? ''] }]],
    ['another contract', [{ ...shown, address: terms.requestor }]],
  ])('is not final while the second upstream shows %s, and waits longer and longer', async (_what, logs) => {
    keep(one);
    const second = nodeOf({ head: 110n, ...(logs !== undefined && { logs }) });
    expect((await finals([second])).deposits).toEqual([]);
    expect((await finals([second], { now: 1_000 })).deposits).toEqual([]);
    expect(asked).toBe(1);
    expect((await finals([node], { now: 2_000 })).deposits).toHaveLength(1);
  });

  it('tells the operator when no second upstream has shown it for a minute', async () => {
    keep(one);
    const warnings: string[] = [];
    for (let now = 0; now < 200_000; now += 2_000)
      warnings.push(...(await finals([nodeOf({ head: 110n })], { now })).warnings);
    expect(warnings[0]).toBe(
      `${hashOf(100_000)} is final at node.example, and no second upstream shows it in its block`,
    );
  });

  it.each(WAYS_TO_BE_AWAY)('is not final by one, however long the second upstream is %s', async (way) => {
    keep(one);
    const pool = poolBesideAway({ name: 'node.example' }, way);
    const clock = jest.spyOn(performance, 'now');
    const began = performance.now();
    for (const now of [0, 660_000]) {
      clock.mockReturnValue(began + now);
      expect(await finals([], { now }, pool)).toEqual({ deposits: [], warnings: [], hasMore: false });
    }
    await pool.close();
    const [open] = watch.openDeposits();
    if (open === undefined) throw new Error('it is open');
    expect(memory.unshown.longAmong(() => [secondOf(open)], 660_000)).toBe(1);
  });

  it('is lost where its block is another one', async () => {
    const id = keep(one);
    const forked = nodeOf({ head: 110n, forkedAt: 100n });
    expect((await finals([node], { of: forked })).deposits).toMatchObject([{ type: 'deposit_lost', depositId: id }]);
  });

  it('waits for its block to be final, and for a lagging node', async () => {
    keep(arrivedIn(101n));
    expect((await finals([node])).deposits).toEqual([]);
    watch.deposits.clear();
    keep(one);
    expect((await finals([node], { of: nodeOf({ head: 99n }) })).deposits).toEqual([]);
  });
});
