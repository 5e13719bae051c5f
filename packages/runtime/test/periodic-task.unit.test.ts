import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { PeriodicTask } from '../src/periodic-task.ts';

describe('A periodic task', () => {
  it('goes on after failed runs, and reports the first one of each outage', async () => {
    const outages = ['first', 'second', null, 'third', null];
    const failures: unknown[] = [];
    const over = Promise.withResolvers<void>();
    const task = new PeriodicTask({
      async work() {
        const [outage] = outages.splice(0, 1);
        if (outage === undefined) return over.resolve();
        if (outage !== null) throw new Error(outage);
      },
      pauseMs: 1,
      onFailure: (error) => failures.push(error),
    });
    task.start();
    await over.promise;
    await task.stop();
    expect(failures).toEqual([new Error('first'), new Error('third')]);
  });

  it('aborts the run under way when it is stopped, and waits for its end', async () => {
    const began = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    let begun = 0;
    const task = new PeriodicTask({
      async work(stopping) {
        begun++;
        began.resolve();
        await once(stopping, 'abort');
        await gate.promise;
      },
      pauseMs: 0,
      onFailure: (error) => {
        throw error;
      },
    });
    task.start();
    await began.promise;
    const stopped = task.stop().then(() => 'stopped');
    expect(await Promise.race([stopped, new Promise((resolve) => setImmediate(resolve, 'waiting'))])).toBe('waiting');
    gate.resolve();
    expect(await stopped).toBe('stopped');
    expect(begun).toBe(1);
  });
});
