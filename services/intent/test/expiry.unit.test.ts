import type { Instant, IntentId } from '@pf/domain';
import type { InputTopic } from '@pf/event-log';
import { createLogger } from '@pf/runtime';
import { describe, expect, it } from '@jest/globals';
import { Expiry } from '../src/expiry.ts';

const ID = 'pi_overdue' as IntentId;

/** An owner of partitions 0 and 1 that records its calls and decides nothing until the test lets it. */
function parts(due: readonly number[]) {
  const said: string[] = [];
  const runs: { partition: number; after: { topic: InputTopic; offset: bigint } | null; end: () => void }[] = [];
  const expiry = new Expiry({
    owner: {
      owned: () => [0, 1],
      run: (partition, after) => new Promise<void>((end) => runs.push({ partition, after, end })),
    },
    states: {
      overdue: async (partitions: readonly number[], _now: Instant) => {
        said.push(`looked at ${partitions.join(' and ')}`);
        return new Map(due.filter((partition) => partitions.includes(partition)).map((partition) => [partition, [ID]]));
      },
    },
    reader: {
      endOffsets: async () => {
        said.push('asked where observations end');
        return [10n, 11n];
      },
    },
    expire: async () => ({ append: [], context: null }),
    log: createLogger('test', 'silent'),
    clock: () => 0,
  });
  return { expiry, said, runs };
}

describe('Expiry', () => {
  it('expires intents only after the observations that were there when it queried', async () => {
    const { expiry, said, runs } = parts([1]);
    await expiry.look();
    // If the end were read before the query, an observation between the two would not come first.
    expect(said).toEqual(['looked at 0 and 1', 'asked where observations end']);
    expect(runs).toMatchObject([{ partition: 1, after: { topic: 'chain.observations', offset: 11n } }]);
  });

  it('asks Kafka for nothing while no intent is due', async () => {
    const { expiry, said } = parts([]);
    await expiry.look();
    expect(said).toEqual(['looked at 0 and 1']);
  });

  it('skips a partition until its last expiries are decided', async () => {
    const { expiry, said, runs } = parts([0]);
    await expiry.look();
    await expiry.look();
    expect(said.filter((line) => line.startsWith('looked'))).toEqual(['looked at 0 and 1', 'looked at 1']);
    runs[0]?.end();
    await new Promise((resolve) => setImmediate(resolve));
    await expiry.look();
    expect(said.at(-2)).toBe('looked at 0 and 1');
  });
});
