import type { IntentId } from '@pf/domain';
import type { Database } from '../postgres/database.ts';

/** What a paymaster was asked for: what an operation would cost with it, or its promise to pay. */
export type PromiseKind = 'stubs' | 'promises';

/**
 * How often a paymaster answers each of them for one intent, whoever asks: for a wallet that tries again, and little
 * for one that means no payment.
 */
export const GAS_PROMISES_MAX = 10;

/**
 * Counts an answer before the paymaster is asked for it. All gateways share the count, which does not fill up again.
 * @returns false if there were as many already
 */
export async function takeGasPromise(
  { sql }: Database,
  intentId: IntentId,
  kind: PromiseKind,
  at: Date,
): Promise<boolean> {
  const { rowCount } = await sql.query({
    name: `take-gas-${kind}`,
    text: `INSERT INTO service.gas_promises AS kept (intent_id, ${kind}, at) VALUES ($1, 1, $2)
           ON CONFLICT (intent_id) DO UPDATE SET ${kind} = kept.${kind} + 1, at = greatest(kept.at, excluded.at)
             WHERE kept.${kind} < $3`,
    values: [intentId, at, GAS_PROMISES_MAX],
  });
  return rowCount === 1;
}

/** Takes back one that was not answered, so that nobody has it. */
export async function returnGasPromise({ sql }: Database, intentId: IntentId, kind: PromiseKind): Promise<void> {
  await sql.query({
    name: `return-gas-${kind}`,
    text: `UPDATE service.gas_promises SET ${kind} = ${kind} - 1 WHERE intent_id = $1 AND ${kind} > 0`,
    values: [intentId],
  });
}

/**
 * Deletes the counts of intents that nobody has asked for since a time, oldest first, at most `limit`. Several
 * processes may call it at once.
 * @returns the number deleted: fewer than `limit` if none are left
 */
export async function forgetGasPromises({ sql }: Database, before: Date, limit: number): Promise<number> {
  const { rowCount } = await sql.query(
    `DELETE FROM service.gas_promises WHERE intent_id IN
       (SELECT intent_id FROM service.gas_promises WHERE at < $1 ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
    [before, limit],
  );
  return rowCount ?? 0;
}
