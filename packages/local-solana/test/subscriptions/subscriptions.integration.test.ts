import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { on, once } from 'node:events';
import { address, type KeyPairSigner } from '@solana/kit';
import { WebSocket } from 'ws';
import { type Client, lamports, newAddress, startClient, wallet } from '../client.ts';

/** Collects the first notifications from now on: kit keeps only those that arrive during an iteration. */
async function first<T>(pending: Promise<AsyncIterable<T>>, count: number): Promise<Promise<T[]>[]> {
  const notifications = await pending;
  const heard = async (): Promise<T[]> => {
    const taken: T[] = [];
    for await (const one of notifications) if (taken.push(one) === count) break;
    return taken;
  };
  // In an array, so that awaiting the subscription does not await it, too.
  return [heard()];
}

describe('subscriptions of the local Solana', () => {
  let client: Client;
  let payer: KeyPairSigner;
  const ended = new AbortController();
  const abortSignal = ended.signal;
  beforeAll(async () => {
    client = await startClient();
    payer = await wallet(0);
  });
  afterAll(async () => {
    ended.abort();
    await client.stop();
  });

  it('report a signature at its commitment, with its error', async () => {
    await client.call('local_fail');
    const signed = await client.sign(payer, [lamports(payer, await newAddress(), 1_000_000_000n)]);
    const [processed] = await first(
      client.subscriptions
        .signatureNotifications(signed.signature, { commitment: 'processed' })
        .subscribe({ abortSignal }),
      1,
    );
    const [finalized] = await first(
      client.subscriptions
        .signatureNotifications(signed.signature, { commitment: 'finalized' })
        .subscribe({ abortSignal }),
      1,
    );
    await client.send(signed);
    expect(await processed).toMatchObject([{ value: { err: { InstructionError: [0n, { Custom: 1n }] } } }]);
    await client.call('local_finalize');
    expect(await finalized).toMatchObject([{ value: { err: { InstructionError: [0n, { Custom: 1n }] } } }]);
    const [late] = await first(
      client.subscriptions
        .signatureNotifications(signed.signature, { commitment: 'confirmed' })
        .subscribe({ abortSignal }),
      1,
    );
    expect(await late).toHaveLength(1);
  });

  it('report an account at its commitment, and only when it has changed', async () => {
    const to = await newAddress();
    const [changes] = await first(
      client.subscriptions
        .accountNotifications(to, { commitment: 'confirmed', encoding: 'base64' })
        .subscribe({ abortSignal }),
      2,
    );
    for (const amount of [1_000_000n, 2_000_000n]) {
      await client.send(await client.sign(payer, [lamports(payer, to, amount)]));
      await client.call('local_advance');
      await client.send(await client.sign(payer, [lamports(payer, await newAddress(), 1_000_000n)]));
      await client.call('local_advance');
    }
    expect((await changes)?.map(({ value }) => value.lamports)).toEqual([1_000_000n, 3_000_000n]);
  });

  it('report every slot and root, and the logs of one account', async () => {
    const slot = await client.rpc.getSlot({ commitment: 'processed' }).send();
    const to = await newAddress();
    const [slots] = await first(client.subscriptions.slotNotifications().subscribe({ abortSignal }), 3);
    const [roots] = await first(client.subscriptions.rootNotifications().subscribe({ abortSignal }), 1);
    const [logs] = await first(
      client.subscriptions
        .logsNotifications({ mentions: [to] }, { commitment: 'confirmed' })
        .subscribe({ abortSignal }),
      1,
    );
    await client.send(await client.sign(payer, [lamports(payer, await newAddress(), 1_000_000n)]));
    const signature = await client.send(await client.sign(payer, [lamports(payer, to, 1_000_000n)]));
    await client.call('local_advance', 3);
    expect((await slots)?.map((one) => one.slot)).toEqual([slot + 1n, slot + 2n, slot + 3n]);
    expect(await logs).toMatchObject([
      {
        value: {
          signature,
          err: null,
          logs: expect.arrayContaining(['Program 11111111111111111111111111111111 success']),
        },
      },
    ]);
    await client.call('local_finalize');
    expect((await roots)?.[0]).toBeGreaterThan(slot - 5n);
  });

  it('run on the next port too, until unsubscribed', async () => {
    const running = await startClient({ paused: false, slotMs: 50 });
    const url = new URL(running.url.replace('http', 'ws'));
    url.port = String(Number(url.port) + 1);
    const socket = new WebSocket(url);
    try {
      await once(socket, 'open');
      // Several may come at once.
      const messages = on(socket, 'message');
      const next = async (): Promise<{
        result?: unknown;
        method?: string;
        error?: unknown;
        params?: { subscription: number };
      }> => {
        const [data] = (await messages.next()).value as [Buffer];
        return JSON.parse(data.toString()) as Awaited<ReturnType<typeof next>>;
      };
      const ask = (method: string, ...params: unknown[]): void =>
        socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
      ask('slotSubscribe');
      const { result: id } = await next();
      expect(await next()).toMatchObject({ method: 'slotNotification', params: { subscription: id } });
      ask('slotUnsubscribe', id);
      let answer = await next();
      while (answer.method === 'slotNotification') answer = await next();
      expect(answer).toMatchObject({ result: true });
      ask('slotUnsubscribe', id);
      expect(await next()).toMatchObject({ error: { code: -32602 } });
      ask('accountSubscribe', 'no-address');
      expect(await next()).toMatchObject({ error: { code: -32602 } });
      ask('getSlot');
      expect(await next()).toMatchObject({ error: { code: -32601 } });
    } finally {
      socket.terminate();
      await running.stop();
    }
  });

  it('stay silent about an account until it is funded', async () => {
    const owner = address('CXk2AMBfi3TwaEL2468s6zP8xq9NxTXjp9gjMgzeUynM');
    const to = await newAddress();
    const [quiet] = await first(
      client.subscriptions.accountNotifications(owner, { commitment: 'processed' }).subscribe({ abortSignal }),
      1,
    );
    const [loud] = await first(
      client.subscriptions.accountNotifications(to, { commitment: 'processed' }).subscribe({ abortSignal }),
      1,
    );
    await client.call('requestAirdrop', to, 5_000_000);
    expect(
      await Promise.race([quiet?.then(() => 'the mint changed'), loud?.then(([one]) => one?.value.lamports)]),
    ).toBe(5_000_000n);
  });
});
