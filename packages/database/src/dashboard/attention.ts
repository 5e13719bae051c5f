import type { Position } from '@pf/contracts';
import { ATTENTION_DONE_BY, type AttentionKind, type PaymentAttentionKind } from '@pf/contracts/dashboard';
import type pg from 'pg';
import type { IntentOwner } from '../ledger/intents.ts';
import { MISMATCH_STANDS } from '../ledger/withdrawn-mismatches.ts';
import type { Database } from '../postgres/database.ts';
import { changingAccount } from './rights.ts';
import { type AuditSource, recordChange } from './audit.ts';

/** Something that an account should look at. What a kind does not have is null. */
export interface AttentionRow {
  readonly kind: AttentionKind;
  readonly id: string;
  readonly at: Date;
  readonly intentId: string | null;
  /** Of an unexpected payment, or one of more than the amount: the body of its event. */
  readonly event: string | null;
  /** Of a payment from a sanctioned sender: the state of its intent. */
  readonly state: string | null;
  /** Of a deposit: its document. */
  readonly deposit: string | null;
  readonly chain: string | null;
  readonly hash: string | null;
  readonly sender: string | null;
  readonly endpointId: string | null;
  readonly url: string | null;
  readonly deliveryId: string | null;
  readonly eventType: string | null;
  /** In words: why a delivery has failed, or `gone` or `failing` for a disabled endpoint. */
  readonly reason: string | null;
  /** When a person has marked it as done; null while it is open. */
  readonly doneAt: Date | null;
  /** That person. */
  readonly doneBy: string | null;
  readonly doneByName: string | null;
}

/** A payment that needs attention. */
export interface PaymentAttentionRow extends AttentionRow {
  readonly kind: PaymentAttentionKind;
  readonly intentId: string;
}

/** What is null if a kind does not name it, in the order of the statement. */
const COLUMNS = {
  intentId: 'text',
  event: 'text',
  state: 'text',
  deposit: 'text',
  chain: 'text',
  hash: 'text',
  sender: 'text',
  endpointId: 'text',
  url: 'text',
  deliveryId: 'text',
  eventType: 'text',
  reason: 'text',
} as const satisfies Partial<Record<keyof AttentionRow, string>>;

interface Source {
  readonly at: string;
  readonly id: string;
  readonly columns: Readonly<Partial<Record<keyof typeof COLUMNS, string>>>;
  /** With the account as $1 and the mode as $2. */
  readonly from: string;
}

const unexpected = (kind: string): Source => ({
  at: 'at',
  id: 'event_id',
  columns: { intentId: 'intent_id', event: 'body' },
  from: `ledger.intent_events WHERE account_id = $1 AND livemode = $2 AND type = 'intent.${kind}'`,
});
/** Without those that were withdrawn. */
const mismatched: Source = {
  ...unexpected('mismatched_payment'),
  from: `(SELECT at, event_id, intent_id, body FROM ledger.intent_events AS reported
           WHERE account_id = $1 AND livemode = $2 AND type = 'intent.mismatched_payment'
             AND ${MISMATCH_STANDS}) AS mismatched WHERE true`,
};
/** Those that the account has not removed: an account has a few. */
const ENDPOINTS = `service.webhook_endpoints
  WHERE account_id = $1 AND livemode = $2 AND (disabled_at IS NULL OR disabled_by <> 'account')`;

/** Where each kind is found. Each has an index in the order of the list, or a few rows for an account. */
const SOURCES: Readonly<Record<AttentionKind, Source>> = {
  mismatched_payment: mismatched,
  extra_payment: unexpected('extra_payment'),
  late_payment: unexpected('late_payment'),
  overpaid: unexpected('overpaid'),
  sanctioned_sender: {
    at: 'flagged_at',
    id: 'id',
    columns: { intentId: 'intent_id', state: 'state', chain: 'chain', hash: 'hash', sender: 'sender' },
    from: `(SELECT payment.intent_id, payment.chain, payment.hash, payment.sender, payment.flagged_at, intent.state,
                   'snd_' || md5(concat_ws(' ', payment.chain, hash, sender, intent_id)) AS id
              FROM service.unasked_payments AS payment LEFT JOIN ledger.intents AS intent ON intent.id = intent_id
             WHERE payment.account_id = $1 AND payment.livemode = $2 AND flagged_at IS NOT NULL) AS flagged WHERE true`,
  },
  deposit: {
    at: 'created_at',
    id: 'id',
    columns: { deposit: 'document' },
    // As the condition of the index deposits_to_decide has it.
    from: `ledger.deposits WHERE account_id = $1 AND livemode = $2
             AND state = 'open' AND level IN ('confirmed', 'finalized')`,
  },
  endpoint_paused: {
    at: 'paused_at',
    id: 'id',
    columns: { endpointId: 'id', url: 'url' },
    from: `${ENDPOINTS} AND paused_at IS NOT NULL`,
  },
  endpoint_disabled: {
    at: 'disabled_at',
    id: 'id',
    columns: { endpointId: 'id', url: 'url', reason: 'disabled_by' },
    from: `${ENDPOINTS} AND disabled_at IS NOT NULL`,
  },
  failed_delivery: {
    at: 'failed_at',
    id: 'failed.id',
    columns: {
      intentId: 'intent_id',
      endpointId: 'endpoint.id',
      url: 'failed.url',
      deliveryId: 'failed.id',
      eventType: 'event_type',
      reason: 'error',
    },
    from: `(SELECT id FROM ${ENDPOINTS}) AS endpoint, LATERAL (
             SELECT id, intent_id, url, event_type, error, failed_at FROM service.deliveries
              WHERE endpoint_id = endpoint.id AND status = 'failed' AND event_type <> 'webhook_endpoint.test'
                AND ($3::timestamptz IS NULL OR (failed_at, id) < ($3, $4))
              ORDER BY failed_at DESC, id DESC LIMIT $5) AS failed WHERE true`,
  },
};

/** What a person can mark as done. */
const PAYMENT_KINDS = Object.keys(ATTENTION_DONE_BY) as PaymentAttentionKind[];
const isPaymentKind = (kind: AttentionKind): kind is PaymentAttentionKind => kind in ATTENTION_DONE_BY;

/** The rows of a kind, for further conditions. */
function rowsOf(kind: AttentionKind): string {
  const { at, id, columns, from } = SOURCES[kind];
  const selected = Object.entries(COLUMNS).map(
    ([name, type]) => `${columns[name as keyof typeof COLUMNS] ?? `NULL::${type}`} AS "${name}"`,
  );
  return `SELECT '${kind}' AS kind, ${id} AS id, ${at} AS at, ${selected.join(', ')} FROM ${from}`;
}

/** Of a mark that is called `done`, with its person. */
const DONE = 'done.done_at AS "doneAt", done.user_id AS "doneBy", person.name AS "doneByName"';
const PERSON = 'LEFT JOIN dashboard.users AS person ON person.id = done.user_id';
const MARKS = 'dashboard.attention_done AS done';

/**
 * What an account should look at, newest first, without what was marked as done. Each kind is read from a range of an
 * index, and no more of it than the page may need, beside what was marked.
 * @param after where the page before ended; null: begins with the newest
 */
export async function listAttention(
  { scans }: Pick<Database, 'scans'>,
  owner: IntentOwner,
  kinds: readonly AttentionKind[],
  after: Position | null,
  limit: number,
): Promise<readonly AttentionRow[]> {
  return (await scans.query<AttentionRow>(attentionStatement(owner, kinds, after, limit))).rows;
}

interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

/** The statement of listAttention. */
export function attentionStatement(
  { accountId, livemode }: IntentOwner,
  kinds: readonly AttentionKind[],
  after: Position | null,
  limit: number,
): Statement {
  const runs = kinds.map((kind) => {
    const { at, id } = SOURCES[kind];
    const isOpen = isPaymentKind(kind)
      ? `AND NOT EXISTS (SELECT FROM ${MARKS} WHERE done.account_id = $1 AND done.livemode = $2 AND item_id = ${id})`
      : '';
    return `(${rowsOf(kind)} ${isOpen}
              AND ($3::timestamptz IS NULL OR (${at}, ${id}) < ($3, $4)) ORDER BY ${at} DESC, ${id} DESC LIMIT $5)`;
  });
  return {
    text: `SELECT *, NULL::timestamptz AS "doneAt", NULL AS "doneBy", NULL AS "doneByName"
             FROM (${runs.join(' UNION ALL ')}) AS runs ORDER BY at DESC, id DESC LIMIT $5`,
    values: [accountId, livemode, after === null ? null : new Date(after.createdAt), after?.id ?? null, limit],
  };
}

/**
 * The payments that people have marked as done, the newest mark first.
 * @param after the time and the id of the last mark of the page before; null: begins with the newest
 */
export async function listDoneAttention(
  { scans }: Pick<Database, 'scans'>,
  owner: IntentOwner,
  kinds: readonly AttentionKind[],
  after: Position | null,
  limit: number,
): Promise<readonly PaymentAttentionRow[]> {
  const statement = doneAttentionStatement(owner, kinds.filter(isPaymentKind), after, limit);
  return statement === null ? [] : (await scans.query<PaymentAttentionRow>(statement)).rows;
}

/** The statement of listDoneAttention; null where nothing can be in the list. */
export function doneAttentionStatement(
  { accountId, livemode }: IntentOwner,
  kinds: readonly PaymentAttentionKind[],
  after: Position | null,
  limit: number,
): Statement | null {
  if (kinds.length === 0) return null;
  const runs = kinds.map(
    (kind) =>
      `${rowsOf(kind)} AND done.kind = '${kind}' AND intent_id = done.intent_id AND ${SOURCES[kind].id} = item_id`,
  );
  return {
    text: `SELECT item.*, ${DONE} FROM ${MARKS}
             CROSS JOIN LATERAL (${runs.join(' UNION ALL ')}) AS item ${PERSON}
            WHERE done.account_id = $1 AND done.livemode = $2
              AND ($3::timestamptz IS NULL OR (done_at, item_id) < ($3, $4))
            ORDER BY done_at DESC, item_id DESC LIMIT $5`,
    values: [accountId, livemode, after === null ? null : new Date(after.createdAt), after?.id ?? null, limit],
  };
}

/** A payment that needs attention, or did until it was marked as done; null if the owner has none of this id. */
export async function findPaymentAttention(
  { scans }: Pick<Database, 'scans'>,
  { accountId, livemode }: IntentOwner,
  id: string,
): Promise<PaymentAttentionRow | null> {
  const runs = PAYMENT_KINDS.map((kind) => `${rowsOf(kind)} AND ${SOURCES[kind].id} = $3`);
  const { rows } = await scans.query<PaymentAttentionRow>(
    `SELECT item.*, ${DONE} FROM (${runs.join(' UNION ALL ')}) AS item
       LEFT JOIN ${MARKS} ON done.account_id = $1 AND done.livemode = $2 AND item_id = item.id ${PERSON}`,
    [accountId, livemode, id],
  );
  return rows[0] ?? null;
}

interface Marking {
  readonly owner: IntentOwner;
  readonly item: Pick<PaymentAttentionRow, 'id' | 'kind' | 'intentId'>;
}

/** Marks a payment as done, and records who has. One that is marked already keeps its mark. */
export async function markAttentionDone(
  database: Database,
  { owner, item, userId, at }: Marking & { readonly userId: string; readonly at: Date },
  by: AuditSource,
): Promise<void> {
  await changingAccount(database, owner.accountId, by, async (client) => {
    const { rowCount } = await client.query(
      `INSERT INTO dashboard.attention_done (account_id, livemode, item_id, kind, intent_id, done_at, user_id)
       VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING`,
      [owner.accountId, owner.livemode, item.id, item.kind, item.intentId, at, userId],
    );
    if (rowCount === 0) return;
    await recordMark(client, 'attention.done', { owner, item }, by);
  });
}

/** Takes the mark of a payment away, if it has one, and records who has. */
export async function reopenAttention(database: Database, { owner, item }: Marking, by: AuditSource): Promise<void> {
  await changingAccount(database, owner.accountId, by, async (client) => {
    const { rowCount } = await client.query(
      'DELETE FROM dashboard.attention_done WHERE account_id = $1 AND livemode = $2 AND item_id = $3',
      [owner.accountId, owner.livemode, item.id],
    );
    if (rowCount === 0) return;
    await recordMark(client, 'attention.reopened', { owner, item }, by);
  });
}

const recordMark = (
  client: pg.PoolClient,
  action: 'attention.done' | 'attention.reopened',
  { owner: { accountId, livemode }, item: { id, kind, intentId } }: Marking,
  by: AuditSource,
): Promise<void> =>
  recordChange(client, by, { accountId, livemode, action, subject: intentId, after: { kind, item: id } });
