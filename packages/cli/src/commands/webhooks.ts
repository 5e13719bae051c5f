import {
  addWebhookEndpoint,
  createWebhookSecret,
  listWebhookEndpoints,
  removeWebhookEndpoint,
  secretsInForce,
  type WebhookEndpoint,
  webhookSecrets,
} from '@pf/database';
import { Command } from 'commander';
import { z } from 'zod';
import { CliError } from '../cli-error.ts';
import { addDeliveryCommands } from './deliveries.ts';
import { moment, table } from '../output.ts';
import { type CommandContext, withSession } from '../session.ts';

const MAX_URL_LENGTH = 2_048;

export function webhooksCommand(surroundings: CommandContext): Command {
  const webhooks = new Command('webhooks').description(
    'where an account hears of its events, and the secret they are signed with; each mode has its own',
  );

  webhooks
    .command('add')
    .description('have the events of a mode sent to a URL, from now on')
    .argument('<url>', 'http:// or https://')
    .addHelpText(
      'after',
      '\nExamples:\n  pf webhooks add https://shop.example/webhooks\n  pf webhooks add https://shop.example/webhooks --mode live',
    )
    .action((text: string, _options: unknown, command: Command) =>
      withSession(command, surroundings, async ({ database, output, mode, livemode, account }) => {
        const { id: accountId } = await account();
        const endpoint = await addWebhookEndpoint(database, { accountId, livemode, url: checkedUrl(text) });
        if (!endpoint) throw new CliError(`There is no account ${accountId}. \`pf accounts list\` shows all`);
        output.answer(shown(endpoint), () =>
          [
            `${mode === 'live' ? 'Live' : 'Test'} events go to ${endpoint.url} from now on.`,
            `They are signed with the secret that \`pf webhooks secret --mode ${mode}\` shows.`,
          ].join('\n'),
        );
      }),
    );

  webhooks
    .command('list')
    .description('show the URLs of a mode, removed and stopped ones too')
    .action((_options: unknown, command: Command) =>
      withSession(command, surroundings, async ({ database, output, mode, livemode, account }) => {
        const { id: accountId } = await account();
        const endpoints = await listWebhookEndpoints(database, { accountId, livemode });
        output.answer({ endpoints: endpoints.map(shown) }, () =>
          endpoints.length === 0
            ? `No URLs for ${mode} events. Next: pf webhooks add https://… --mode ${mode}`
            : table([
                ['URL', 'ADDED', 'STATUS'],
                ...endpoints.map((endpoint) => [endpoint.url, moment(endpoint.createdAt), statusOf(endpoint)]),
              ]),
        );
      }),
    );

  webhooks
    .command('remove')
    .description('send nothing more to a URL; what is outstanding for it is given up')
    .argument('<url>', 'as `pf webhooks list` shows it')
    .action((url: string, _options: unknown, command: Command) =>
      withSession(command, surroundings, async ({ database, output, mode, livemode, account }) => {
        const { id: accountId } = await account();
        const removed = await removeWebhookEndpoint(database, { accountId, livemode, url: url.trim(), at: new Date() });
        if (!removed)
          throw new CliError(`No ${mode} events go to ${url}. \`pf webhooks list --mode ${mode}\` shows where they go`);
        output.answer({ accountId, mode, url: url.trim(), removed }, () => `Nothing more is sent to ${url.trim()}.`);
      }),
    );

  webhooks
    .command('secret')
    .description('show the secret that deliveries of a mode are signed with')
    .action((_options: unknown, command: Command) =>
      withSession(command, surroundings, async ({ database, output, mode, livemode, stack, account }) => {
        const { id: accountId } = await account();
        const secrets = await webhookSecrets(database, await stack.secretsKey(), { accountId, livemode });
        const now = Date.now();
        const [secret] = secretsInForce(secrets, now);
        if (secret === undefined)
          throw new CliError(
            `The account ${accountId} has no ${mode} secret yet. Make one: pf webhooks rotate-secret --mode ${mode}`,
          );
        const later = secrets.filter(({ validFrom }) => validFrom.getTime() > now);
        output.answer({ accountId, mode, secret }, () =>
          [secret, ...later.map((next) => `From ${moment(next.validFrom)} on: ${next.secret}`)].join('\n'),
        );
      }),
    );

  webhooks
    .command('rotate-secret')
    .description('make a new secret; `webhook-signature` carries the old one beside it for another 24 hours')
    .option('--at <time>', 'when the new one begins to sign, ISO 8601 (default: now)')
    .addHelpText(
      'after',
      '\nExamples:\n  pf webhooks rotate-secret\n  pf webhooks rotate-secret --mode live --at 2027-01-31T09:00:00Z',
    )
    .action(({ at }: { at?: string }, command: Command) =>
      withSession(command, surroundings, async ({ database, output, mode, livemode, stack, account }) => {
        const validFrom = at === undefined ? new Date() : futureTime(at);
        const { id: accountId } = await account();
        const secret = await createWebhookSecret(
          database,
          await stack.secretsKey(),
          { accountId, livemode },
          validFrom,
        );
        output.answer({ accountId, mode, secret, validFrom }, () =>
          [
            secret,
            '',
            `It signs ${mode} deliveries from ${moment(validFrom)} on; running services follow within 30 seconds.`,
            'The former secret stays in `webhook-signature` for 24 hours after that.',
          ].join('\n'),
        );
      }),
    );

  addDeliveryCommands(webhooks, surroundings);
  return webhooks;
}

/** Where nothing public can listen is the service's business, by address; here only what can be no URL of a receiver. */
function checkedUrl(text: string): string {
  const url = text.trim();
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (!parsed || (parsed.protocol !== 'https:' && parsed.protocol !== 'http:'))
    throw new CliError(`${text} is no http:// or https:// URL`);
  if (parsed.username !== '' || parsed.password !== '')
    throw new CliError('A URL with a user or password in it is not taken. The signature tells the receiver who sends');
  if (parsed.hash !== '') throw new CliError('A URL with a #fragment in it is not taken: receivers never see it');
  if (url.length > MAX_URL_LENGTH) throw new CliError(`A URL has at most ${MAX_URL_LENGTH} characters`);
  return url;
}

function futureTime(text: string): Date {
  const parsed = z.iso.datetime({ offset: true }).safeParse(text);
  if (!parsed.success) throw new CliError(`${text} is no time. Give it like 2027-01-31T09:00:00Z`);
  const at = new Date(parsed.data);
  if (at.getTime() < Date.now()) throw new CliError(`${text} is in the past. Leave --at out to rotate now`);
  return at;
}

const shown = ({ livemode, ...endpoint }: WebhookEndpoint) => ({ ...endpoint, mode: livemode ? 'live' : 'test' });

function statusOf({ disabledAt, disabledBy }: WebhookEndpoint): string {
  if (!disabledAt) return 'active';
  return `${disabledBy === 'gone' ? 'stopped by 410 Gone' : 'removed'}, ${moment(disabledAt)}`;
}
