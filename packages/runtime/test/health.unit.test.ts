import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { until } from '../../testing/src/until.ts';
import { freePorts } from '../../testing/src/stack/free-ports.ts';
import { readGauges } from '../src/metrics/recording.ts';
import { ConfigurationError, startHealth, type StartingHealth } from '../src/index.ts';

describe('the probes of a process that starts', () => {
  let health: StartingHealth;
  let url: string;
  let closers: (() => unknown)[];
  const get = async (route: string): Promise<unknown> => {
    const response = await fetch(`${url}${route}`);
    return [response.status, await response.json()];
  };
  beforeEach(async () => {
    closers = [];
    const [port = 0] = await freePorts(1);
    url = `http://127.0.0.1:${port}`;
    health = await startHealth('127.0.0.1', port, {
      log: pino({ level: 'silent' }),
      onShutdown: (_, close) => void closers.push(close),
    });
  });
  afterEach(() => closers.reverse().forEach((close) => close()));

  it('are served on every address of either family for HOST=::', async () => {
    const [port = 0] = await freePorts(1);
    await startHealth('::', port, {
      log: pino({ level: 'silent' }),
      onShutdown: (_, close) => void closers.push(close),
    });
    for (const host of ['127.0.0.1', '[::1]']) expect((await fetch(`http://${host}:${port}/healthz`)).status).toBe(200);
  });

  it('say that it is live and what it waits for, and then what its checks say', async () => {
    let isThere = false;
    const waiting = health.until('kafka', async () => {
      if (!isThere) throw new Error('away');
      return 'connected';
    });
    await until('the first attempt', async () => JSON.stringify(await get('/readyz')).includes('kafka'));
    expect(await get('/readyz')).toEqual([503, { status: 'starting', waits_for: ['kafka'] }]);
    expect(await get('/healthz')).toEqual([200, { status: 'starting' }]);
    isThere = true;
    expect(await waiting).toBe('connected');
    expect(await get('/readyz')).toEqual([503, { status: 'starting', waits_for: [] }]);
    health.serve({ live: () => true, ready: { kafka: () => Promise.resolve(true) } });
    expect(await get('/readyz')).toEqual([200, { status: 'ok', checks: { kafka: 'ok' } }]);
  });

  it('stay ready without what only a part of the service needs, and say so', async () => {
    health.serve({
      live: () => true,
      ready: { database: () => Promise.resolve(true) },
      partly: { kafka: () => Promise.reject(new Error('away')) },
    });
    expect(await get('/readyz')).toEqual([
      200,
      { status: 'degraded', checks: { database: 'ok', kafka: 'unavailable' } },
    ]);
  });

  it('tell the metrics what they have said', async () => {
    const told = (): unknown => [...readGauges('payments.service.ready')];
    await get('/readyz');
    expect(told()).toEqual([[0, {}]]);
    let isThere = true;
    health.serve({ live: () => true, ready: { database: () => Promise.resolve(isThere) } });
    await get('/readyz');
    expect(told()).toEqual([[1, {}]]);
    isThere = false;
    await get('/healthz');
    expect(told()).toEqual([[1, {}]]);
    await get('/readyz');
    expect(told()).toEqual([[0, {}]]);
  });

  it('end the start where waiting does not help', async () => {
    await expect(health.until('database', () => Promise.reject(new ConfigurationError('no upstream')))).rejects.toThrow(
      'no upstream',
    );
  });

  it('end no start with an error when the process is told to stop', async () => {
    let attempts = 0;
    let ended = false;
    void health
      .until('kafka', () => {
        attempts++;
        return Promise.reject(new Error('away'));
      })
      .finally(() => (ended = true));
    await until('the first attempt', () => attempts > 0);
    closers.forEach((close) => close());
    await until('the probes to be refused', () =>
      get('/healthz').then(
        () => false,
        () => true,
      ),
    );
    expect([attempts <= 2, ended]).toEqual([true, false]);
  });
});
