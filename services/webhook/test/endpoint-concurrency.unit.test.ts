import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EndpointConcurrency } from '../src/endpoint-concurrency.ts';

describe('The concurrency of an endpoint', () => {
  it('never exceeds its limit, and every refused delivery is attempted', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.integer({ min: 1, max: 2 }),
        fc.array(fc.constantFrom('a', 'b'), { maxLength: 8 }),
        async (scheduler, limit, arrivals) => {
          const endpoints = new EndpointConcurrency(limit);
          const waiting = new Map<string, Set<number>>([
            ['a', new Set()],
            ['b', new Set()],
          ]);
          const running = new Map([
            ['a', 0],
            ['b', 0],
          ]);
          const attempt = async (endpoint: string): Promise<void> => {
            const now = (running.get(endpoint) ?? 0) + 1;
            expect(now).toBeLessThanOrEqual(limit);
            running.set(endpoint, now);
            await scheduler.schedule(Promise.resolve());
            running.set(endpoint, (running.get(endpoint) ?? 0) - 1);
          };
          const claim = async (endpoint: string, one?: number): Promise<boolean> => {
            await scheduler.schedule(Promise.resolve());
            const rows = waiting.get(endpoint) ?? new Set();
            const id = one ?? [...rows][0];
            const found = id !== undefined && rows.delete(id);
            // A database's response is older than its arrival.
            await scheduler.schedule(Promise.resolve());
            if (!found) return false;
            await attempt(endpoint);
            return true;
          };
          const all = arrivals.map(async (endpoint, id) => {
            await scheduler.schedule(Promise.resolve());
            waiting.get(endpoint)?.add(id);
            await endpoints.run(
              endpoint,
              () => claim(endpoint, id),
              () => claim(endpoint),
            );
          });
          await scheduler.waitFor(Promise.all(all));
          expect([...waiting.values()].map((rows) => rows.size)).toEqual([0, 0]);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('does not limit another endpoint', async () => {
    const endpoints = new EndpointConcurrency(1);
    const held = Promise.withResolvers<undefined>();
    const slow = endpoints.run(
      'slow',
      () => held.promise,
      async () => false,
    );
    expect(
      await endpoints.run(
        'slow',
        async () => undefined,
        async () => false,
      ),
    ).toBe(false);
    expect(
      await endpoints.run(
        'quick',
        async () => undefined,
        async () => false,
      ),
    ).toBe(true);
    held.resolve(undefined);
    expect(await slow).toBe(true);
  });

  it('frees the slot of an attempt that throws', async () => {
    const endpoints = new EndpointConcurrency(1);
    await expect(
      endpoints.run(
        'a',
        () => Promise.reject(new Error('the database is unavailable')),
        async () => false,
      ),
    ).rejects.toThrow('unavailable');
    expect(
      await endpoints.run(
        'a',
        async () => undefined,
        async () => false,
      ),
    ).toBe(true);
  });
});
