import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';
import { z } from 'zod';

const KINDS = ['create', 'get', 'pay', 'list'] as const;
type Kind = (typeof KINDS)[number];
/** Failures that are kept: a service that is down makes thousands. */
const FAILURES_MAX = 20;
const RECIPIENTS = 50;

const created = z.object({ intent: z.object({ id: z.string() }) });

interface Taken {
  readonly rounds: number;
  /** ms of each request, by kind. Of a round that had to wait for its turn, the first includes the wait. */
  readonly latencies: ReadonlyMap<Kind, readonly number[]>;
}

/** Clients that work in rounds: a create, a read, a payment, a list. */
export interface Mix {
  /** From now on so many rounds begin a second, whether earlier ones are done or not, up to one a client. */
  pace(perSecond: number): void;
  /** What was done since the last call. */
  take(): Taken;
  /** @returns what failed, in words */
  stop(): Promise<readonly string[]>;
}

/** As many rounds as get done, until there is a pace. */
export function startMix({ url, apiKey, clients }: { url: string; apiKey: string; clients: number }): Mix {
  const pool = new Pool(url, { connections: clients });
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const failures: string[] = [];
  let latencies = new Map<Kind, number[]>(KINDS.map((kind) => [kind, []]));
  let [rounds, over] = [0, false];
  let intervalMs = 0;
  let dueAt = performance.now();

  async function send(kind: Kind, since: number, method: 'GET' | 'POST', path: string, body?: object): Promise<string> {
    const response = await pool.request({ method, path, headers, ...(body && { body: JSON.stringify(body) }) });
    const text = await response.body.text();
    latencies.get(kind)?.push(performance.now() - since);
    if (response.statusCode >= 300) throw new Error(`${kind}: ${response.statusCode} ${text.slice(0, 200)}`);
    return text;
  }

  async function round(since: number): Promise<void> {
    const text = await send('create', since, 'POST', '/v1/intents', {
      chain: 'eip155:84532',
      token: 'USDC',
      amount: '12.50',
      requestor: `0x${(rounds % RECIPIENTS).toString(16).padStart(40, '1')}`,
      metadata: { order: 'A-1001' },
      idempotencyKey: crypto.randomUUID(),
    });
    const { id } = created.parse(JSON.parse(text)).intent;
    await send('get', performance.now(), 'GET', `/v1/intents/${id}`);
    await send('pay', performance.now(), 'POST', `/v1/test/intents/${id}/simulate`, { targetState: 'finalized' });
    await send('list', performance.now(), 'GET', '/v1/intents?limit=20');
    rounds += 1;
  }

  async function client(): Promise<void> {
    while (!over) {
      let since = performance.now();
      if (intervalMs > 0) {
        since = dueAt;
        dueAt += intervalMs;
        await delay(Math.max(0, since - performance.now()));
      }
      try {
        await round(since);
      } catch (error) {
        if (failures.length < FAILURES_MAX) failures.push((error as Error).message);
        await delay(1_000);
      }
    }
  }

  const all = Promise.all(Array.from({ length: clients }, client));
  return {
    pace(perSecond) {
      intervalMs = 1_000 / perSecond;
      dueAt = performance.now();
    },
    take() {
      const taken = { rounds, latencies };
      rounds = 0;
      latencies = new Map(KINDS.map((kind) => [kind, []]));
      return taken;
    },
    async stop() {
      over = true;
      await all;
      await pool.close();
      return failures;
    },
  };
}
