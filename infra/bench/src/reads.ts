import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { compare, type Compared } from './comparison.ts';
import { type Measured, measureCreates, measureReads } from './creates.ts';

/**
 * Reads per second and their latency beside writes: `GET /intents/{id}` and a page of the list, while the same service
 * creates 500 intents a second, beside two plain services that read the same table.
 *
 *   npm run bench:reads -- --clients 64 --json
 */
const CREATES_PER_SECOND = 500;
const WRITERS = 64;
/** Begins before the reads are measured, and ends after them. */
const AROUND_SECONDS = 1;

const newest = z.object({ intents: z.tuple([z.object({ id: z.string() })]) });

/** An intent of the target, of those that the warm-up created. */
async function someIntent({ url, apiKey }: Compared): Promise<string> {
  const response = await fetch(`${url}/v1/intents?limit=1`, { headers: { authorization: `Bearer ${apiKey}` } });
  return newest.parse(await response.json()).intents[0].id;
}

const reading =
  (pathOf: (target: Compared) => string) =>
  async (target: Compared, clients: number, seconds: number): Promise<Measured> => {
    const writes = measureCreates(target, () => ({}), WRITERS, seconds + 2 * AROUND_SECONDS, CREATES_PER_SECOND);
    const reads = pause(AROUND_SECONDS * 1000).then(() => measureReads(target, pathOf(target), clients, seconds));
    return (await Promise.all([reads, writes]))[0];
  };

await compare({
  command: 'npm run bench:reads',
  defaults: { clients: [64], rounds: 3 },
  name: 'read',
  unit: 'reads/s',
  heading: `Reads beside ${CREATES_PER_SECOND} creates/s`,
  note: '"list": a page of 20',
  async casesOf(targets) {
    const ids = new Map<Compared, string>();
    for (const target of targets) ids.set(target, await someIntent(target));
    return [
      { name: 'get', measure: reading((target) => `/v1/intents/${ids.get(target)}`) },
      { name: 'list', measure: reading(() => '/v1/intents?limit=20') },
    ];
  },
});
