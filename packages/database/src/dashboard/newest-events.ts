import type { PublicEventType, TokenAddress } from '@pf/domain';
import type { IntentOwner } from '../ledger/intents.ts';
import type { Database } from '../postgres/database.ts';

export interface NewestEvents {
  /** The events of intents with these tokens: of all intents, if they are all tokens of the mode. */
  readonly tokens: readonly TokenAddress[];
  /** Of the newest intents so many. */
  readonly intents: number;
  readonly type: PublicEventType | undefined;
  readonly limit: number;
}

const ORDER = 'ORDER BY created_at DESC, id DESC';

/**
 * The public events of an account's newest intents, newest first. It reads a range of an index for each token, and then
 * the events of each intent: what there is beside them does not matter.
 * @returns the bodies of their webhooks
 */
export async function newestEvents(
  { scans }: Pick<Database, 'scans'>,
  { accountId, livemode }: IntentOwner,
  { tokens, intents, type, limit }: NewestEvents,
): Promise<readonly string[]> {
  const values: unknown[] = [accountId, livemode, intents, type ?? null, limit];
  const runs = tokens.map(
    (token) =>
      `(SELECT created_at, id FROM ledger.intents
         WHERE account_id = $1 AND livemode = $2 AND token_address = $${values.push(token)} ${ORDER} LIMIT $3)`,
  );
  const { rows } = await scans.query<{ body: string }>(
    `SELECT event.body
       FROM (SELECT id FROM (${runs.join(' UNION ALL ')}) AS runs ${ORDER} LIMIT $3) AS newest,
            LATERAL (SELECT event_id, at, version, body FROM ledger.intent_events
                      WHERE intent_id = newest.id AND ($4::text IS NULL OR type = $4)
                      ORDER BY version DESC LIMIT $5) AS event
      ORDER BY event.at DESC, newest.id DESC, event.version DESC LIMIT $5`,
    values,
  );
  return rows.map(({ body }) => body);
}
