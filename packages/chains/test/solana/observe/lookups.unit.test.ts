import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Address, IntentId, Reference, TransactionHash } from '@pf/domain';
import { type RpcNode, type RpcPool, RpcRefusedError, RpcUpstreamError } from '@pf/rpc';
import { networkOf } from '../../../src/index.ts';
import { NOT_IN_TIME } from '../../../src/late-reads.ts';
import { readPendingOutcomes, readUnseen } from '../../../src/solana/observe/lookups.ts';
import { Memory } from '../../../src/solana/observe/memory.ts';
import type { PendingOutcome } from '../../../src/solana/observe/pending-outcomes.ts';
import { Watched } from '../../conformance/watching.ts';
import { noneLate } from '../late.ts';
import { DEVNET } from '../payments.ts';

const network = networkOf(DEVNET);
const HASH = 'listed' as TransactionHash;
const MINE = 'recipient' as Address;
const HASH_OF_MINE = 'mine' as TransactionHash;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const MANY = 100;
const STRANGE = { kind: 'strange', problem: 'its slot is no number' } as const;
const alone = { onAnother: () => Promise.resolve(null) } as unknown as RpcPool;

/** A node that responds so to every call. */
const nodeOf = (response: unknown, asked: unknown[] = []): RpcNode => ({
  name: 'node',
  plan: {},
  callsIn: () => Number.POSITIVE_INFINITY,
  call: () => Promise.reject(new Error('only batches')),
  batch: (calls) => {
    asked.push(...calls.map(({ params }) => params[0]));
    return Promise.resolve(calls.map(() => response)) as never;
  },
});

describe('a transaction that a list names', () => {
  let memory: Memory;
  beforeEach(() => {
    memory = new Memory();
    memory.unseen.set(HASH, { slot: 7n, since: 0, dueAt: 0, of: MINE });
  });
  let givenUp: number;
  async function read(node: RpcNode, now: number, most = MANY): Promise<readonly string[]> {
    const read = await readUnseen(alone, node, memory, network, new Watched(), now, most, noneLate());
    read.commit();
    ({ givenUp } = read);
    return read.warnings;
  }

  it('is asked for again while no node returns it, less and less often', async () => {
    const asked: unknown[] = [];
    const node = nodeOf(null, asked);
    for (const now of [0, 1_000, 1_100, 1_500, 1_600]) await read(node, now);
    expect(asked).toHaveLength(3);
    expect(memory.isAwaiting(3_000)).toBe(true);
    await read(node, 60 * MINUTE);
    expect(memory.unseen.get(HASH)?.dueAt).toBe(70 * MINUTE);
    expect(memory.isAwaiting(65 * MINUTE)).toBe(false);
  });

  it('holds the cursor below it, and is warned of after five minutes', async () => {
    expect(await read(nodeOf(null), 4 * MINUTE)).toEqual([]);
    expect(await read(nodeOf(null), 6 * MINUTE)).toEqual([
      'node lists listed but does not return it: it is asked for again',
    ]);
    expect(memory.readUpTo(100n)).toBe(6n);
    expect([memory.setAside(4 * MINUTE), memory.setAside(6 * MINUTE)]).toEqual([0, 1]);
  });

  it('is given up when no node has returned it for a day', async () => {
    expect(await read(nodeOf(null), DAY)).toEqual(['node lists listed but does not return it: it is skipped']);
    expect(givenUp).toBe(1);
    expect(memory.readUpTo(100n)).toBe(100n);
    expect(memory.looked.has(HASH)).toBe(true);
  });

  it('is set aside where its version is unknown, and given up after a day', async () => {
    const [of, refused] = [
      (code: number) => nodeOf(new RpcRefusedError('no', code, undefined)),
      (why: string) => [`node lists listed but does not return it: no: ${why}`],
    ];
    expect(await read(of(-32_602), 10 * MINUTE)).toEqual(refused('it is asked for again'));
    expect([memory.unseen.size, memory.setAside(10 * MINUTE)]).toEqual([1, 1]);
    expect(await read(of(-32_015), 20 * MINUTE)).toEqual([
      'solana-devnet: listed of slot 7 is set aside: node refuses it: no',
    ]);
    expect(await read(of(-32_015), 60 * MINUTE)).toEqual([]);
    expect([memory.unseen.size, memory.setAside(60 * MINUTE), givenUp]).toEqual([1, 1, 0]);
    expect(await read(of(-32_015), DAY)).toEqual(['solana-devnet: listed of slot 7 is given up: node refuses it: no']);
    expect(memory.unseen.size).toBe(0);
  });

  it('is asked of another upstream where what one shows cannot be judged', async () => {
    const other = nodeOf(null);
    const pool = {
      onAnother: (_than: RpcNode, work: (node: RpcNode) => Promise<unknown>) => work(other),
    } as unknown as RpcPool;
    const asked: unknown[] = [];
    const answering = nodeOf(null, asked);
    other.batch = (calls) => answering.batch(calls);
    const look = await readUnseen(pool, nodeOf({ slot: 'soon' }), memory, network, new Watched(), 0, MANY, noneLate());
    look.commit();
    expect(asked).toEqual([HASH]);
    expect(look.warnings).toEqual([
      expect.stringContaining('listed of slot 7 is set aside: of what node shows its slot'),
    ]);
    expect(memory.unseen.get(HASH)).toMatchObject({ dueAt: 1_000 });
  });

  it('is due as before where there was no time for it', async () => {
    const slow = nodeOf(null);
    const own = slow.batch.bind(slow);
    slow.batch = (calls) =>
      calls.length > 1 || calls[0]?.params[0] === HASH
        ? Promise.reject(new RpcUpstreamError('cut', 'maybe', undefined, 'malformed'))
        : own(calls);
    memory.unseen.set('other' as TransactionHash, { slot: 8n, since: 0, dueAt: 0, of: MINE });
    const began = performance.now();
    const passed = jest
      .spyOn(performance, 'now')
      .mockReturnValueOnce(began)
      .mockReturnValue(began + 10_000);
    const look = await readUnseen(alone, slow, memory, network, new Watched(), 6 * MINUTE, MANY, noneLate());
    passed.mockRestore();
    look.commit();
    expect(look.isBehind).toBe(true);
    expect(look.warnings).toEqual(['node lists listed but does not return it: cut: it is asked for again']);
    expect([...memory.unseen.values()].map(({ dueAt }) => dueAt)).toEqual([9 * MINUTE, 0]);
  });

  it('waits behind one of each other recipient, however many its own has', async () => {
    const asked: unknown[] = [];
    const list = (of: string, count: number, slot: bigint): void => {
      for (let n = 0; n < count; n += 1)
        memory.unseen.set(`${of} ${n}` as TransactionHash, { slot, since: 0, dueAt: 0, of: of as Address });
    };
    memory.unseen.clear();
    list('busy', 500, 1n);
    list('first', 2, 8n);
    list('second', 1, 9n);
    await read(nodeOf(null, asked), 0, 4);
    expect(asked).toEqual(['busy 0', 'first 0', 'second 0', 'busy 499']);
    // Whoever comes later has the next turn. What no node returned is due again.
    list('third', 1, 10n);
    asked.length = 0;
    await read(nodeOf(null, asked), 0, 2);
    expect(asked).toEqual(['third 0', 'busy 0']);
  });

  it('waits behind one of each other recipient, however many references of its own are named', async () => {
    const asked: unknown[] = [];
    memory.unseen.clear();
    const put = (name: string, of: string): void =>
      void memory.unseen.set(name as TransactionHash, {
        slot: 1n,
        since: 0,
        dueAt: 0,
        of: of as Address,
        reference: `of ${name}` as Reference,
      });
    for (let n = 0; n < 500; n += 1) put(`busy ${n}`, 'busy');
    put('other', 'other');
    await read(nodeOf(null, asked), 0, 3);
    expect(asked).toEqual(['busy 0', 'other', 'busy 1']);
  });

  it('takes turns with what names the same recipient’s account, where it was found by its reference', async () => {
    const asked: unknown[] = [];
    memory.unseen.clear();
    const put = (name: string, slot: bigint, reference?: string): void =>
      void memory.unseen.set(name as TransactionHash, {
        slot,
        since: 0,
        dueAt: 0,
        of: MINE,
        ...(reference !== undefined && { reference: reference as Reference }),
      });
    for (let n = 0; n < 500; n += 1) put(`spam ${n}`, BigInt(n));
    for (let n = 0; n < 500; n += 1) put(`first ${n}`, BigInt(n), 'of first');
    put('second', 501n, 'of second');
    await read(nodeOf({}, asked), 0, 5);
    expect(asked).toEqual(['first 0', 'second', 'spam 0', 'first 499', 'spam 499']);
    // One call a step: none is served again before the others.
    put('third', 502n, 'of third');
    asked.length = 0;
    for (let step = 0; step < 3; step += 1) await read(nodeOf({}, asked), 0, 1);
    expect(asked).toEqual(['third', 'first 1', 'spam 1']);
  });

  it('is given up before those of others where its recipient has the most that cannot be judged', async () => {
    memory.unseen.clear();
    const aside = { slot: 1n, since: 0, dueAt: 0, problem: 'odd' };
    for (let n = 0; n < 500; n += 1)
      memory.unseen.set(`busy ${n}` as TransactionHash, { ...aside, dueAt: DAY, of: 'busy' as Address });
    memory.unseen.set('one' as TransactionHash, { ...aside, of: 'other' as Address });
    expect(await read(nodeOf({}), 0)).toEqual([
      'solana-devnet: busy 499 of slot 1 is given up, as its account has too many that cannot be judged: odd',
    ]);
    expect([memory.setAside(0), givenUp, memory.unseen.has('one' as TransactionHash)]).toEqual([500, 1, true]);
  });

  it('is not given up for those of another account, however many recipients that has', async () => {
    const watch = new Watched();
    watch.own(MINE, 'acct_mine');
    memory.unseen.clear();
    const aside = { slot: 1n, since: 0, problem: 'odd' };
    const put = (name: string, of: string, more: object = {}): void =>
      void memory.unseen.set(name as TransactionHash, { ...aside, dueAt: DAY, of: of as Address, ...more });
    put('mine', MINE);
    for (let n = 0; n < 501; n += 1) {
      watch.own(`busy ${n}` as Address, 'acct_busy');
      put(`busy ${n}`, `busy ${n}`, n === 500 ? { problem: undefined, dueAt: 0 } : {});
    }
    const look = await readUnseen(alone, nodeOf({}), memory, network, watch, 0, MANY, noneLate());
    look.commit();
    expect([look.givenUp, memory.setAside(0), memory.unseen.has(HASH_OF_MINE)]).toEqual([2, 500, true]);
  });

  it('is not given up for a crowd that pays its recipient less', async () => {
    memory.unseen.clear();
    const aside = { slot: 1n, since: 0, dueAt: DAY, of: MINE, problem: 'odd' };
    for (let n = 0; n < 500; n += 1)
      memory.unseen.set(`dust ${n}` as TransactionHash, { ...aside, payer: `payer ${n}` as Address, amount: 1n });
    memory.unseen.set(HASH_OF_MINE, { ...aside, payer: 'customer' as Address, amount: 12_500_000n });
    memory.unseen.set(HASH, { slot: 2n, since: 0, dueAt: 0, of: MINE });
    await read(nodeOf({}), 0);
    expect([givenUp, memory.setAside(0), memory.unseen.has(HASH_OF_MINE)]).toEqual([2, 500, true]);
  });

  it('waits for its turn, the oldest first, where the rate of the upstream allows fewer in a step', async () => {
    const asked: unknown[] = [];
    memory.unseen.set('older' as TransactionHash, { slot: 3n, since: 0, dueAt: 0, of: MINE });
    await read(nodeOf(null, asked), 0, 1);
    expect(asked).toEqual(['older']);
  });

  it('is judged by what has come of it beside the steps, which comes once, beside what the step asks for', async () => {
    const asked: unknown[] = [];
    memory.unseen.set(HASH, { slot: 7n, since: 0, dueAt: MINUTE, of: MINE, problem: NOT_IN_TIME });
    memory.unseen.set('older' as TransactionHash, { slot: 3n, since: 0, dueAt: 0, of: 'other' as Address });
    const late = { ...noneLate(), come: new Map([[HASH, STRANGE]]) };
    const look = await readUnseen(alone, nodeOf(null, asked), memory, network, new Watched(), 0, 1, late);
    look.commit();
    expect([asked, memory.unseen.get(HASH)?.problem, look.isBehind]).toEqual([['older'], STRANGE.problem, false]);
    expect([memory.unseen.size, memory.unseen.get('older' as TransactionHash)?.problem]).toEqual([2, undefined]);
  });
});

describe('a submission that has landed', () => {
  const landed = (hash: string, requestor: string): PendingOutcome => ({
    kind: 'submitted',
    intentId: `pi_${hash}` as IntentId,
    requestor: requestor as Address,
    hash: hash as TransactionHash,
    since: 0,
    lastValid: 100n,
    ignoresRevert: false,
  });
  const crowd = Array.from({ length: 300 }, (_, n) => landed(`busy ${n}`, 'busy'));
  let memory: Memory;
  beforeEach(() => {
    memory = new Memory();
  });
  /** The transactions that a step asks for. */
  async function asked(of: readonly PendingOutcome[], most: number, response: unknown = null): Promise<unknown[]> {
    const all: unknown[] = [];
    const node = nodeOf(response, all);
    const watch = new Watched();
    const read = await readPendingOutcomes(alone, node, of, memory, network, watch, 9n, 0, most, noneLate());
    read.commit();
    return all;
  }

  it('is read beside 300 of another recipient, of which a step asks for what the rate allows', async () => {
    expect(await asked([...crowd, landed('mine', 'mine')], 4)).toEqual(['busy 0', 'mine', 'busy 1', 'busy 2']);
  });

  it('is one of 50 at most that a step asks for, whatever the rate', async () => {
    expect(await asked(crowd, Number.POSITIVE_INFINITY)).toHaveLength(50);
  });

  it('is asked for before those of its recipient that no node returned', async () => {
    const of = [...crowd.slice(0, 2), landed('mine', 'busy')];
    expect(await asked(of, 2)).toEqual(['busy 0', 'busy 1']);
    expect(await asked(of, 2)).toEqual(['mine', 'busy 0']);
    expect(await asked(of, 2)).toEqual(['busy 1', 'busy 0']);
  });

  it('takes no place of others while it is set aside', async () => {
    const of = [...crowd.slice(0, 2), landed('mine', 'busy')];
    expect(await asked(of, 2, { slot: 'soon' })).toEqual(['busy 0', 'busy 1']);
    expect(await asked(of, 2)).toEqual(['mine']);
  });

  it('ends by what has come of it beside the steps, which comes once, beside what the step asks for', async () => {
    const all: unknown[] = [];
    const mine = landed('mine', 'mine');
    memory.unseen.set(mine.hash, { slot: 7n, since: 0, dueAt: 1, of: mine.requestor });
    const late = { ...noneLate(), come: new Map([[mine.hash, STRANGE]]) };
    const of = [...crowd, mine];
    const read = await readPendingOutcomes(
      alone,
      nodeOf(null, all),
      of,
      memory,
      network,
      new Watched(),
      9n,
      0,
      2,
      late,
    );
    read.commit();
    expect([all, memory.unseen.get(mine.hash)?.problem]).toEqual([['busy 0', 'busy 1'], STRANGE.problem]);
  });
});
