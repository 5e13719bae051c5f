import type { Overdue } from '@pf/database';
import type { IntentId } from '@pf/domain';
import type { InputTopic } from '@pf/event-log';
import { createLogger } from '@pf/runtime';
import { describe, expect, it } from '@jest/globals';
import { Expiry } from '../src/expiry.ts';

const one = (): Overdue[] => [{ id: 'pi_overdue' as IntentId, expiresAt: 0 }];
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The expiry of an owner of partitions 0 and 1, with overdue intents in some. Runs end when the test ends them. */
function expiryWith(due: readonly number[], idsOf: (after: Overdue | undefined, limit: number) => Overdue[] = one) {
  const calls: string[] = [];
  const expired: (readonly IntentId[])[] = [];
  const runs: { partition: number; after: { topic: InputTopic; offset: bigint } | null; end: () => void }[] = [];
  const expiry = new Expiry({
    owner: {
      owned: () => [0, 1],
      run: (partition, after, work) =>
        new Promise<void>((end) => runs.push({ partition, after, end: () => void work().then(() => end()) })),
    },
    ledger: {
      overdue: async (partitions, _now, limit, after) => {
        calls.push(`query of partitions ${partitions.join(' and ')}`);
        return new Map(
          due
            .filter((partition) => partitions.includes(partition))
            .map((partition) => [partition, idsOf(after.get(partition), limit)]),
        );
      },
    },
    reader: {
      endOffsets: async () => {
        calls.push('end offsets');
        return [10n, 11n];
      },
    },
    expire: async (_partition, ids) => {
      expired.push(ids);
      return { append: [], position: null, context: null };
    },
    log: createLogger('test', 'silent'),
    clock: () => 0,
  });
  return { expiry, calls, runs, expired };
}

describe('Expiry', () => {
  it('expires intents only after the observations that were in the log when it queried', async () => {
    const { expiry, calls, runs } = expiryWith([1]);
    await expiry.look();
    // If the end were read before the query, an observation between the two would be decided after the expiry.
    expect(calls).toEqual(['query of partitions 0 and 1', 'end offsets']);
    expect(runs).toMatchObject([{ partition: 1, after: { topic: 'chain.observations', offset: 11n } }]);
  });

  it('sends no request to Kafka while no intent is due', async () => {
    const { expiry, calls } = expiryWith([]);
    await expiry.look();
    expect(calls).toEqual(['query of partitions 0 and 1']);
  });

  it('skips a partition until its last expiries are decided', async () => {
    const { expiry, calls, runs } = expiryWith([0]);
    await expiry.look();
    await expiry.look();
    expect(calls.filter((call) => call.startsWith('query'))).toEqual([
      'query of partitions 0 and 1',
      'query of partitions 1',
    ]);
    runs[0]?.end();
    await settled();
    await expiry.look();
    expect(calls.at(-2)).toBe('query of partitions 0 and 1');
  });

  it('reaches every overdue intent, however many of the oldest cannot expire', async () => {
    const stuck = Array.from({ length: 1_200 }, (_, at): Overdue => ({ id: `pi_${at}` as IntentId, expiresAt: at }));
    const { expiry, runs, expired } = expiryWith([0], (after, limit) =>
      stuck.filter(({ expiresAt }) => after === undefined || expiresAt > after.expiresAt).slice(0, limit),
    );
    for (let round = 0; round < 4; round++) {
      await expiry.look();
      runs[round]?.end();
      await settled();
    }
    const [first, second, third, again] = expired;
    expect(new Set([first, second, third].flatMap((ids) => ids ?? [])).size).toBe(stuck.length);
    expect(again).toEqual(first);
  });
});
