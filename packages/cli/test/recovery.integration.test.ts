import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type DeadLetter, encodeDeadLetter, encodeInput, newIntentId } from '@pf/contracts';
import { createStore, UNSPLIT } from '@pf/database';
import type { ChainId, TransactionHash } from '@pf/domain';
import type { LogReader, Publisher } from '@pf/event-log';
import { type Cluster, startCluster } from '@pf/testing';
import { z } from 'zod';
import { type Pf, pfOn } from './pf-on.ts';

const CHAIN = 'eip155:84532' as ChainId;
const HASH = `0x${'ab'.repeat(32)}`;

describe('pf, after observations were lost', () => {
  let cluster: Cluster;
  let pf: Pf['run'];
  let closePf: Pf['close'];
  let publisher: Publisher;
  let reader: LogReader;
  beforeAll(async () => {
    cluster = await startCluster();
    ({ run: pf, close: closePf } = await pfOn(cluster));
    publisher = await cluster.log.publisher();
    reader = await cluster.log.reader('test');
  });
  afterAll(async () => {
    await publisher.close();
    await reader.close();
    await closePf();
    await cluster.close();
  });

  it('dead-letters replay publishes lost observations again, each once, and says which it cannot', async () => {
    const intentId = newIntentId(2);
    const payload = encodeInput({
      kind: 'observation',
      type: 'lost',
      intentId,
      data: { hash: HASH as TransactionHash },
      trace: { traceparent: null, requestId: null },
    });
    const letter: DeadLetter = {
      at: new Date().toISOString(),
      reason: 'cannot be decided: Error',
      topic: 'chain.observations',
      partition: 2,
      offset: '1000',
      intentId,
      commandId: null,
      trace: null,
      payload,
    };
    const bury = (changes: Partial<DeadLetter>): Promise<void> =>
      publisher.publish('intent.dead', {
        partition: 2,
        key: intentId,
        value: encodeDeadLetter({ ...letter, ...changes }),
      });
    // The writer died between the letter and its commit, so it wrote it twice.
    for (const changes of [{}, {}, { offset: '1001', payload: '{"kind":' }, { topic: 'intent.commands' } as const])
      await bury(changes);

    expect((await pf('dead-letters', 'list', '--topic', 'chain.observations')).answer).toMatchObject({
      deadLetters: [{ offset: '1000', payload }, { offset: '1001' }],
    });
    const { code, answer, errors } = await pf('dead-letters', 'replay', '--intent', intentId);
    expect([code, answer]).toEqual([
      1,
      {
        replayed: ['chain.observations-2/1000'],
        failed: [{ message: 'chain.observations-2/1001', problem: 'this version of pf cannot parse it either' }],
      },
    ]);
    expect(errors).toContain('could not be replayed');
    const published: (string | null)[] = [];
    const end = await reader.endOffset('chain.observations', 2);
    for await (const { records } of reader.read('chain.observations', 2, 0n, end))
      published.push(...records.map(({ value }) => value));
    expect(published).toEqual([payload]);
  });

  it('watch rescan moves the cursor back and ends the lease of the watcher that has moved it', async () => {
    const { watches } = createStore(cluster.database);
    const lease = await watches.acquire(CHAIN, UNSPLIT, 'one', 60_000);
    if (!lease) throw new Error('the lease is free');
    const cursor = { genesis: '0x00', checkpoints: [{ number: '900', hash: '0x09' }], rescanned: '890', seen: [] };
    await watches.moveCursor(lease, cursor);
    expect(await pf('watch', 'rescan', '--network', 'base-sepolia', '--from', '500')).toMatchObject({
      code: 0,
      answer: { network: 'base-sepolia', chain: CHAIN, from: '500' },
    });
    expect(await watches.renew(lease, 60_000)).toBe(false);
    expect(await watches.moveCursor(lease, cursor)).toBe(false);
    const next = await watches.acquire(CHAIN, UNSPLIT, 'two', 60_000);
    expect(z.looseObject({ rescanned: z.string() }).parse(next?.cursor)).toEqual({
      ...cursor,
      arrivals: [],
      rescanned: '499',
      firstReader: null,
      setAside: [],
    });
    expect(next?.epoch).toBeGreaterThan(lease.epoch);
  });

  it('watch split gives each shard a cursor where all that were before have read, and ends their leases', async () => {
    const { watches } = createStore(cluster.database);
    const chain = 'eip155:42431' as ChainId;
    const split = (shards: string): ReturnType<typeof pf> =>
      pf('watch', 'split', '--network', 'tempo-moderato', '--shards', shards);
    expect(await split('2')).toMatchObject({ code: 1 });
    const lease = await watches.acquire(chain, UNSPLIT, 'one', 60_000);
    if (!lease) throw new Error('the lease is free');
    const cursor = {
      genesis: '0x00',
      checkpoints: [{ number: '900', hash: '0x09' }],
      reread: '890',
      firstReader: null,
    };
    await watches.moveCursor(lease, cursor);
    expect(await split('0')).toMatchObject({ code: 2 });
    expect(await split('2')).toMatchObject({
      code: 0,
      answer: { network: 'tempo-moderato', chain, shards: 2, before: 1 },
    });
    expect(await watches.renew(lease, 60_000)).toBe(false);
    const [first, second] = [
      await watches.acquire(chain, { index: 1, count: 2 }, 'two', 60_000),
      await watches.acquire(chain, { index: 2, count: 2 }, 'three', 60_000),
    ];
    expect([first?.cursor, second?.cursor]).toEqual([cursor, cursor]);
    if (!first) throw new Error('the lease is free');
    const further = [{ number: '1000', hash: '0x10' }, ...cursor.checkpoints];
    await watches.moveCursor(first, { ...cursor, checkpoints: further });
    expect(await split('1')).toMatchObject({ answer: { shards: 1, before: 2 } });
    expect(await watches.acquire(chain, UNSPLIT, 'one', 60_000)).toMatchObject({ cursor });
  });

  it('watch rescan refuses a network that is not there or was never watched', async () => {
    expect((await pf('watch', 'rescan', '--network', 'nonsense', '--from', '1')).errors).toContain('is not a network');
    expect((await pf('watch', 'rescan', '--network', 'tempo', '--from', '1')).errors).toContain('was never watched');
    expect((await pf('watch', 'rescan', '--network', 'tempo', '--from', '0x1')).code).toBe(2);
  });
});
