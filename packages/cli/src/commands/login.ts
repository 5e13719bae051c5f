import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { z } from 'zod';
import { CliError } from '../cli-error.ts';
import { createLines } from '../lines.ts';
import { createOutput, moment, table } from '../output.ts';
import { Dashboard, type Whoami } from '../remote/dashboard.ts';
import { forgetLogin, readLogin, saveLogin } from '../remote/login-file.ts';
import { type CommandContext, globalOptions } from '../session.ts';
import { findStack } from '../stack.ts';

const NAME_LENGTH_MAX = 100;
const MORE_SECONDS = 5;
/** Names that lead to this machine: the token does not leave it. */
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

const begun = z.object({
  deviceCode: z.string(),
  // Shown in a terminal as they are.
  userCode: z.string().regex(/^[A-Z0-9-]{1,20}$/),
  verificationUrl: z.url(),
  verificationUrlComplete: z.url(),
  expiresInSeconds: z.number().positive().max(3_600),
  intervalSeconds: z.number().min(1).max(60),
});
const granted = z.object({ secret: z.string().startsWith('pft_') });
const done = z.object({ done: z.literal(true) });

/** `pf login`: a personal token by a code that the person approves in the dashboard (RFC 8628). */
export function loginCommand(context: CommandContext): Command {
  return new Command('login')
    .description('log in to a deployment with your browser; intents, keys and webhooks then work without a database')
    .argument('[url]', 'its dashboard (default: that of the last login, else that of the local stack)')
    .addHelpText('after', '\nExample:\n  pf login https://payments.example.com')
    .action(async (text: string | undefined, _options: unknown, command: Command) => {
      const { environment, write } = context;
      const before = await readLogin(environment);
      const url = originOf(text ?? before?.url ?? (await findStack(environment).dashboardUrl()));
      const lines = createLines(globalOptions(command).json, write);
      const dashboard = new Dashboard(url);
      const clientName = `pf on ${hostname()}`.slice(0, NAME_LENGTH_MAX);
      const device = await dashboard.ask('POST', '/device/code', begun, { clientName });
      const { userCode, verificationUrl, verificationUrlComplete } = device;
      lines.line({ userCode, verificationUrl, verificationUrlComplete }, () =>
        [
          `Open ${verificationUrl} in your browser and enter this code:`,
          '',
          `  ${userCode}`,
          '',
          `Or open ${verificationUrlComplete} and compare the code.`,
          'Waiting for your approval. Stop with Ctrl-C.',
          '',
        ].join('\n'),
      );
      const token = await tokenOf(dashboard, device, context.untilEnded?.());
      const file = await saveLogin({ url, token }, environment);
      const who = await new Dashboard(url, token).whoami();
      lines.line({ url, file, user: who.user, memberships: who.memberships }, () =>
        [`You are logged in. The token is in ${file}.`, '', textOf(url, who), ''].join('\n'),
      );
      // It is of no use anymore. If it cannot be revoked, it expires.
      if (before) await end(before).catch(() => undefined);
    });
}

export function logoutCommand({ environment, write }: CommandContext): Command {
  return new Command('logout')
    .description('revoke the token of `pf login` and delete it')
    .action(async (_options: unknown, command: Command) => {
      const output = createOutput(globalOptions(command).json, write);
      const login = await readLogin(environment);
      if (!login) throw new CliError('You are not logged in.');
      await forgetLogin(environment);
      try {
        await end(login);
      } catch (cause) {
        throw new CliError(
          `You are logged out on this machine, but ${login.url} could not be reached: the token is valid until it ` +
            'expires. Revoke it in your profile there.',
          { cause },
        );
      }
      output.answer({ url: login.url, loggedOut: true }, () => `You are logged out of ${login.url}.`);
    });
}

export function whoamiCommand({ environment, write }: CommandContext): Command {
  return new Command('whoami')
    .description('show where you are logged in, as whom, and your accounts')
    .action(async (_options: unknown, command: Command) => {
      const output = createOutput(globalOptions(command).json, write);
      const login = await readLogin(environment);
      if (!login) throw new CliError('You are not logged in. Log in with `pf login https://…`.');
      const who = await new Dashboard(login.url, login.token).whoami();
      output.answer({ url: login.url, ...who }, () => textOf(login.url, who));
    });
}

/** Revokes the token of a login; one that is invalid already is as good. */
async function end({ url, token }: { readonly url: string; readonly token: string }): Promise<void> {
  try {
    await new Dashboard(url, token).ask('POST', '/sign-out', done);
  } catch (error) {
    if (!(error instanceof CliError) || error.facts['code'] !== 'token.invalid') throw error;
  }
}

/** Asks for the token until the person has decided. */
async function tokenOf(
  dashboard: Dashboard,
  { deviceCode, expiresInSeconds, intervalSeconds }: z.output<typeof begun>,
  ending: AbortSignal | undefined,
): Promise<string> {
  const endsAt = performance.now() + expiresInSeconds * 1_000;
  let pauseSeconds = intervalSeconds;
  while (performance.now() < endsAt) {
    await sleep(pauseSeconds * 1_000, undefined, ending && { signal: ending }).catch((cause: unknown) => {
      throw new CliError('The login was stopped.', { cause });
    });
    try {
      return (await dashboard.ask('POST', '/device/token', granted, { deviceCode })).secret;
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      const { code, status } = error.facts;
      if (code === 'device.access_denied') throw new CliError('The login was denied in the dashboard.');
      if (code === 'device.expired_token') break;
      if (code === 'device.slow_down' || status === 429) pauseSeconds += MORE_SECONDS;
      // Unavailable for a moment, or the network is.
      else if (code !== 'device.authorization_pending' && typeof status === 'number' && status < 500) throw error;
    }
  }
  throw new CliError('The code has expired. Log in again with `pf login`.');
}

/** @throws CliError for a URL to which no token may go */
function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.test(url.hostname));
  if (!url || !isSafe)
    throw new CliError(
      `"${text.slice(0, 100)}" must start with https://, or with http:// on this machine: the token would be ` +
        'readable in transit.',
    );
  return url.origin;
}

function textOf(url: string, { user, memberships, token }: Whoami): string {
  return [
    `${user.name}, ${user.email}, at ${url}`,
    ...(token ? [`The token “${token.name}” expires ${moment(new Date(token.expiresAt))}.`] : []),
    '',
    memberships.length === 0
      ? 'You are not a member of any account.'
      : table([
          ['ACCOUNT', 'ROLE', 'NAME'],
          ...memberships.map(({ accountId, role, name }) => [accountId, role, name]),
        ]),
  ].join('\n');
}
