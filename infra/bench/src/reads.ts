import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import {
  cellsOf,
  type Compared,
  inTurns,
  line,
  readComparisonOptions,
  type Row,
  startComparison,
} from './comparison.ts';
import { type Measured, measureCreates, measureReads } from './creates.ts';

/**
 * Reads per second and their latency beside writes: `GET /intents/{id}` and a page of the list, while the same service
 * creates 500 intents a second, beside two plain services that read the same table.
 *
 *   npm run bench:reads -- --clients 64 --json
 */
const { clients, seconds, rounds, json } = readComparisonOptions({ clients: '64', rounds: '3' });
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

const say = (text: string): void => (json ? console.error(text) : console.log(text));
const { targets, close } = await startComparison();
try {
  const ids = new Map<Compared, string>();
  for (const target of targets) ids.set(target, await someIntent(target));
  const READS = [
    { read: 'get', path: (target: Compared) => `/v1/intents/${ids.get(target)}` },
    { read: 'list', path: () => '/v1/intents?limit=20' },
  ] as const;
  const beside = async (target: Compared, path: string, count: number): Promise<Measured> => {
    const writes = measureCreates(target, () => ({}), WRITERS, seconds + 2 * AROUND_SECONDS, CREATES_PER_SECOND);
    const reads = pause(AROUND_SECONDS * 1000).then(() => measureReads(target, path, count, seconds));
    return (await Promise.all([reads, writes]))[0];
  };
  say(
    `Reads beside ${CREATES_PER_SECOND} creates/s: median (minimum–maximum) of ${rounds} rounds of ${seconds} s; ` +
      '"list": a page of 20.\n',
  );
  say(line(['read', 'clients', 'service', 'reads/s', 'p50 ms', 'p99 ms', 'ratio to it']));
  say(line(['---', '---:', '---', '---:', '---:', '---:', '---:']));
  const all: (Row & { readonly read: string; readonly clients: number })[] = [];
  for (const { read, path } of READS)
    for (const count of clients) {
      const rows = await inTurns(targets, rounds, (target) => beside(target, path(target), count));
      for (const row of rows) say(line([read, count, ...cellsOf(row, rows[0])]));
      all.push(...rows.map((row) => ({ read, clients: count, ...row })));
    }
  if (json) console.log(JSON.stringify({ rows: all }));
} finally {
  await close();
}
