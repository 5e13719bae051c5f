import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { PeriodicTask } from '../src/periodic-task.ts';

describe('Rounds', () => {
  it('go on after those that fail, and tell of the first of an outage', async () => {
    const outages = ['first', 'second', null, 'third', null];
    const told: unknown[] = [];
    const over = Promise.withResolvers<void>();
    const rounds = new PeriodicTask({
      async work() {
        const [outage] = outages.splice(0, 1);
        if (outage === undefined) return over.resolve();
        if (outage !== null) throw new Error(outage);
      },
      pauseMs: 1,
      onFailure: (error) => told.push(error),
    });
    rounds.start();
    await over.promise;
    await rounds.stop();
    expect(told).toEqual([new Error('first'), new Error('third')]);
  });

  it('have stopped when the one under way has ended, which hears of it', async () => {
    const began = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    let begun = 0;
    const rounds = new PeriodicTask({
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
    rounds.start();
    await began.promise;
    const stopped = rounds.stop().then(() => 'stopped');
    expect(await Promise.race([stopped, new Promise((resolve) => setImmediate(resolve, 'waiting'))])).toBe('waiting');
    gate.resolve();
    expect(await stopped).toBe('stopped');
    expect(begun).toBe(1);
  });
});
