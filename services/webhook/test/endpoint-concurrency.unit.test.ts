import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EndpointConcurrency } from '../src/endpoint-concurrency.ts';

describe('a lane', () => {
  it('is never wider than it should be, and forgets nobody it turned away', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.integer({ min: 1, max: 2 }),
        fc.array(fc.constantFrom('a', 'b'), { maxLength: 8 }),
        async (scheduler, width, comers) => {
          const lanes = new EndpointConcurrency(width);
          const waiting = new Map<string, Set<number>>([
            ['a', new Set()],
            ['b', new Set()],
          ]);
          const running = new Map([
            ['a', 0],
            ['b', 0],
          ]);
          const make = async (lane: string): Promise<void> => {
            const now = (running.get(lane) ?? 0) + 1;
            expect(now).toBeLessThanOrEqual(width);
            running.set(lane, now);
            await scheduler.schedule(Promise.resolve());
            running.set(lane, (running.get(lane) ?? 0) - 1);
          };
          const claim = async (lane: string, one?: number): Promise<boolean> => {
            await scheduler.schedule(Promise.resolve());
            const rows = waiting.get(lane) ?? new Set();
            const id = one ?? [...rows][0];
            const found = id !== undefined && rows.delete(id);
            // The answer of a database is older than its arrival.
            await scheduler.schedule(Promise.resolve());
            if (!found) return false;
            await make(lane);
            return true;
          };
          const all = comers.map(async (lane, id) => {
            await scheduler.schedule(Promise.resolve());
            waiting.get(lane)?.add(id);
            await lanes.run(
              lane,
              () => claim(lane, id),
              () => claim(lane),
            );
          });
          await scheduler.waitFor(Promise.all(all));
          expect([...waiting.values()].map((rows) => rows.size)).toEqual([0, 0]);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('lets another lane run while one is full', async () => {
    const lanes = new EndpointConcurrency(1);
    const held = Promise.withResolvers<undefined>();
    const slow = lanes.run(
      'slow',
      () => held.promise,
      async () => false,
    );
    expect(
      await lanes.run(
        'slow',
        async () => undefined,
        async () => false,
      ),
    ).toBe(false);
    expect(
      await lanes.run(
        'quick',
        async () => undefined,
        async () => false,
      ),
    ).toBe(true);
    held.resolve(undefined);
    expect(await slow).toBe(true);
  });

  it('is left open by one that failed', async () => {
    const lanes = new EndpointConcurrency(1);
    await expect(
      lanes.run(
        'a',
        () => Promise.reject(new Error('the database is away')),
        async () => false,
      ),
    ).rejects.toThrow('away');
    expect(
      await lanes.run(
        'a',
        async () => undefined,
        async () => false,
      ),
    ).toBe(true);
  });
});
