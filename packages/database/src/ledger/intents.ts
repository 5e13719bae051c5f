import type { Outcome } from '@pf/contracts';
import { parseOutcome } from '@pf/contracts';
import type { AccountId, CommandId, Instant, IntentId, Landing, PaymentIntent } from '@pf/domain';
import type { Database } from '../postgres/database.ts';
import { decodeState } from './decoding.ts';

/** An account and mode. The intents of other accounts, or of the other mode, do not exist for it. */
export interface IntentOwner {
  readonly accountId: AccountId;
  readonly livemode: boolean;
}

const fromState = (rows: readonly { readonly state: string }[]): PaymentIntent | null =>
  rows[0] ? decodeState(rows[0].state) : null;

/** The intent as it is projected, or null if this owner has none with this id. */
export async function findIntent(
  { sql }: Database,
  id: IntentId,
  { accountId, livemode }: IntentOwner,
): Promise<PaymentIntent | null> {
  const { rows } = await sql.query<{ state: string }>({
    name: 'find-intent',
    text: 'SELECT state FROM ledger.intents WHERE id = $1 AND account_id = $2 AND livemode = $3',
    values: [id, accountId, livemode],
  });
  return fromState(rows);
}

/** The newest intent that this idempotency key made at or after `since`, or null. */
export async function findIntentByKey(
  { sql }: Database,
  idempotencyKey: string,
  { accountId, livemode }: IntentOwner,
  since: Instant,
): Promise<PaymentIntent | null> {
  const { rows } = await sql.query<{ state: string }>({
    name: 'find-intent-by-key',
    text: `SELECT state FROM ledger.intents
            WHERE account_id = $1 AND livemode = $2 AND idempotency_key = $3 AND created_at >= $4
            ORDER BY created_at DESC LIMIT 1`,
    values: [accountId, livemode, idempotencyKey, new Date(since)],
  });
  return fromState(rows);
}

/** The other intent of this owner for which this transfer was reported since then, or null. */
export async function findReported(
  { sql }: Database,
  { hash, transfer }: Landing,
  { accountId, livemode }: IntentOwner,
  than: IntentId,
  since: Instant,
): Promise<IntentId | null> {
  const { rows } = await sql.query<{ id: IntentId }>({
    name: 'find-reported',
    text: `SELECT intent_id AS id FROM ledger.intent_events
            WHERE account_id = $1 AND livemode = $2 AND type = 'intent.mismatched_payment' AND at >= $3
              AND intent_id <> $4 AND body::jsonb #> '{data,payment}' @> $5::jsonb
            ORDER BY at DESC, event_id DESC LIMIT 1`,
    values: [
      accountId,
      livemode,
      new Date(since),
      than,
      JSON.stringify({ txSignature: hash, recipient: transfer.to, amountBaseUnits: transfer.amount.toString() }),
    ],
  });
  return rows[0]?.id ?? null;
}

/** The known outcomes of these commands: one query for all waiting requests. */
export async function findOutcomes({ sql }: Database, commandIds: readonly CommandId[]): Promise<readonly Outcome[]> {
  const { rows } = await sql.query<{ body: string }>({
    name: 'find-outcomes',
    text: 'SELECT body FROM service.command_outcomes WHERE command_id = ANY($1::uuid[])',
    values: [commandIds],
  });
  return rows.map((row) => parseOutcome(row.body));
}
