import { PaymentClient } from '@pf/client';
import type { Command } from 'commander';
import { createOutput, type Output } from './output.ts';
import { tellRefusals } from './refusals.ts';
import { loginUnless } from './remote/login-file.ts';
import { accessBy } from './remote/login-session.ts';
import { globalOptions, type Mode, type CommandContext } from './session.ts';
import { findStack } from './stack.ts';

/** What a command works with that asks the public API, as any integrator does, or as a person by the dashboard. */
export interface ApiSession {
  readonly client: PaymentClient;
  readonly output: Output;
  readonly mode: Mode;
}

/** What goes before a login for commands that ask the API. */
const API_NAMES = ['PF_BASE_URL', 'PF_API_KEY', 'PF_DATA'];

/** Runs a command's work with a client of the API; what the API refuses is told with its remedy. */
export async function withApi(
  command: Command,
  { environment, write }: CommandContext,
  work: (session: ApiSession) => Promise<void>,
): Promise<void> {
  const { mode, json, account } = globalOptions(command);
  const login = await loginUnless(API_NAMES, environment);
  const { baseUrl, apiKey } = login ? await accessBy(login, command) : await findStack(environment).api(mode, account);
  const client = new PaymentClient({ baseUrl, apiKey, maxRetries: 2 });
  await tellRefusals({ mode, url: login?.url ?? baseUrl, isLocal: !login }, () =>
    work({ client, output: createOutput(json, write), mode }),
  );
}
