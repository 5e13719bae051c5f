import { ENDPOINTS_MAX, urlProblem } from '@pf/contracts';
import {
  addWebhookEndpoint,
  createWebhookSecret,
  type EndpointDisabledBy,
  EndpointLimitReached,
  enableWebhookEndpoint,
  listWebhookEndpoints,
  recordChange,
  removeWebhookEndpoint,
  secretsInForce,
  type WebhookEndpoint,
  webhookSecrets,
} from '@pf/database';
import { Command } from 'commander';
import { z } from 'zod';
import { CliError } from '../cli-error.ts';
import { addDeliveryCommands } from './deliveries.ts';
import { addEndpointCommands } from './endpoints.ts';
import { addReplayCommands } from './replays.ts';
import { moment, table } from '../output.ts';
import { type CommandContext, withSession } from '../session.ts';

export function webhooksCommand(surroundings: CommandContext): Command {
  const webhooks = new Command('webhooks').description(
    'where an account hears of its events, and the secret they are signed with; each mode has its own',
  );

  webhooks
    .command('add')
    .description('send the events of a mode to a URL from now on')
    .argument('<url>', 'https://, or http:// in test mode')
    .option('--allow-http', 'take an http:// URL in live mode, too')
    .addHelpText(
      'after',
      '\nExamples:\n  pf webhooks add https://shop.example/webhooks\n' +
        '  pf webhooks add https://shop.example/webhooks --mode live',
    )
    .action((text: string, { allowHttp = false }: { allowHttp?: boolean }, command: Command) =>
      withSession(command, surroundings, async ({ database, output, mode, livemode, account, by }) => {
        const { id: accountId } = await account();
        const url = checkedUrl(text, !livemode || allowHttp);
        const added = { accountId, livemode, url };
        const endpoint = await addWebhookEndpoint(database, added, by).catch((error: unknown) => {
          if (!(error instanceof EndpointLimitReached)) throw error;
          throw new CliError(
            `The account has ${ENDPOINTS_MAX} webhook endpoints in ${mode} mode, which is the limit. ` +
              'Remove one with `pf webhooks remove`.',
          );
        });
        if (!endpoint)
          throw new CliError(`Account ${accountId} does not exist. List ` + 'the accounts with `pf accounts list`.');
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
    .description('list the URLs of a mode, removed and disabled ones too')
    .action((_options: unknown, command: Command) =>
      withSession(command, surroundings, async ({ database, output, mode, livemode, account }) => {
        const { id: accountId } = await account();
        const endpoints = await listWebhookEndpoints(database, { accountId, livemode });
        output.answer({ endpoints: endpoints.map(shown) }, () =>
          endpoints.length === 0
            ? `No URLs for ${mode} events. Next: pf webhooks add https://… --mode ${mode}`
            : table([
                ['ENDPOINT', 'URL', 'ADDED', 'STATUS'],
                ...endpoints.map((endpoint) => [
                  endpoint.id,
                  endpoint.url,
                  moment(endpoint.createdAt),
                  statusOf(endpoint),
                ]),
              ]),
        );
      }),
    );

  webhooks
    .command('remove')
    .description('send nothing more to a URL and abandon its outstanding deliveries')
    .argument('<url>', 'the URL, from `pf webhooks list`')
    .action((url: string, _options: unknown, command: Command) =>
      withSession(command, surroundings, async ({ database, output, mode, livemode, account, by }) => {
        const { id: accountId } = await account();
        const known = { accountId, livemode, url: url.trim(), at: new Date() };
        const removed = await removeWebhookEndpoint(database, known, by);
        if (!removed)
          throw new CliError(`No ${mode} events go to ${url}. List the URLs with \`pf webhooks list --mode ${mode}\`.`);
        output.answer({ accountId, mode, url: url.trim(), removed }, () => `No more events are sent to ${url.trim()}.`);
      }),
    );

  webhooks
    .command('enable')
    .description('send events again to a URL that was disabled because it failed')
    .argument('<url>', 'the URL, from `pf webhooks list`')
    .option('--replay', 'send what it has missed since it began to fail, too')
    .action((text: string, { replay = false }: { replay?: boolean }, command: Command) =>
      withSession(command, surroundings, async ({ database, output, mode, livemode, account, by }) => {
        const { id: accountId } = await account();
        const url = text.trim();
        const failed = { accountId, livemode, url, replay, at: new Date() };
        const enabled = await enableWebhookEndpoint(database, failed, by);
        if (!enabled)
          throw new CliError(
            `${url} is not a ${mode} URL that was disabled because it failed. List the URLs with ` +
              `\`pf webhooks list --mode ${mode}\`.`,
          );
        output.answer({ accountId, mode, url, ...enabled }, () =>
          [
            `${mode === 'live' ? 'Live' : 'Test'} events go to ${url} again.`,
            ...(replay ? [`${enabled.replayed} missed deliveries are sent now.`] : []),
          ].join('\n'),
        );
      }),
    );

  webhooks
    .command('secret')
    .description('show the secret that signs the deliveries of a mode')
    .action((_options: unknown, command: Command) =>
      withSession(command, surroundings, async ({ database, output, mode, livemode, stack, account, by }) => {
        const { id: accountId } = await account();
        const secrets = await webhookSecrets(database, await stack.secretsKey(), { accountId, livemode });
        const now = Date.now();
        const [secret] = secretsInForce(secrets, now);
        if (secret === undefined)
          throw new CliError(
            `Account ${accountId} has no ${mode} secret. Create one with \`pf webhooks rotate-secret --mode ${mode}\`.`,
          );
        await recordChange(database.sql, by, { accountId, action: 'secret.shown', livemode });
        const later = secrets.filter(({ validFrom }) => validFrom.getTime() > now);
        output.answer({ accountId, mode, secret }, () =>
          [secret, ...later.map((next) => `From ${moment(next.validFrom)}: ${next.secret}`)].join('\n'),
        );
      }),
    );

  webhooks
    .command('rotate-secret')
    .description('create a new secret; for 24 hours `webhook-signature` is made with the old one too')
    .option('--at <time>', 'when the new secret begins to sign, ISO 8601 (default: now)')
    .addHelpText(
      'after',
      '\nExamples:\n  pf webhooks rotate-secret\n  pf webhooks rotate-secret --mode live --at 2027-01-31T09:00:00Z',
    )
    .action(({ at }: { at?: string }, command: Command) =>
      withSession(command, surroundings, async ({ database, output, mode, livemode, stack, account, by }) => {
        const validFrom = at === undefined ? new Date() : futureTime(at);
        const { id: accountId } = await account();
        const secret = await createWebhookSecret(
          database,
          await stack.secretsKey(),
          { accountId, livemode },
          validFrom,
          by,
        );
        output.answer({ accountId, mode, secret, validFrom }, () =>
          [
            secret,
            '',
            `It signs ${mode} deliveries from ${moment(validFrom)}; running services follow within 30 seconds.`,
            'The previous secret stays in `webhook-signature` for 24 hours after that.',
          ].join('\n'),
        );
      }),
    );

  addEndpointCommands(webhooks, surroundings);
  addDeliveryCommands(webhooks, surroundings);
  addReplayCommands(webhooks, surroundings);
  return webhooks;
}

function checkedUrl(text: string, httpAllowed: boolean): string {
  const url = text.trim();
  const problem = urlProblem(url, { httpAllowed });
  if (problem !== null) throw new CliError(`The URL "${url.slice(0, 100)}" ${problem}.`);
  return url;
}

function futureTime(text: string): Date {
  const parsed = z.iso.datetime({ offset: true }).safeParse(text);
  if (!parsed.success) throw new CliError(`${text} is not an ISO 8601 time, such as 2027-01-31T09:00:00Z.`);
  const at = new Date(parsed.data);
  if (at.getTime() < Date.now()) throw new CliError(`${text} is in the past. To rotate now, omit --at.`);
  return at;
}

const shown = ({ livemode, ...endpoint }: WebhookEndpoint) => ({ ...endpoint, mode: livemode ? 'live' : 'test' });

const DISABLED_BECAUSE: Readonly<Record<EndpointDisabledBy, string>> = {
  account: 'removed',
  gone: 'disabled by 410 Gone',
  failing: 'disabled after failing for 5 days',
};

function statusOf({ pausedAt, disabledAt, disabledBy }: WebhookEndpoint): string {
  if (!disabledAt) return pausedAt ? `paused, ${moment(pausedAt)}` : 'active';
  return `${DISABLED_BECAUSE[disabledBy ?? 'account']}, ${moment(disabledAt)}`;
}
