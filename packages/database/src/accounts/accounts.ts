import type { Plan } from '@pf/contracts';
import { newAccountId, plan as planSchema } from '@pf/contracts';
import type { AccountId } from '@pf/domain';
import { type AuditSource, recordChange } from '../dashboard/audit.ts';
import { type Database, inTransaction } from '../postgres/database.ts';

export interface Account {
  readonly id: AccountId;
  readonly name: string;
  readonly plan: Plan;
  readonly createdAt: Date;
}

interface AccountRow {
  readonly id: string;
  readonly name: string;
  readonly plan: string;
  readonly createdAt: Date;
}

const fromRow = ({ id, name, plan, createdAt }: AccountRow): Account => ({
  id: id as AccountId,
  name,
  plan: planSchema.parse(plan),
  createdAt,
});

const COLUMNS = 'id, name, plan, created_at AS "createdAt"';

/**
 * Creates an account on the free plan, without keys, secrets or URLs.
 * @param by who does; without it, as for tests, the audit log has no entry
 */
export async function createAccount(
  database: Database,
  { name }: { readonly name: string },
  by?: AuditSource,
): Promise<Account> {
  return inTransaction(database, async (client) => {
    const id = newAccountId();
    const { rows } = await client.query<AccountRow>(
      `INSERT INTO service.accounts (id, name) VALUES ($1, $2) RETURNING ${COLUMNS}`,
      [id, name],
    );
    if (by) await recordChange(client, by, { accountId: id, action: 'account.created', subject: id, after: { name } });
    const [row] = rows;
    if (!row) throw new Error('the account was not stored');
    return fromRow(row);
  });
}

/** The account, or null if there is none with this id. */
export async function findAccount({ prisma }: Database, id: string): Promise<Account | null> {
  const row = await prisma.account.findUnique({ where: { id } });
  return row && fromRow(row);
}

/** All accounts, oldest first. */
export async function listAccounts({ prisma }: Database): Promise<readonly Account[]> {
  return (await prisma.account.findMany({ orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] })).map(fromRow);
}

/**
 * Moves an account to a plan. Gateways apply it when their cached key expires, within 30 s.
 * @param by who does; without it, as for tests, the audit log has no entry
 * @returns null if there is no such account
 */
export async function setPlan(database: Database, id: string, plan: Plan, by?: AuditSource): Promise<Account | null> {
  return inTransaction(database, async (client) => {
    const { rows: former } = await client.query<{ plan: string }>(
      'SELECT plan FROM service.accounts WHERE id = $1 FOR NO KEY UPDATE',
      [id],
    );
    const { rows } = await client.query<AccountRow>(
      `UPDATE service.accounts SET plan = $2 WHERE id = $1 RETURNING ${COLUMNS}`,
      [id, plan],
    );
    const [row] = rows;
    if (!row) return null;
    const change = { accountId: id, action: 'account.plan_changed', subject: id } as const;
    if (by) await recordChange(client, by, { ...change, before: { plan: former[0]?.plan }, after: { plan } });
    return fromRow(row);
  });
}
