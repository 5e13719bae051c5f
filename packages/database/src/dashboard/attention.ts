import type { Position } from '@pf/contracts';
import type { AttentionKind } from '@pf/contracts/dashboard';
import type { IntentOwner } from '../ledger/intents.ts';
import type { Database } from '../postgres/database.ts';

/** Something that an account should look at. What a kind does not have is null. */
export interface AttentionRow {
  readonly kind: AttentionKind;
  readonly id: string;
  readonly at: Date;
  readonly intentId: string | null;
  /** Of an unexpected payment: the body of its event. */
  readonly event: string | null;
  /** Of a payment from a sanctioned sender: the state of its intent. */
  readonly state: string | null;
  readonly chain: string | null;
  readonly hash: string | null;
  readonly sender: string | null;
  readonly endpointId: string | null;
  readonly url: string | null;
  readonly deliveryId: string | null;
  readonly eventType: string | null;
  /** In words: why a delivery has failed, or `gone` or `failing` for a disabled endpoint. */
  readonly reason: string | null;
}

/** What is null if a kind does not name it, in the order of the statement. */
const COLUMNS = {
  intentId: 'text',
  event: 'text',
  state: 'text',
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
/** Those that the account has not removed: an account has a few. */
const ENDPOINTS = `service.webhook_endpoints
  WHERE account_id = $1 AND livemode = $2 AND (disabled_at IS NULL OR disabled_by <> 'account')`;

/** Where each kind is found. Each has an index in the order of the list, or a few rows for an account. */
const SOURCES: Readonly<Record<AttentionKind, Source>> = {
  mismatched_payment: unexpected('mismatched_payment'),
  extra_payment: unexpected('extra_payment'),
  late_payment: unexpected('late_payment'),
  sanctioned_sender: {
    at: 'flagged_at',
    id: 'id',
    columns: { intentId: 'intent_id', state: 'state', chain: 'chain', hash: 'hash', sender: 'sender' },
    from: `(SELECT payment.intent_id, payment.chain, payment.hash, payment.sender, payment.flagged_at, intent.state,
                   'snd_' || md5(concat_ws(' ', payment.chain, hash, sender, intent_id)) AS id
              FROM service.unasked_payments AS payment LEFT JOIN ledger.intents AS intent ON intent.id = intent_id
             WHERE payment.account_id = $1 AND payment.livemode = $2 AND flagged_at IS NOT NULL) AS flagged WHERE true`,
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

/**
 * What an account should look at, newest first. Each kind is read from a range of an index, and no more of it than the
 * page may need.
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

/** The statement of listAttention. */
export function attentionStatement(
  { accountId, livemode }: IntentOwner,
  kinds: readonly AttentionKind[],
  after: Position | null,
  limit: number,
): { readonly text: string; readonly values: unknown[] } {
  const runs = kinds.map((kind) => {
    const { at, id, columns, from } = SOURCES[kind];
    const selected = Object.entries(COLUMNS).map(
      ([name, type]) => `${columns[name as keyof typeof COLUMNS] ?? `NULL::${type}`} AS "${name}"`,
    );
    return `(SELECT '${kind}' AS kind, ${id} AS id, ${at} AS at, ${selected.join(', ')} FROM ${from}
              AND ($3::timestamptz IS NULL OR (${at}, ${id}) < ($3, $4)) ORDER BY ${at} DESC, ${id} DESC LIMIT $5)`;
  });
  return {
    text: `SELECT * FROM (${runs.join(' UNION ALL ')}) AS runs ORDER BY at DESC, id DESC LIMIT $5`,
    values: [accountId, livemode, after === null ? null : new Date(after.createdAt), after?.id ?? null, limit],
  };
}
