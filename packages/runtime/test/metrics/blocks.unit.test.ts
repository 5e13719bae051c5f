import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { BLOCK_MS, countBlocks, inWork, PeriodicTask, recordTo, resumed } from '../../src/index.ts';

/** Does nothing else for so long. */
function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}
/** Something outside was waited for. */
const waited = async (): Promise<void> => {
  await turn();
  resumed();
};

describe('blocks of the event loop', () => {
  let counted: string[];
  /** A busy machine may let this process wait, too. */
  const named = (): readonly string[] => counted.filter((work) => work !== 'other');
  let end: () => void;
  beforeEach(() => {
    counted = [];
    const add = (_name: string, by: number, { work }: { readonly work?: unknown }): void => {
      counted.push(...Array<string>(by).fill(String(work)));
    };
    recordTo({ add, record: () => undefined });
    end = countBlocks();
  });
  afterEach(() => {
    end();
    recordTo(null);
  });

  it('count for the work that was resumed last', async () => {
    await inWork('POST /v1/intents/{id}/submit', async () => {
      await waited();
      block(2 * BLOCK_MS);
      await waited();
    });
    expect(named()).toEqual(['POST /v1/intents/{id}/submit']);
  });

  it('count for each of several works by itself, with the name that it has by then', async () => {
    let route = 'unknown';
    const quiet = inWork('quiet', async () => {
      await waited();
      await waited();
      await waited();
    });
    await inWork(
      () => `GET ${route}`,
      async () => {
        await waited();
        route = '/v1/intents';
        block(2 * BLOCK_MS);
        await waited();
      },
    );
    await quiet;
    expect(named()).toEqual(['GET /v1/intents']);
  });

  it('count as others where nothing with a name was resumed', async () => {
    block(3 * BLOCK_MS);
    await waited();
    expect(counted).toEqual(['other']);
  });

  it('count for a task that is repeated, by its name', async () => {
    const over = Promise.withResolvers<void>();
    const task = new PeriodicTask({
      name: 'retention',
      work: async () => {
        await waited();
        block(2 * BLOCK_MS);
        await waited();
        over.resolve();
      },
      pauseMs: 60_000,
      onFailure: (error) => over.reject(error),
    });
    task.start();
    await over.promise;
    await task.stop();
    expect(named()).toEqual(['retention']);
  });

  it('are not counted once that has ended', async () => {
    end();
    inWork('late', () => block(2 * BLOCK_MS));
    await waited();
    expect(counted).toEqual([]);
  });
});
