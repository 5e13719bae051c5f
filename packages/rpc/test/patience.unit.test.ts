import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from '@jest/globals';
import { recordTo } from '@pf/runtime';
import { z } from 'zod';
import { limitOf, rpcCall, soon } from '../src/index.ts';
import { Patience } from '../src/patience.ts';
import { type Call, result } from './provider.ts';
import { poolOver } from './upstreams.ts';

const took = (patience: Patience, method: string, ...times: readonly number[]): void => {
  for (const ms of times) patience.took(method, ms);
};

describe('the patience with an upstream', () => {
  it('is 300 ms where it is quick, or not known', () => {
    const patience = new Patience();
    expect(patience.msOf('getTransaction')).toBe(300);
    took(patience, 'getTransaction', 20, 30, 90);
    expect(patience.msOf('getTransaction')).toBe(300);
  });

  it('is three times what it takes for everything, or for this method', () => {
    const patience = new Patience();
    took(patience, 'getEpochInfo', 1_600);
    expect(patience.msOf('getTransaction')).toBe(4_800);
    took(patience, 'getEpochInfo', ...Array<number>(9).fill(20));
    expect(patience.msOf('getTransaction')).toBe(300);
    took(patience, 'getTransaction', 1_000);
    expect([patience.msOf('getTransaction'), patience.msOf('getBlock')]).toEqual([3_000, 300]);
  });

  it('is bounded where what is asked for decides how long it takes, and that says nothing of other requests', () => {
    const patience = new Patience();
    for (let at = 0; at < 9; at += 1) patience.took('debug_traceTransaction', 2_000, true);
    expect([patience.msOf('debug_traceTransaction', true), patience.msOf('getBlock')]).toEqual([700, 300]);
    took(patience, 'getBlock', ...Array<number>(9).fill(500));
    expect(patience.msOf('debug_traceTransaction', true)).toBe(1_500);
  });

  it('is not stretched by a few that take long', () => {
    const patience = new Patience();
    took(patience, 'getTransaction', 20, 20, 20, ...Array<number>(6).fill(2_000));
    expect(patience.msOf('getTransaction')).toBe(300);
    took(patience, 'getTransaction', 2_000);
    expect(patience.msOf('getTransaction')).toBe(6_000);
  });
});

describe('the limit of a request', () => {
  const [method, params] = ['echo', []];

  it('follows its calls where each has one, and never exceeds that of any request', () => {
    expect(limitOf([{ method, params, withinMs: 300 }], 2_500)).toBe(300);
    expect(limitOf([{ method, params, withinMs: 6_000 }], 2_500)).toBe(2_500);
    expect(
      limitOf(
        [
          { method, params, withinMs: 300 },
          { method, params },
        ],
        2_500,
      ),
    ).toBe(2_500);
  });

  it('ends a request that shall cost little time, which is no failure of its upstream', async () => {
    const types: unknown[] = [];
    recordTo({
      add: () => undefined,
      record: (name, _value, labels) => {
        if (name === 'payments.rpc.request.duration') types.push(labels['error.type']);
      },
    });
    const server = createServer((request, response) => {
      void json(request).then((body) => {
        const call = body as Call;
        if (call.method !== 'never') response.end(JSON.stringify(result(call)));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    // Of a minute: this test has less.
    const pool = poolOver([`http://127.0.0.1:${(server.address() as AddressInfo).port}`], 60_000);
    expect(await pool.call(soon(rpcCall('echo', [7], z.number())))).toBe(7);
    await expect(pool.call(soon(rpcCall('never', [], z.number())))).rejects.toThrow('TimeoutError');
    recordTo(null);
    // Of a pool with a single upstream, which is called twice.
    expect(types.filter((type) => type !== undefined)).toEqual(['late', 'late']);
    await pool.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('does not count the time in which this process stands still', async () => {
    // In a thread of its own: it responds while this one is at work, which waits for that.
    // How often it has responded, and whether it may.
    const state = new Int32Array(new SharedArrayBuffer(8));
    const server = new Worker(
      `const { createServer } = require('node:http');
       const { parentPort, workerData } = require('node:worker_threads');
       createServer((request, response) => {
         let text = '';
         request.on('data', (part) => (text += part));
         request.on('end', () => {
           const { id, method, params } = JSON.parse(text);
           const result = method === 'eth_chainId' ? '0x14a34' : params[0];
           if (params[0] === 7) Atomics.wait(workerData, 1, 0);
           response.end(JSON.stringify({ jsonrpc: '2.0', id, result }), () => {
             if (method !== 'echo') return;
             Atomics.add(workerData, 0, 1);
             Atomics.notify(workerData, 0);
           });
         });
       }).listen(0, '127.0.0.1', function () { parentPort.postMessage(this.address().port); });`,
      { eval: true, workerData: state },
    );
    const [port] = (await once(server, 'message')) as [number];
    const pool = poolOver([`http://127.0.0.1:${port}`], 60_000);
    // Connected, and known to be of the chain.
    expect(await pool.call(rpcCall('echo', [6], z.number()))).toBe(6);
    const response = pool.call(soon(rpcCall('echo', [7], z.number())));
    const end = performance.now() + 600;
    // The request is sent before this. Behind an immediate come timers, and only then what has arrived.
    await delay(20);
    await new Promise(setImmediate);
    Atomics.store(state, 1, 1);
    Atomics.notify(state, 1);
    Atomics.wait(state, 0, 1, 10_000);
    while (performance.now() < end);
    // Asked once: it was not given up.
    expect([await response, state[0]]).toEqual([7, 2]);
    await pool.close();
    await server.terminate();
  });
});
