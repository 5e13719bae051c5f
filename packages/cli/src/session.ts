import { hostname, userInfo } from 'node:os';
import {
  type Account,
  type AuditSource,
  type Database,
  findAccount,
  isDatabaseUnavailable,
  openDatabase,
} from '@pf/database';
import type { Command } from 'commander';
import { z } from 'zod';
import { CliError } from './cli-error.ts';
import { createOutput, type Output } from './output.ts';
import { readLogin } from './remote/login-file.ts';
import { findStack, type StackAccess } from './stack.ts';

const options = z.object({
  account: z.string().optional(),
  mode: z.enum(['test', 'live']).default('test'),
  json: z.boolean().default(false),
});

export type Mode = 'test' | 'live';

/** The options that every command takes. */
export const globalOptions = (command: Command): z.infer<typeof options> => options.parse(command.optsWithGlobals());

/** What a command works with. */
export interface Session {
  readonly database: Database;
  readonly output: Output;
  readonly mode: Mode;
  readonly livemode: boolean;
  readonly stack: StackAccess;
  /** Who changes something, for the audit log. */
  readonly by: AuditSource;
  /** The account of --account, else the seeded one. Throws CliError where it is not there. */
  readonly account: () => Promise<Account>;
}

/** What a command needs from outside; given by main.ts, and by tests. */
export interface CommandContext {
  readonly environment?: NodeJS.ProcessEnv;
  readonly write: (text: string) => void;
  /** For commands that go on until they are ended: a signal that aborts then (Ctrl-C). */
  readonly untilEnded?: () => AbortSignal;
}

/** For commands that need no database. */
export function withoutDatabase(
  command: Command,
  { environment, write }: CommandContext,
): Pick<Session, 'output' | 'stack'> {
  return { output: createOutput(globalOptions(command).json, write), stack: findStack(environment) };
}

/** The user of this machine: whoever has the database's password can be anyone, so it is what they say. */
function operator(): AuditSource {
  return {
    kind: 'operator',
    id: null,
    name: userInfo().username,
    address: hostname(),
    userAgent: 'pf',
    requestId: null,
  };
}

/** Opens the database, runs a command's work, closes it again. */
export async function withSession(
  command: Command,
  { environment, write }: CommandContext,
  work: (session: Session) => Promise<void>,
): Promise<void> {
  const { account, mode, json } = globalOptions(command);
  const stack = findStack(environment);
  const url = await stack.databaseUrl().catch(async (error: unknown) => {
    const login = await readLogin(environment);
    if (!login) throw error;
    throw new CliError(
      `This is for operators: it needs the database. You are logged in to ${login.url}, which is enough for ` +
        '`pf intents`, `pf keys` and `pf webhooks`. To work on a database, set DATABASE_URL.',
      { cause: error },
    );
  });
  const database = openDatabase({ url, applicationName: 'pf', maxConnections: 4 });
  try {
    await work({
      database,
      output: createOutput(json, write),
      mode,
      livemode: mode === 'live',
      stack,
      by: operator(),
      account: async () => {
        const id = account ?? (await stack.seededAccount());
        const found = await findAccount(database, id);
        if (!found) throw new CliError(`Account ${id} does not exist. List the accounts with \`pf accounts list\`.`);
        return found;
      },
    });
  } catch (error) {
    if (!isDatabaseUnavailable(error)) throw error;
    const { host } = new URL(url);
    throw new CliError(`The database at ${host} does not respond. Is the stack running? Start it with \`npm start\`.`, {
      cause: error,
    });
  } finally {
    await database.close();
  }
}
