import { randomUUID } from 'node:crypto';
import { compare, type Compared } from './comparison.ts';
import { measureCreates } from './creates.ts';

/**
 * Creates per second and their latency at several numbers of clients: our gateway → Kafka → intent service → Postgres,
 * beside two plain services that insert directly.
 *
 *   npm run bench:create -- --clients 1,64 --rounds 5 --json
 */
const creating = (more: () => object) => (target: Compared, clients: number, seconds: number) =>
  measureCreates(target, more, clients, seconds);

await compare({
  command: 'npm run bench:create',
  defaults: { clients: [1, 16, 64, 256], rounds: 3 },
  name: 'keys',
  unit: 'creates/s',
  heading: 'Creates',
  note: '"own": each with an idempotency key',
  // A create with an idempotency key lies in the partition that its key says; without one the gateway may choose.
  casesOf: () => [
    { name: 'own', measure: creating(() => ({ idempotencyKey: randomUUID() })) },
    { name: 'none', measure: creating(() => ({})) },
  ],
});
