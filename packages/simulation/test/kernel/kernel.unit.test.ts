import { describe, expect, it } from '@jest/globals';
import { Kernel, patchGlobals, simulate } from '@pf/simulation/kernel';

const refused = () => new Error('no reply');

/** Three clients call a counter that goes down and comes back. */
async function runCounter(seed: number): Promise<{ fingerprint: string; counted: number; told: readonly number[] }> {
  const kernel = new Kernel(seed);
  using _globals = patchGlobals();
  kernel.network.lostReplies = 0.1;
  kernel.network.slowShare = 0.2;
  let counted = 0;
  const told: number[] = [];
  for (const name of ['a', 'b', 'c'])
    kernel.spawn(name, async () => {
      for (let call = 0; call < 20; call++) {
        await kernel
          .call('counter', () => ++counted, refused)
          .then(
            (value) => void told.push(value),
            () => undefined,
          );
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 50));
      }
    });
  kernel.schedule(300, () => kernel.shutDown('counter'));
  kernel.schedule(500, () => kernel.startUp('counter'));
  await kernel.run({});
  return { fingerprint: kernel.fingerprint(), counted, told };
}

describe('a simulation', () => {
  it('repeats exactly with its seed, and differs with another', async () => {
    const first = await runCounter(7);
    expect(await runCounter(7)).toEqual(first);
    expect((await runCounter(8)).fingerprint).not.toBe(first.fingerprint);
    expect(first.told.length).toBeLessThan(first.counted);
  });

  it('spends virtual time only', async () => {
    const began = performance.now();
    const virtual = await simulate(1, async () => {
      const before = Date.now();
      await new Promise((resolve) => setTimeout(resolve, 60_000));
      return Date.now() - before;
    });
    expect(virtual).toBeGreaterThanOrEqual(60_000);
    expect(performance.now() - began).toBeLessThan(30_000);
  });

  it('fails when a test waits for something that never happens', async () => {
    await expect(simulate(1, () => new Promise(() => undefined))).rejects.toThrow('never happens');
  });

  it('fails with the error of one of its processes', async () => {
    await expect(
      simulate(1, async (kernel) => {
        kernel.spawn('broken', () => Promise.reject(new Error('broken')));
        await kernel.sleep(1_000);
      }),
    ).rejects.toThrow('broken');
  });
});

describe('the patched globals', () => {
  it('throw outside of a simulated process', () => {
    using _globals = patchGlobals();
    expect(() => Date.now()).toThrow('outside of a simulated process');
    expect(() => Math.random()).toThrow('outside of a simulated process');
    expect(() => setTimeout(() => undefined, 1)).toThrow('outside of a simulated process');
    expect(() => new Date()).toThrow('outside of a simulated process');
    expect(new Date(0).toISOString()).toBe('1970-01-01T00:00:00.000Z');
    expect(new Date(0)).toBeInstanceOf(Date);
  });

  it('are the real ones again afterwards', () => {
    const before = [setTimeout, Date, Math.random];
    patchGlobals()[Symbol.dispose]();
    expect([setTimeout, Date, Math.random]).toEqual(before);
    expect(Date.now()).toBeGreaterThan(0);
  });

  it('give each process a clock of its own', async () => {
    const seen = await simulate(1, async (kernel) => {
      const clocks: Record<string, number> = {};
      const read = (name: string) => () => {
        clocks[name] = Date.now() - kernel.now();
      };
      kernel.spawn('fast', read('fast'), { skewMs: 5_000 });
      const drifting = kernel.spawn('drifting', () => setTimeout(read('drifting'), 10_000), { drift: 0.1 });
      await kernel.sleep(20_000);
      drifting.clock.skewMs = -60_000;
      return { ...clocks, jumped: drifting.wallClock() < kernel.now() };
    });
    expect(seen).toEqual({ fast: 5_000, drifting: expect.closeTo(909, -1), jumped: true });
  });

  it('repeat, clear and refresh timers', async () => {
    const ticks = await simulate(1, async () => {
      const seen: string[] = [];
      const interval = setInterval(() => seen.push('interval'), 10);
      const cleared = setTimeout(() => seen.push('cleared'), 5);
      clearTimeout(cleared);
      const refreshed = setTimeout(() => seen.push('refreshed'), 15);
      setTimeout(() => refreshed.refresh(), 14);
      await new Promise((resolve) => setTimeout(resolve, 35));
      clearInterval(interval);
      await new Promise<void>((resolve) => setImmediate(resolve));
      return seen;
    });
    expect(ticks).toEqual(['interval', 'interval', 'refreshed', 'interval']);
  });

  it('abort signals in virtual time', async () => {
    const reason: unknown = await simulate(1, async () => {
      const signal = AbortSignal.timeout(5_000);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return signal.reason as unknown;
    });
    expect(reason).toMatchObject({ name: 'TimeoutError' });
  });
});

describe('a simulated process', () => {
  it('does nothing more once it is killed', async () => {
    const seen = await simulate(1, async (kernel) => {
      const done: string[] = [];
      const served: string[] = [];
      const killed = kernel.spawn('killed', async () => {
        setTimeout(() => done.push('timer'), 100);
        await kernel.call('server', () => served.push('call'), refused);
        done.push('reply');
      });
      await kernel.sleep(0.05);
      kernel.kill(killed);
      await kernel.sleep(1_000);
      return { done, served };
    });
    expect(seen).toEqual({ done: [], served: ['call'] });
  });

  it('resumes where it was after a stop', async () => {
    const seen = await simulate(1, async (kernel) => {
      const at: number[] = [];
      const began = kernel.now();
      const stopped = kernel.spawn('stopped', () => setInterval(() => at.push(kernel.now() - began), 100));
      await kernel.sleep(250);
      kernel.stop(stopped);
      await kernel.sleep(1_000);
      kernel.continue(stopped);
      await kernel.sleep(150);
      return at;
    });
    expect(seen).toEqual([100, 200, 1_250, 1_350]);
  });

  it('gets no reply through a cut network, though its request was served', async () => {
    const seen = await simulate(1, async (kernel) => {
      let served = 0;
      kernel.network.cut('server', 'test');
      const failed = await kernel.call('server', () => ++served, refused).catch((error: Error) => error.message);
      kernel.network.healAll();
      kernel.network.cut('test', 'server');
      await kernel.call('server', () => ++served, refused).catch(() => undefined);
      kernel.network.healAll();
      return { failed, served, then: await kernel.call('server', () => ++served, refused) };
    });
    expect(seen).toEqual({ failed: 'no reply', served: 1, then: 2 });
  });

  it('is refused by a server that is down, and loses its open calls when it goes down', async () => {
    const seen = await simulate(1, async (kernel) => {
      const open = kernel.call('server', () => kernel.sleep(10_000), refused);
      await kernel.sleep(100);
      kernel.shutDown('server');
      const errors = await Promise.allSettled([open, kernel.call('server', () => 1, refused)]);
      kernel.startUp('server');
      return [...errors.map(({ status }) => status), await kernel.call('server', () => 'up', refused)];
    });
    expect(seen).toEqual(['rejected', 'rejected', 'up']);
  });

  it('stops waiting for a call whose signal aborts', async () => {
    const reason = await simulate(1, async (kernel) => {
      const signal = AbortSignal.timeout(500);
      return kernel
        .call('server', () => kernel.sleep(10_000), refused, { signal })
        .catch((error: unknown) => (error as Error).name);
    });
    expect(reason).toBe('TimeoutError');
  });
});
