import { describe, expect, it } from '@jest/globals';
import { findBug, runSeeds } from '../../src/runner/seeds.ts';
import { shrink } from '../../src/runner/shrink.ts';
import { describeFailure } from '../../src/runner/report.ts';
import { WorkerProcess } from '../../src/runner/worker-process.ts';

/** `npm run simulate` goes further. */
const BUDGET_MS = 25_000;
const MOST_SEEDS = 2_000;

describe('the simulated services', () => {
  it('keep every invariant in as many seeds as fit in 25 s', async () => {
    const began = performance.now();
    const failures: unknown[] = [];
    let ran = 0;
    const enough = (): boolean => performance.now() - began > BUDGET_MS;
    await runSeeds({ from: 1, count: MOST_SEEDS, enough }, ({ seed, failure }) => {
      ran++;
      if (failure) failures.push({ seed, ...failure });
    });
    expect(failures).toEqual([]);
    expect(ran).toBeGreaterThan(1);
  });

  it('repeat exactly with the same seed, also in another process', async () => {
    const [one, other] = [new WorkerProcess(), new WorkerProcess()];
    try {
      await one.run(6);
      const first = await one.run(7);
      const again = await other.run(7);
      expect(again.fingerprint).toBe(first.fingerprint);
      expect((await other.run(8)).fingerprint).not.toBe(first.fingerprint);
    } finally {
      one.close();
      other.close();
    }
  });
});

describe('a planted bug', () => {
  it.each([
    'An idempotency key is looked up',
    'No block is read before the intents that were there are known',
    'An intent expires half a minute early',
  ])('is found: %s', async (name) => {
    expect(await findBug(name, 100)).toMatchObject({ name, foundAfterSeeds: expect.any(Number) });
  });

  it('is shown with the messages that led to it, and with fewer kinds of faults and commands', async () => {
    const worker = new WorkerProcess('An intent expires half a minute early');
    try {
      let failed = await worker.run(1);
      for (let seed = 2; failed.failure?.invariant !== 'no intent expires early'; seed++)
        failed = await worker.run(seed);
      const shrunk = await shrink(worker, failed);
      expect(shrunk.failure?.invariant).toBe('no intent expires early');
      expect(shrunk.kinds.length).toBeLessThan(failed.kinds.length);
      expect(describeFailure(shrunk)).toContain('→ kafka: commit');
    } finally {
      worker.close();
    }
  });
});
