import type { Instant, IntentId } from '@pf/domain';
import type { InputTopic } from '@pf/event-log';
import { createLogger } from '@pf/runtime';
import { describe, expect, it } from '@jest/globals';
import { Expiry } from '../src/expiry.ts';

const ID = 'pi_overdue' as IntentId;

/** The expiry of an owner of partitions 0 and 1, with overdue intents in some. Runs end when the test ends them. */
function expiryWith(due: readonly number[]) {
  const calls: string[] = [];
  const runs: { partition: number; after: { topic: InputTopic; offset: bigint } | null; end: () => void }[] = [];
  const expiry = new Expiry({
    owner: {
      owned: () => [0, 1],
      run: (partition, after) => new Promise<void>((end) => runs.push({ partition, after, end })),
    },
    ledger: {
      overdue: async (partitions: readonly number[], _now: Instant) => {
        calls.push(`query of partitions ${partitions.join(' and ')}`);
        return new Map(due.filter((partition) => partitions.includes(partition)).map((partition) => [partition, [ID]]));
      },
    },
    reader: {
      endOffsets: async () => {
        calls.push('end offsets');
        return [10n, 11n];
      },
    },
    expire: async () => ({ append: [], position: null, context: null }),
    log: createLogger('test', 'silent'),
    clock: () => 0,
  });
  return { expiry, calls, runs };
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
    await new Promise((resolve) => setImmediate(resolve));
    await expiry.look();
    expect(calls.at(-2)).toBe('query of partitions 0 and 1');
  });
});
