import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import express, { type Response } from 'express';
import { passBody } from '../src/gateway.ts';
import { HttpServer, UNREAD } from '../src/server.ts';

/** More than what a connection holds between two processes. */
const PART = Buffer.alloc(1024 * 1024, 'x');
const PARTS = 16;

describe('A response that its client does not read', () => {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  /** Serves by an answer with the given limits, and returns the port. */
  const serve = async (
    answer: (response: Response) => void,
    unread: Partial<Record<keyof typeof UNREAD, number>>,
  ): Promise<number> => {
    const app = express().get('/', (_request, response) => answer(response));
    const server = new HttpServer(app, undefined, undefined, { ...UNREAD, ...unread });
    closing.push(() => server.close());
    return server.listen('127.0.0.1', 0);
  };
  /** Asks, and does not read. */
  const ask = (port: number): Socket => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined).write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    closing.push(() => socket.destroy());
    return socket;
  };
  const whole = Buffer.concat(Array.from({ length: PARTS }, () => PART));

  it('is destroyed when none of it was taken for some time', async () => {
    const closed = Promise.withResolvers<boolean>();
    const port = await serve(
      (response) => {
        response.once('close', () => closed.resolve(response.writableFinished)).end(whole);
      },
      { ms: 200 },
    );
    ask(port);
    expect(await closed.promise).toBe(false);
  });

  it('is completed for a client that reads slowly', async () => {
    const port = await serve((response) => response.writeHead(200, { Connection: 'close' }).end(whole), { ms: 2_000 });
    const socket = ask(port);
    let [bytes, pauses] = [0, 0];
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes < (pauses + 1) * 4 * PART.length) return;
      pauses += 1;
      socket.pause();
      setTimeout(() => socket.resume(), 700);
    });
    await once(socket, 'close');
    expect(bytes).toBeGreaterThan(whole.length);
  });

  it('does not end a stream whose client reads, however seldom there is something', async () => {
    const port = await serve(
      (response) => {
        // The server has seen by then that nothing happens.
        response.socket?.once('timeout', () => response.end('last'));
        response.write('first');
      },
      { ms: 100 },
    );
    expect(await fetch(`http://127.0.0.1:${port}/`).then((response) => response.text())).toBe('firstlast');
  });

  it('is destroyed, the one that has waited longest first, where all that is unread is too much', async () => {
    const sizes = [PARTS / 2, PARTS, PARTS / 2];
    const closed: number[] = [];
    const seen = Promise.withResolvers<undefined>();
    let count = 0;
    const port = await serve(
      (response) => {
        const nth = (count += 1);
        response.once('close', () => {
          closed.push(nth);
          seen.resolve(undefined);
        });
        response.end(whole.subarray(0, (sizes[nth - 1] ?? 0) * PART.length));
      },
      { bytes: 26 * PART.length },
    );
    for (const _ of sizes) await once(ask(port), 'readable');
    await seen.promise;
    expect(closed).toEqual([1]);
  });

  it('is not destroyed for others while its client reads', async () => {
    const closed: string[] = [];
    const seen = Promise.withResolvers<undefined>();
    const reading = Promise.withResolvers<undefined>();
    let [count, passed] = [0, 0];
    const port = await serve(
      (response) => {
        const name = (count += 1) === 1 ? 'read' : 'unread';
        response.once('close', () => {
          closed.push(name);
          seen.resolve(undefined);
        });
        if (name === 'unread') {
          response.end(whole);
          return;
        }
        // Always a part waits, while the client takes one after the other.
        const more = (error?: Error | null): void => {
          if (error) return;
          passed += 1;
          if (passed === 20) reading.resolve(undefined);
          response.write(PART, more);
        };
        response.write(PART);
        more();
      },
      { bytes: PARTS * PART.length },
    );
    ask(port).resume();
    await reading.promise;
    for (const _ of [1, 2]) ask(port);
    await seen.promise;
    expect(closed[0]).toBe('unread');
  });

  it('gives the place back that its request has, when its time is over', async () => {
    const ended = Promise.withResolvers<boolean>();
    const port = await serve((response) => {
      async function* body(): AsyncGenerator<Uint8Array> {
        for (let part = 0; part < PARTS; part += 1) yield await Promise.resolve(PART);
      }
      const answer = { statusCode: 200, headers: {}, body: body(), text: () => Promise.resolve('') };
      void passBody(answer, response, AbortSignal.timeout(200), () => undefined).then(() =>
        ended.resolve(response.destroyed),
      );
    }, {});
    ask(port);
    expect(await ended.promise).toBe(true);
  });
});
