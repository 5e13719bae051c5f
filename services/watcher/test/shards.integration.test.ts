import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mergeCursors, networkNamed } from '@pf/chains';
import { changeCursors, isOfShard, type Shard, UNSPLIT } from '@pf/database';
import type { IntentId } from '@pf/domain';
import type { Publisher } from '@pf/event-log';
import { type Cluster, readBackingStack, startCluster, until } from '@pf/testing';
import { type Anvil, startAnvil } from '@pf/testing/chains';
import { type IntentLog, openIntentLog } from './intent-log.ts';
import { Payer, request, type Requested } from './payer.ts';
import { observationsOf, observed, startWatching, type Watching } from './watching.ts';

const FIRST: Shard = { index: 1, count: 2 };
const SECOND: Shard = { index: 2, count: 2 };

describe('Watchers of shards', () => {
  const stack = readBackingStack();
  const running: Watching[] = [];
  let cluster: Cluster;
  let chain: Anvil;
  let writer: IntentLog;
  beforeAll(async () => {
    [cluster, chain] = await Promise.all([startCluster(stack), startAnvil({ blockMs: 200 })]);
    writer = await openIntentLog(cluster, stack.kafka);
  });
  afterAll(async () => {
    await Promise.all(running.map((watching) => watching.stop()));
    await writer.close();
    await chain.stop();
    await cluster.close();
  });

  /** A watcher, and the intents of which it has published something. */
  async function watch(shard: Shard): Promise<{ readonly watching: Watching; readonly told: Set<string | null> }> {
    const told = new Set<string | null>();
    const through = (publisher: Publisher): Publisher => ({
      publish: (topic, record) => {
        told.add(record.key);
        return publisher.publish(topic, record);
      },
      close: () => publisher.close(),
    });
    const watching = await startWatching(cluster, { [chain.caip2]: chain.rpcUrl }, through, undefined, shard);
    running.push(watching);
    return { watching, told };
  }
  const statusOf = ({ watching }: { readonly watching: Watching }) => [...watching.watches.values()][0]?.status;
  /** What `pf watch split` does. */
  async function split(shards: number): Promise<void> {
    const network = networkNamed('base-sepolia');
    const cursors = await changeCursors(cluster.database, network.chain, (before) =>
      Array.from({ length: shards }, () => mergeCursors(network, before)),
    );
    expect(cursors).toHaveLength(shards);
  }
  /** As many intents of each of both shards, in turn. */
  async function requestOfEach(count: number): Promise<readonly Requested[]> {
    const made: Requested[] = [];
    while (made.length < 2 * count) {
      const intent = await request(writer, chain);
      if (isOfShard(intent.terms.requestor, made.length % 2 === 0 ? FIRST : SECOND)) made.push(intent);
    }
    return made;
  }
  const idsIn = (shard: Shard, intents: readonly Requested[]): ReadonlySet<IntentId> =>
    new Set(intents.filter(({ terms }) => isOfShard(terms.requestor, shard)).map(({ id }) => id));
  const landed = async (intents: readonly Requested[]): Promise<void> => {
    await Promise.all(intents.map(({ id }) => observed(cluster, id, 'landed', 'confirmed')));
  };

  it('find each payment by the watcher of its shard, and lose none when the network is split and joined', async () => {
    const payer = new Payer(chain, 0);
    const pay = async (intents: readonly Requested[]): Promise<void> => {
      for (const intent of intents) await payer.pay(intent);
    };
    const whole = await watch(UNSPLIT);
    await until('it to watch', () => statusOf(whole)?.head !== null);
    const [first, second] = [await watch(FIRST), await watch(SECOND)];
    await until('the others to say that the network is not split', () =>
      [first, second].every((one) => statusOf(one)?.problem?.includes('split into 1 shards')),
    );

    // `between` is paid when the lease changes.
    const all = await requestOfEach(3);
    const [before, between, after] = [all.slice(0, 2), all.slice(2, 4), all.slice(4)];
    await pay(before);
    await landed(before);
    await pay(between);
    await split(2);
    await landed(between);
    await until('the former to stand by', () => statusOf(whole)?.problem?.includes('split into 2 shards'));
    await pay(after);
    await landed(after);
    expect([statusOf(first), statusOf(second)]).toMatchObject([
      { role: 'active', shard: '1/2', shards: 2 },
      { role: 'active', shard: '2/2', shards: 2 },
    ]);
    for (const [shard, { told }] of [
      [FIRST, first],
      [SECOND, second],
    ] as const) {
      expect([...told].filter((id) => !idsIn(shard, all).has(id as IntentId))).toEqual([]);
      for (const id of idsIn(shard, after)) expect(told.has(id)).toBe(true);
    }
    for (const { id } of after) {
      const observations = await observationsOf(cluster, id);
      expect(observations.map(({ type }) => type)).toEqual(['landed']);
    }

    // One shard has fallen behind when they are joined again.
    await second.watching.stop();
    running.splice(running.indexOf(second.watching), 1);
    const late = await requestOfEach(2);
    await pay(late);
    await landed(late.filter(({ id }) => idsIn(FIRST, late).has(id)));
    for (const id of idsIn(SECOND, late)) expect(await observationsOf(cluster, id)).toEqual([]);
    await split(1);
    await landed(late);
    for (const id of idsIn(SECOND, late)) expect(whole.told.has(id)).toBe(true);
  });
});
