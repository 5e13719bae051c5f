import { Prisma } from '../generated/prisma/client.ts';

/**
 * Waits for others that lock the same thing, until the end of the transaction: who comes second finds what the first
 * has written. Unlike a lock of a row it needs no right to change one, and the thing need not exist yet.
 * @param kind what `id` names: locks of different kinds are apart
 */
export const advisoryLock = (
  kind: 'webhook_endpoints' | 'webhook_replays' | 'idempotent_answers' | 'reserved_amounts',
  id: string,
): Prisma.Sql => Prisma.sql`SELECT pg_advisory_xact_lock(hashtextextended(${`${kind} ${id}`}, 0))`;
