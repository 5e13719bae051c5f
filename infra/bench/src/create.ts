import { randomUUID } from 'node:crypto';
import { cellsOf, inTurns, line, readComparisonOptions, type Row, startComparison } from './comparison.ts';
import { measureCreates } from './creates.ts';

/**
 * Creates per second and their latency at several numbers of clients: our gateway → Kafka → intent service → Postgres,
 * beside two plain services that insert directly.
 *
 *   npm run bench:create -- --clients 1,64 --rounds 5 --json
 */
const { clients, seconds, rounds, json } = readComparisonOptions({ clients: '1,16,64,256', rounds: '3' });

/** A create with an idempotency key lies in the partition that its key says; without one the gateway may choose. */
const KEYS = [
  { keys: 'own', more: () => ({ idempotencyKey: randomUUID() }) },
  { keys: 'none', more: () => ({}) },
] as const;

const say = (text: string): void => (json ? console.error(text) : console.log(text));
const { targets, close } = await startComparison();
try {
  say(`Creates: median (minimum–maximum) of ${rounds} rounds of ${seconds} s; "own": each with an idempotency key.\n`);
  say(line(['keys', 'clients', 'service', 'creates/s', 'p50 ms', 'p99 ms', 'ratio to it']));
  say(line(['---', '---:', '---', '---:', '---:', '---:', '---:']));
  const all: (Row & { readonly keys: string; readonly clients: number })[] = [];
  for (const { keys, more } of KEYS)
    for (const count of clients) {
      const rows = await inTurns(targets, rounds, (target) => measureCreates(target, more, count, seconds));
      for (const row of rows) say(line([keys, count, ...cellsOf(row, rows[0])]));
      all.push(...rows.map((row) => ({ keys, clients: count, ...row })));
    }
  if (json) console.log(JSON.stringify({ rows: all }));
} finally {
  await close();
}
