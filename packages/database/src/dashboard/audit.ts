import { newAuditEntryId, type Position } from '@pf/contracts';
import {
  type AuditAction,
  type AuditActorKind,
  type ListedAction,
  PERSONAL_ACTIONS,
  type PersonAction,
  PRIVATE_ACTIONS,
} from '@pf/contracts/dashboard';
import type pg from 'pg';
import type { Database } from '../postgres/database.ts';
import type { Right } from './rights.ts';

/** A connection to Postgres, or a transaction on one. */
interface Writer {
  query(text: string, values: readonly unknown[]): Promise<unknown>;
}
interface ReaderAndWriter extends Writer {
  query<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[]): Promise<pg.QueryResult<Row>>;
}

/** Who changes something, and from where. */
export interface AuditSource {
  readonly kind: AuditActorKind;
  /** Of the person; null for an operator, and for a person who is not known yet. */
  readonly id: string | null;
  readonly name: string;
  /** The personal token with which the person makes the request. */
  readonly tokenId?: string | null;
  readonly address: string | null;
  readonly userAgent: string | null;
  readonly requestId: string | null;
  /** By what a person may do it: it is judged in the transaction of the change. Without it only an operator may. */
  readonly right?: Right | undefined;
}

/** What was changed. */
export interface AuditedChange {
  /** Null: of no account. */
  readonly accountId: string | null;
  readonly action: AuditAction;
  readonly livemode?: boolean | null;
  /** The id of what was changed. */
  readonly subject?: string | null;
  /** Facts about it, never a secret. */
  readonly before?: Readonly<Record<string, unknown>> | null;
  readonly after?: Readonly<Record<string, unknown>> | null;
}

export interface AuditEntry extends Required<AuditedChange>, Required<Omit<AuditSource, 'right'>> {
  readonly entryId: string;
  readonly action: ListedAction;
  readonly at: Date;
}

export interface AuditFilter {
  readonly action?: AuditAction | undefined;
  readonly actor?: string | undefined;
  readonly subject?: string | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

const USER_AGENT_LENGTH_MAX = 300;
const NAME_LENGTH_MAX = 200;
const SUBJECT_LENGTH_MAX = 100;

/**
 * Writes an entry of the audit log: in the transaction of the change, if the client has begun one. Roles that may write
 * one can neither change nor delete it (roles.ts).
 */
export async function recordChange(client: Writer, source: AuditSource, change: AuditedChange): Promise<void> {
  await insertEntries(client, source, [change]);
}

const isPrivate = (action: AuditAction): boolean => (PRIVATE_ACTIONS as readonly AuditAction[]).includes(action);
const isPersonal = (action: AuditAction): boolean => (PERSONAL_ACTIONS as readonly AuditAction[]).includes(action);

/**
 * Writes entries about a person: one of no account, with from where; and one in each account of which they are a
 * member, without that, if it concerns accounts. In the transaction of the change, if the client has begun one.
 */
export async function recordPersonalChange(
  client: ReaderAndWriter,
  source: AuditSource,
  change: Omit<AuditedChange, 'accountId'> & { readonly action: PersonAction },
): Promise<void> {
  await insertEntries(client, source, [{ ...change, accountId: null }]);
  if (isPrivate(change.action)) return;
  const { rows } = await client.query<{ account_id: string }>(
    'SELECT account_id FROM dashboard.members WHERE user_id = $1',
    [source.id],
  );
  await insertEntries(
    client,
    { ...source, address: null, userAgent: null },
    rows.map(({ account_id: accountId }) => ({ ...change, accountId })),
  );
}

async function insertEntries(
  client: Writer,
  { kind, id, name, tokenId = null, address, userAgent, requestId }: AuditSource,
  changes: readonly AuditedChange[],
): Promise<void> {
  const [change] = changes;
  if (!change) return;
  await client.query(
    `INSERT INTO dashboard.audit_entries (id, account_id, actor_kind, actor_id, actor_name, action, livemode, subject,
                                          before, after, address, user_agent, request_id, token_id)
     SELECT entry.id, entry.account_id, $3::text, $4::text, $5::text, $6::text, $7::boolean, $8::text, $9::jsonb,
            $10::jsonb, $11::text, $12::text, $13::text, $14::text
       FROM unnest($1::text[], $2::text[]) AS entry (id, account_id)`,
    [
      changes.map(newAuditEntryId),
      changes.map(({ accountId }) => accountId),
      kind,
      id,
      name.slice(0, NAME_LENGTH_MAX),
      change.action,
      change.livemode ?? null,
      change.subject?.slice(0, SUBJECT_LENGTH_MAX) ?? null,
      asJson(change.before),
      asJson(change.after),
      address,
      userAgent?.slice(0, USER_AGENT_LENGTH_MAX) ?? null,
      requestId,
      tokenId,
    ],
  );
}

/** A URL as the audit log shows it: its query may hold a secret. */
export const shownUrl = (url: string): string => url.split('?')[0] ?? '';

const TEXT_LENGTH_MAX = 200;
const VALUES_MAX = 20;

/** Facts as JSON, with everything that is long cut off. */
function asJson(facts: Readonly<Record<string, unknown>> | null | undefined): string | null {
  if (!facts) return null;
  return JSON.stringify(facts, (_key, value: unknown) => {
    // Postgres stores neither half a surrogate pair nor U+0000.
    if (typeof value === 'string') return value.slice(0, TEXT_LENGTH_MAX).toWellFormed().replaceAll('\0', '');
    if (Array.isArray(value)) return (value as unknown[]).slice(0, VALUES_MAX);
    return value;
  });
}

interface Row {
  readonly id: string;
  readonly account_id: string | null;
  readonly at: Date;
  readonly actor_kind: AuditActorKind;
  readonly actor_id: string | null;
  readonly actor_name: string;
  readonly token_id: string | null;
  readonly action: ListedAction;
  readonly livemode: boolean | null;
  readonly subject: string | null;
  readonly before: Record<string, unknown> | null;
  readonly after: Record<string, unknown> | null;
  readonly address: string | null;
  readonly user_agent: string | null;
  readonly request_id: string | null;
}

/**
 * Entries of an account that match all filters, newest first. Of a person, older code has written into them what
 * concerns no account: that stays unseen.
 * @param after the last one of the page before
 */
export async function auditEntries(
  { sql }: Pick<Database, 'sql'>,
  accountId: string,
  { action, actor, subject, since, until }: AuditFilter,
  after: Position | null,
  limit: number,
): Promise<readonly AuditEntry[]> {
  const values: unknown[] = [accountId, PRIVATE_ACTIONS];
  const conditions = ['account_id = $1', 'action <> ALL($2)'];
  const also = (condition: (parameter: string) => string, value: unknown): void => {
    if (value === undefined || value === null) return;
    values.push(value);
    conditions.push(condition(`$${values.length}`));
  };
  also((parameter) => `action = ${parameter}`, action);
  also((parameter) => `actor_id = ${parameter}`, actor);
  also((parameter) => `subject = ${parameter}`, subject);
  also((parameter) => `at >= ${parameter}`, since);
  also((parameter) => `at < ${parameter}`, until);
  if (after) {
    values.push(new Date(after.createdAt), after.id);
    conditions.push(`(at, id) < ($${values.length - 1}, $${values.length})`);
  }
  const { rows } = await sql.query<Row>(
    `SELECT id, account_id, at, actor_kind, actor_id, actor_name, token_id, action, livemode, subject, before, after,
            address, user_agent, request_id
       FROM dashboard.audit_entries WHERE ${conditions.join(' AND ')} ORDER BY at DESC, id DESC LIMIT ${limit}`,
    values,
  );
  return rows.map((row) => ({
    entryId: row.id,
    accountId: row.account_id,
    at: row.at,
    kind: row.actor_kind,
    id: row.actor_id,
    name: row.actor_name,
    tokenId: row.token_id,
    action: row.action,
    livemode: row.livemode,
    subject: row.subject,
    before: row.before,
    after: row.after,
    address: isPersonal(row.action) ? null : row.address,
    userAgent: isPersonal(row.action) ? null : row.user_agent,
    requestId: row.request_id,
  }));
}

/**
 * Deletes entries that are two years old, by Postgres' clock: a function of the database that can delete no others,
 * because its callers have no right to the table.
 * @returns how many there were, at most `limit`
 */
export async function forgetAuditEntries({ sql }: Database, limit: number): Promise<number> {
  const { rows } = await sql.query<{ deleted: number }>('SELECT dashboard.forget_audit_entries($1) AS deleted', [
    limit,
  ]);
  return rows[0]?.deleted ?? 0;
}
