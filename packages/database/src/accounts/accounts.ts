import type { Plan } from '@pf/contracts';
import { newAccountId, plan as planSchema } from '@pf/contracts';
import type { AccountId } from '@pf/domain';
import type { Database } from '../postgres/database.ts';

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

/** Creates an account on the free plan, without keys, secrets or URLs. */
export async function createAccount({ prisma }: Database, { name }: { readonly name: string }): Promise<Account> {
  return fromRow(await prisma.account.create({ data: { id: newAccountId(), name } }));
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
 * @returns null if there is no such account
 */
export async function setPlan({ prisma }: Database, id: string, plan: Plan): Promise<Account | null> {
  const [row] = await prisma.account.updateManyAndReturn({ where: { id }, data: { plan } });
  return row ? fromRow(row) : null;
}
