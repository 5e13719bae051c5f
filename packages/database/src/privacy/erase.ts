import { PAYMENT_LINK_EVENT_TYPES } from '@pf/contracts';
import type { IntentId } from '@pf/domain';
import type pg from 'pg';
import { type AuditSource, recordChange } from '../dashboard/audit.ts';
import { type Database, inTransaction } from '../postgres/database.ts';

/** What is to be erased: these intents, or all of an account. */
export type ErasureScope = { readonly intents: readonly IntentId[] } | { readonly accountId: string };

export interface ErasureReport {
  /** Intents whose erasure is asked for now: the intent service does it. */
  readonly requested: number;
  /** Payment links whose metadata was erased. */
  readonly links: number;
  /** Intents among them whose personal data the log has unsealed, from before events were sealed. */
  readonly unsealed: number;
  /** Intents among them that have left for the archive: they come back to be erased. */
  readonly left: number;
  /** Those of `left` without a key: if they have personal data, the log has it unsealed. They are not in `unsealed`. */
  readonly leftWithoutKey: number;
}

/** Every intent: also those that have left for the archive, which come back to be erased. */
const EVERY_INTENT = `(SELECT id, partition, account_id, livemode FROM ledger.intents
  UNION ALL SELECT id, partition, account_id, livemode FROM ledger.cold_intents)`;

/** Of a scope, as a condition on `EVERY_INTENT AS intent` with one parameter. */
const inScope = (scope: ErasureScope): { readonly condition: string; readonly value: unknown } =>
  'intents' in scope
    ? { condition: 'intent.id = ANY($1::text[])', value: scope.intents }
    : { condition: 'intent.account_id = $1', value: scope.accountId };

/** How many intents a scope has. */
export async function intentsInScope({ sql }: Database, scope: ErasureScope): Promise<number> {
  const { condition, value } = inScope(scope);
  const { rows } = await sql.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM ${EVERY_INTENT} AS intent WHERE ${condition}`,
    [value],
  );
  return rows[0]?.count ?? 0;
}

/**
 * Asks for the erasure of the personal data of intents, and erases that of the payment links that they belong to, all
 * or nothing. Repeated, it changes nothing.
 */
export function erasePersonalData(database: Database, scope: ErasureScope, by: AuditSource): Promise<ErasureReport> {
  const { condition, value } = inScope(scope);
  return inTransaction(database, async (client) => {
    const { rows } = await client.query<{ unsealed: number }>(
      `SELECT count(*)::int AS unsealed FROM ledger.intents AS intent
        WHERE ${condition}
          AND (idempotency_key IS NOT NULL OR (metadata IS NOT NULL AND metadata <> '{}'))
          AND NOT EXISTS (SELECT FROM service.intent_keys AS key WHERE key.intent_id = intent.id)`,
      [value],
    );
    const { rows: cold } = await client.query<{ left: number; without_key: number }>(
      `SELECT count(*)::int AS left, (count(*) FILTER (WHERE NOT EXISTS (
                SELECT FROM service.intent_keys AS key WHERE key.intent_id = intent.id)))::int AS without_key
         FROM ledger.cold_intents AS intent WHERE ${condition}`,
      [value],
    );
    const { rowCount } = await client.query(
      `INSERT INTO service.erasures (intent_id, partition)
       SELECT id, partition FROM ${EVERY_INTENT} AS intent WHERE ${condition} ON CONFLICT (intent_id) DO NOTHING`,
      [value],
    );
    const links = await eraseLinks(client, scope);
    const report = {
      requested: rowCount ?? 0,
      links,
      unsealed: rows[0]?.unsealed ?? 0,
      left: cold[0]?.left ?? 0,
      leftWithoutKey: cold[0]?.without_key ?? 0,
    };
    if ('accountId' in scope) {
      const { accountId } = scope;
      await recordChange(client, by, { accountId, action: 'privacy.erased', subject: accountId, after: { ...report } });
    } else {
      const { rows: owners } = await client.query<{ id: string; account_id: string; livemode: boolean }>(
        `SELECT id, account_id, livemode FROM ${EVERY_INTENT} AS intent WHERE ${condition}`,
        [value],
      );
      for (const { id, account_id: accountId, livemode } of owners)
        await recordChange(client, by, { accountId, livemode, action: 'privacy.erased', subject: id });
    }
    return report;
  });
}

/** How many intents of a scope are still to be erased. */
export async function outstandingInScope({ sql }: Database, scope: ErasureScope): Promise<number> {
  const { condition, value } = inScope(scope);
  const { rows } = await sql.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM service.erasures AS erasure
       JOIN ${EVERY_INTENT} AS intent ON intent.id = erasure.intent_id WHERE ${condition}`,
    [value],
  );
  return rows[0]?.count ?? 0;
}

/** Empties the metadata of payment links, and of what their webhooks say. */
async function eraseLinks(client: pg.PoolClient, scope: ErasureScope): Promise<number> {
  const { rows: links } = await client.query<{ id: string; account_id: string }>(
    'intents' in scope
      ? `UPDATE service.payment_links SET metadata = '{}' WHERE metadata IS NOT NULL AND id IN
           (SELECT link_id FROM service.payment_link_intents WHERE intent_id = ANY($1)) RETURNING id, account_id`
      : `UPDATE service.payment_links SET metadata = '{}' WHERE metadata IS NOT NULL AND account_id = $1
         RETURNING id, account_id`,
    ['intents' in scope ? scope.intents : scope.accountId],
  );
  if (links.length === 0) return 0;
  const ids = new Set(links.map(({ id }) => id));
  const accountIds = [...new Set(links.map(({ account_id }) => account_id))];
  for (const kept of WEBHOOKS_OF_LINKS) await eraseWebhooks(client, { ...kept, accountIds, links: ids });
  return links.length;
}

/** Rows of webhooks that are read at once: an account may have missed millions. */
const WEBHOOKS_AT_ONCE = 1_000;

/** Empties the metadata of links in the webhooks of accounts, a part of them at a time. */
async function eraseWebhooks(
  client: pg.PoolClient,
  {
    table,
    key,
    type,
    accountIds,
    links,
  }: {
    readonly table: string;
    readonly key: string;
    readonly type: string;
    readonly accountIds: readonly string[];
    readonly links: ReadonlySet<string>;
  },
): Promise<void> {
  await client.query(
    `DECLARE webhooks_of_links NO SCROLL CURSOR FOR
       SELECT account_id AS "accountId", livemode, ${key}::text AS key, body FROM ${table}
        WHERE account_id = ANY($1) AND event_type = ANY($2) AND body IS NOT NULL FOR UPDATE`,
    [accountIds, PAYMENT_LINK_EVENT_TYPES],
  );
  for (let read = WEBHOOKS_AT_ONCE; read === WEBHOOKS_AT_ONCE;) {
    const { rows } = await client.query<{ accountId: string; livemode: boolean; key: string; body: string }>(
      `FETCH ${WEBHOOKS_AT_ONCE} FROM webhooks_of_links`,
    );
    read = rows.length;
    const emptied = rows.flatMap((row) => {
      const body = withoutMetadata(row.body, links);
      return body === null ? [] : [{ ...row, body }];
    });
    if (emptied.length > 0)
      await client.query(
        `UPDATE ${table} AS webhook SET body = emptied.body
           FROM unnest($1::text[], $2::boolean[], $3::${type}[], $4::text[])
             AS emptied (account_id, livemode, key, body)
          WHERE webhook.account_id = emptied.account_id AND webhook.livemode = emptied.livemode
            AND webhook.${key} = emptied.key`,
        [
          emptied.map(({ accountId }) => accountId),
          emptied.map(({ livemode }) => livemode),
          emptied.map((row) => row.key),
          emptied.map(({ body }) => body),
        ],
      );
  }
  await client.query('CLOSE webhooks_of_links');
}

/**
 * Where the bodies of their webhooks are kept: the table, the column that tells its rows apart, and its type. What was
 * missed first: a catch-up that copies it into deliveries holds its rows, so the copies are seen.
 */
const WEBHOOKS_OF_LINKS = [
  { table: 'service.missed_events', key: 'seq', type: 'bigint' },
  { table: 'service.deliveries', key: 'id', type: 'text' },
] as const;

interface LinkEvent {
  readonly data: { readonly paymentLink: { readonly id: string; readonly metadata: object | null } };
}

/** The body of a link's webhook without metadata; null for that of another link. */
function withoutMetadata(body: string, links: ReadonlySet<string>): string | null {
  const event = JSON.parse(body) as LinkEvent;
  const { paymentLink } = event.data;
  if (!links.has(paymentLink.id) || paymentLink.metadata === null) return null;
  return JSON.stringify({ ...event, data: { ...event.data, paymentLink: { ...paymentLink, metadata: {} } } });
}
