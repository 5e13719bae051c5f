import { Redis } from 'ioredis';
import { Worker } from 'bullmq';
import { Agent, request } from 'undici';
import { z } from 'zod';
import { signatureHeaders } from '../../../../services/webhook/src/signature.ts';

/**
 * What one would write without a database: a job a delivery, which is signed and posted. No result is kept, nothing is
 * tried again, and what Redis loses is lost.
 *
 *   node bare-loop.ts REDIS_URL PREFIX CONCURRENCY SECRET
 */
const [redisUrl = '', prefix = '', concurrency = '1', secret = ''] = process.argv.slice(2);
const job = z.object({ url: z.string(), eventId: z.string(), body: z.string() });
const agent = new Agent({ keepAliveTimeout: 1_000, keepAliveMaxTimeout: 1_000 });

new Worker(
  'bare',
  async ({ data }) => {
    const { url, eventId, body: text } = job.parse(data);
    const body = Buffer.from(text);
    const headers = {
      'Content-Type': 'application/json',
      'User-Agent': 'PaymentIntents-Webhooks/1.0',
      'X-PF-Event-Id': eventId,
      ...signatureHeaders({ eventId, timestamp: Math.floor(Date.now() / 1_000), body }, [secret]),
    };
    const signal = AbortSignal.timeout(15_000);
    const response = await request(url, { method: 'POST', dispatcher: agent, signal, headers, body });
    await response.body.dump();
    if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
  },
  {
    connection: new Redis(redisUrl, { maxRetriesPerRequest: null }),
    prefix,
    concurrency: Number(concurrency),
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
  },
);
