import { PaymentClient } from '@pf/client';
import type { Command } from 'commander';
import { CliError } from '../cli-error.ts';
import { createOutput, type Output } from '../output.ts';
import { type CommandContext, globalOptions, type Mode, type Session, withSession } from '../session.ts';
import { tellRefusals } from '../refusals.ts';
import { Dashboard } from './dashboard.ts';
import { type Login, loginUnless } from './login-file.ts';

/** What a command works with that has a login, and no database. */
export interface LoginSession {
  readonly dashboard: Dashboard;
  /** The account of --account, else the only one of the person. */
  readonly accountId: string;
  /** The payment API of this account and mode. */
  readonly client: PaymentClient;
  readonly output: Output;
  readonly mode: Mode;
}

/** What goes before a login for commands that otherwise need the database. */
const DATABASE_NAMES = ['DATABASE_URL', 'PF_DATA'];

/** Runs a command's work by the login; with the database where the environment names one, or there is no login. */
export async function withLoginOrDatabase(
  command: Command,
  context: CommandContext,
  work: {
    readonly login: (session: LoginSession) => Promise<void>;
    readonly database: (session: Session) => Promise<void>;
  },
): Promise<void> {
  const login = await loginUnless(DATABASE_NAMES, context.environment);
  if (!login) return withSession(command, context, work.database);
  const { json, mode } = globalOptions(command);
  const { dashboard, accountId, baseUrl, apiKey } = await accessBy(login, command);
  const client = new PaymentClient({ baseUrl, apiKey, maxRetries: 2 });
  const output = createOutput(json, context.write);
  await tellRefusals({ mode, url: login.url, isLocal: false }, () =>
    work.login({ dashboard, accountId, client, output, mode }),
  );
}

/** Runs what only an operator may do: with a login alone it says so, and does not fall back to another stack. */
export async function withOperator(
  command: Command,
  context: CommandContext,
  instead: string,
  work: (session: Session) => Promise<void>,
): Promise<void> {
  const login = await loginUnless(DATABASE_NAMES, context.environment);
  if (login)
    throw new CliError(
      `This is for operators: it needs the database, and you are logged in to ${login.url}. ${instead} To work on a ` +
        'database, set DATABASE_URL or `pf logout`.',
    );
  await withSession(command, context, work);
}

/** The payment API by a login, in the account and mode of the command. */
export async function accessBy(
  login: Login,
  command: Command,
): Promise<{
  readonly dashboard: Dashboard;
  readonly accountId: string;
  readonly baseUrl: string;
  readonly apiKey: string;
}> {
  const { account, mode } = globalOptions(command);
  const dashboard = new Dashboard(login.url, login.token);
  const accountId = account ?? (await onlyAccount(dashboard));
  const baseUrl = `${login.url}/api/accounts/${encodeURIComponent(accountId)}/${mode}/v1`;
  return { dashboard, accountId, baseUrl, apiKey: login.token };
}

async function onlyAccount(dashboard: Dashboard): Promise<string> {
  const { memberships, user } = await dashboard.whoami();
  const [first, second] = memberships;
  if (first && !second) return first.accountId;
  const names = memberships.map(({ accountId, name }) => `${accountId} (${name})`);
  throw new CliError(
    first
      ? `Name the account with --account: ${names.join(', ')}.`
      : `${user.email} is not a member of any account at ${dashboard.url}. Create one there.`,
  );
}
