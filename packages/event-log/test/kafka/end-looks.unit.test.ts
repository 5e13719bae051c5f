import { describe, expect, it } from '@jest/globals';
import { EndLooks } from '../../src/kafka/end-looks.ts';

type Connections = Parameters<EndLooks['endsAt']>[0];

/** The connections of a writer: every partition ends at 2. */
function connections(name: string, requests: string[], failing: { together?: boolean; alone?: boolean } = {}) {
  const endsAt: Connections['endsAt'] = async (_topic, partition, position) => {
    requests.push(`${name} alone: ${partition}`);
    if (failing.alone === true) throw new Error(`${name} is disconnected`);
    return position === 2n;
  };
  const allEndingAt: Connections['allEndingAt'] = async (_topic, positions) => {
    requests.push(`${name}: ${[...positions.keys()].join()}`);
    if (failing.together === true) throw new Error('a partition has no leader');
    return new Set([...positions].filter(([, position]) => position === 2n).map(([partition]) => partition));
  };
  return { endsAt, allEndingAt };
}

describe('Looks at the ends of partitions', () => {
  it('are one request for those of one turn, with a result for each', async () => {
    const requests: string[] = [];
    const looks = new EndLooks('events');
    const [a, b] = [connections('a', requests), connections('b', requests)];
    expect(await Promise.all([looks.endsAt(a, 0, 2n), looks.endsAt(b, 1, 3n)])).toEqual([true, false]);
    expect(await looks.endsAt(b, 1, 2n)).toBe(true);
    expect(requests).toEqual(['a: 0,1', 'b alone: 1']);
  });

  it('ask alone where the request of all fails, and fail alone', async () => {
    const requests: string[] = [];
    const looks = new EndLooks('events');
    const failing = connections('a', requests, { together: true, alone: true });
    const results = await Promise.allSettled([
      looks.endsAt(failing, 0, 2n),
      looks.endsAt(connections('b', requests), 1, 2n),
    ]);
    expect(results).toMatchObject([{ reason: new Error('a is disconnected') }, { value: true }]);
    expect(requests).toEqual(['a: 0,1', 'a alone: 0', 'b alone: 1']);
  });

  it('ask for a partition once in a request', async () => {
    const requests: string[] = [];
    const looks = new EndLooks('events');
    const a = connections('a', requests);
    expect(await Promise.all([looks.endsAt(a, 0, 2n), looks.endsAt(a, 0, 4n)])).toEqual([true, false]);
    expect(requests).toEqual(['a alone: 0', 'a alone: 0']);
  });
});
