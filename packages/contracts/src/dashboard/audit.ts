import { z } from 'zod';
import { moment, must, word } from '../api/fields.ts';
import { pageQuery, pageResponse } from '../api/paging.ts';
import { AUDIT_ACTORS, AUDIT_ACTIONS, type ListedAction, PRIVATE_ACTIONS } from './audit-actions.ts';
import type { DashboardOperation } from './operation.ts';

/** The most rows of an export. */
export const AUDIT_EXPORT_MAX = 100_000;

const time = z.iso.datetime({ precision: 3 });
const facts = z.record(z.string(), z.unknown()).nullable();
const ACTIONS = Object.keys(AUDIT_ACTIONS).filter(
  (action) => !(PRIVATE_ACTIONS as readonly string[]).includes(action),
) as [ListedAction, ...ListedAction[]];
const auditEntry = z.strictObject({
  id: z.string(),
  at: time,
  actor: z.strictObject({
    kind: z.enum(AUDIT_ACTORS),
    /** Of the person; null for an operator. */
    id: z.string().nullable(),
    /** The e-mail address that the person had; for an operator the name of the user on their machine. */
    name: z.string(),
    /** The id of the personal token that was used; null if none was. */
    token: z.string().nullable(),
  }),
  action: z.enum(ACTIONS),
  mode: z.enum(['test', 'live']).nullable(),
  /** The id of what was changed. */
  subject: z.string().nullable(),
  /** What was changed, as it was and as it is now, where that is short. Never a secret. */
  before: facts,
  after: facts,
  /** The client's address; for an operator the name of their machine. Null for what a person does as themselves. */
  address: z.string().nullable(),
  userAgent: z.string().nullable(),
  /** Of the response that the change had. */
  requestId: z.string().nullable(),
});
export const auditResponse = z.strictObject({ entries: z.array(auditEntry), ...pageResponse });
export type AuditEntryShown = z.output<typeof auditEntry>;

const action = z.enum(ACTIONS, must('an action of the audit log, such as key.created'));
const filters = {
  action: action.optional(),
  actor: word('the id of a person').optional(),
  subject: word('the id of what was changed').optional(),
  since: moment.optional(),
  until: moment.optional(),
};
const FILTERS =
  '`action`, `actor` (the id of a person) and `subject` (the id of what was changed) select some, `since` and ' +
  '`until` a time.';

export const AUDIT_OPERATIONS = {
  listAudit: {
    id: 'listAudit',
    method: 'get',
    path: '/accounts/{accountId}/audit',
    tag: 'Audit log',
    summary: 'List the audit log',
    description:
      'Who changed what, when and from where, newest first. No member of the account can change or delete an entry. ' +
      'Of what members do to how they sign in, there is what concerns the account: not their sign-ins, and no ' +
      `address or browser. It is kept for two years. ${FILTERS}`,
    access: ['owner', 'developer'],
    query: z.strictObject({ ...pageQuery, ...filters }),
    status: 200,
    response: auditResponse,
    errors: [],
  },
  exportAudit: {
    id: 'exportAudit',
    method: 'get',
    path: '/accounts/{accountId}/audit.csv',
    tag: 'Audit log',
    summary: 'Export the audit log',
    description:
      `The newest ${AUDIT_EXPORT_MAX.toLocaleString('en-US')} entries as CSV (RFC 4180), newest first. A cell that a ` +
      'spreadsheet would read as a formula starts with an apostrophe. An account has one export at a time; a second ' +
      `one is refused with \`rate_limit.exceeded\`. ${FILTERS}`,
    access: ['owner', 'developer'],
    query: z.strictObject(filters),
    status: 200,
    type: 'text/csv',
    response: z.string(),
    errors: [],
  },
} as const satisfies Readonly<Record<string, DashboardOperation>>;
