import { type Position, writeCursor } from '@pf/contracts';
import { AUDIT_EXPORT_MAX, type AuditEntryShown } from '@pf/contracts/dashboard';
import { auditEntries, type AuditEntry, type AuditFilter, type Database } from '@pf/database';
import { pageOf, positionOf, Slots } from '@pf/http';
import { count } from '@pf/runtime';
import { stringify } from 'csv-stringify/sync';
import { DashboardError } from '../dashboard-error.ts';
import type { Endpoints } from '../endpoint.ts';

/** Rows of one query of an export. */
const EXPORT_PAGE = 1_000;
/** Exports at a time, of an account, a person and a process: others wait for none of them. */
const EXPORTS_MAX = { account: 1, person: 1, all: 4 } as const;
const RETRY_AFTER_SECONDS = 10;
/** As RFC 4180 has it. A spreadsheet runs no cell: what begins as a formula gets an apostrophe. */
const CSV = { quoted: true, escape_formulas: true, record_delimiter: 'windows' } as const;
const COLUMNS = [
  'at',
  'actor_kind',
  'actor_id',
  'actor_name',
  'actor_token',
  'action',
  'mode',
  'subject',
  'before',
  'after',
  'address',
  'user_agent',
  'request_id',
  'id',
] as const;

interface Filters {
  readonly action?: AuditFilter['action'];
  readonly actor?: string | undefined;
  readonly subject?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

const filterOf = ({ action, actor, subject, since, until }: Filters): AuditFilter => ({
  action,
  actor,
  subject,
  since: since === undefined ? undefined : new Date(since),
  until: until === undefined ? undefined : new Date(until),
});
const positionIn = ({ at, entryId }: AuditEntry): Position => ({ createdAt: at.getTime(), id: entryId });

/** The endpoints of the audit log. */
export function auditEndpoints({ database }: { readonly database: Database }): Endpoints<'Audit log'> {
  const slots = new Slots();
  /** @throws DashboardError `rate_limit.exceeded` or `service.unavailable` if there are as many as there may be */
  const take = (accountId: string, userId: string): (() => void) => {
    const taken = slots.take({
      [accountId]: EXPORTS_MAX.account,
      [userId]: EXPORTS_MAX.person,
      all: EXPORTS_MAX.all,
    });
    if (typeof taken === 'function') return taken;
    if (taken.full === 'all') throw new DashboardError('service.unavailable');
    count('payments.rate_limited', { policy: 'dashboard' });
    throw new DashboardError('rate_limit.exceeded', {
      message:
        taken.full === userId
          ? `You are exporting another audit log. Try again in ${RETRY_AFTER_SECONDS} s.`
          : `The account's audit log is being exported already. Try again in ${RETRY_AFTER_SECONDS} s.`,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  };
  /** The rows as CSV, page by page, on the connections of those that read many. */
  async function* csv(accountId: string, userId: string, filter: AuditFilter): AsyncIterable<string> {
    const release = take(accountId, userId);
    try {
      const scans = { sql: database.scans };
      let head = stringify([[...COLUMNS]], CSV);
      let after: Position | null = null;
      for (let rows = 0; rows < AUDIT_EXPORT_MAX; rows += EXPORT_PAGE) {
        const entries: readonly AuditEntry[] = await auditEntries(scans, accountId, filter, after, EXPORT_PAGE);
        yield head + stringify(entries.map(cellsOf), CSV);
        const last = entries.at(-1);
        if (!last || entries.length < EXPORT_PAGE) return;
        head = '';
        after = positionIn(last);
      }
    } finally {
      release();
    }
  }
  return {
    async listAudit({ account, query: { limit, cursor, ...filters } }) {
      const found = await auditEntries(database, account.id, filterOf(filters), positionOf({ cursor }), limit + 1);
      const { rows, hasMore, nextCursor } = pageOf(found, limit, (entry) => writeCursor(positionIn(entry)));
      return { entries: rows.map(shownEntry), hasMore, nextCursor };
    },
    async exportAudit({ account, person, query }) {
      return csv(account.id, person.userId, filterOf(query));
    },
  };
}

const modeOf = (livemode: boolean | null): 'test' | 'live' | null =>
  livemode === null ? null : livemode ? 'live' : 'test';

const shownEntry = ({ entryId, at, kind, id, name, tokenId, livemode, ...entry }: AuditEntry): AuditEntryShown => ({
  id: entryId,
  at: at.toISOString(),
  actor: { kind, id, name, token: tokenId },
  action: entry.action,
  mode: modeOf(livemode),
  subject: entry.subject,
  before: entry.before,
  after: entry.after,
  address: entry.address,
  userAgent: entry.userAgent,
  requestId: entry.requestId,
});

const jsonOf = (facts: unknown): string => (facts === null ? '' : JSON.stringify(facts));

function cellsOf(entry: AuditEntry): readonly string[] {
  const { at, kind, id, name, tokenId, action, livemode, subject, before, after } = entry;
  const { address, userAgent, requestId, entryId } = entry;
  return [
    at.toISOString(),
    kind,
    id ?? '',
    name,
    tokenId ?? '',
    action,
    modeOf(livemode) ?? '',
    subject ?? '',
    jsonOf(before),
    jsonOf(after),
    address ?? '',
    userAgent ?? '',
    requestId ?? '',
    entryId,
  ];
}
