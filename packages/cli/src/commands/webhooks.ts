import type { PaymentClient, WebhookEndpoint as ApiEndpoint } from '@pf/client';
import { ENDPOINTS_MAX, FAILING_DAYS, urlProblem } from '@pf/contracts';
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
import { withApi } from '../api-session.ts';
import { CliError } from '../cli-error.ts';
import { addDeliveryCommands } from './deliveries.ts';
import { addEndpointCommands } from './endpoints.ts';
import { addReplayCommands } from './replays.ts';
import { moment, table } from '../output.ts';
import { withLoginOrDatabase, withOperator } from '../remote/login-session.ts';
import type { CommandContext } from '../session.ts';

export function webhooksCommand(context: CommandContext): Command {
  const webhooks = new Command('webhooks').description(
    "the URLs that receive an account's events, and their signing secrets, for each mode",
  );
  const ROTATE = 'Rotate the secret of one endpoint with --endpoint.';
  const CREATE = 'Create an endpoint, with a secret of its own, with `pf webhooks create`.';

  webhooks
    .command('add')
    .description('send the events of a mode to a URL from now on (operators)')
    .argument('<url>', 'https://, or http:// in test mode')
    .option('--allow-http', 'also accept an http:// URL in live mode')
    .addHelpText(
      'after',
      '\nExamples:\n  pf webhooks add https://shop.example/webhooks\n' +
        '  pf webhooks add https://shop.example/webhooks --mode live',
    )
    .action((text: string, { allowHttp = false }: { allowHttp?: boolean }, command: Command) =>
      withOperator(command, context, CREATE, async ({ database, output, mode, livemode, account, by }) => {
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
    .description('list the URLs of a mode, including removed and disabled ones')
    .action((_options: unknown, command: Command) =>
      withLoginOrDatabase(command, context, {
        async login({ client, mode, output }) {
          const endpoints = await client.webhooks.endpoints.list();
          output.answer({ endpoints }, () =>
            listText(
              endpoints.map((endpoint) => [endpoint, statusInApi(endpoint)]),
              mode,
              'create',
            ),
          );
        },
        async database({ database, output, mode, livemode, account }) {
          const { id: accountId } = await account();
          const endpoints = await listWebhookEndpoints(database, { accountId, livemode });
          output.answer({ endpoints: endpoints.map(shown) }, () =>
            listText(
              endpoints.map((endpoint) => [endpoint, statusOf(endpoint)]),
              mode,
              'add',
            ),
          );
        },
      }),
    );

  webhooks
    .command('remove')
    .description('stop sending to a URL and abandon its outstanding deliveries')
    .argument('<url>', 'the URL, from `pf webhooks list`')
    .action((text: string, _options: unknown, command: Command) => {
      const url = text.trim();
      const unknown = (mode: string): CliError =>
        new CliError(`No ${mode} events go to ${url}. List the URLs with \`pf webhooks list --mode ${mode}\`.`);
      const said = (): string => `No more events are sent to ${url}.`;
      return withLoginOrDatabase(command, context, {
        async login({ accountId, client, mode, output }) {
          const endpoint = await endpointOf(client, url);
          if (!endpoint) throw unknown(mode);
          await client.webhooks.endpoints.remove(endpoint.id);
          output.answer({ accountId, mode, url, removed: true }, said);
        },
        async database({ database, output, mode, livemode, account, by }) {
          const { id: accountId } = await account();
          const removed = await removeWebhookEndpoint(database, { accountId, livemode, url, at: new Date() }, by);
          if (!removed) throw unknown(mode);
          output.answer({ accountId, mode, url, removed }, said);
        },
      });
    });

  webhooks
    .command('enable')
    .description('send events again to a URL that was disabled because it failed')
    .argument('<url>', 'the URL, from `pf webhooks list`')
    .option('--replay', 'also send the events that it has missed since it began to fail')
    .action((text: string, { replay = false }: { replay?: boolean }, command: Command) => {
      const url = text.trim();
      const unknown = (mode: string): CliError =>
        new CliError(
          `${url} is not a ${mode} URL that was disabled because it failed. List the URLs with ` +
            `\`pf webhooks list --mode ${mode}\`.`,
        );
      const said = (mode: string, replayed: number): string =>
        [
          `${mode === 'live' ? 'Live' : 'Test'} events go to ${url} again.`,
          ...(replay ? [`${replayed} missed deliveries are sent now.`] : []),
        ].join('\n');
      return withLoginOrDatabase(command, context, {
        async login({ accountId, client, mode, output }) {
          const endpoint = await endpointOf(client, url);
          if (endpoint?.status !== 'disabled') throw unknown(mode);
          const enabled = await client.webhooks.endpoints.enable(endpoint.id, { replay });
          output.answer({ accountId, mode, url, replayed: enabled.replayed }, () => said(mode, enabled.replayed));
        },
        async database({ database, output, mode, livemode, account, by }) {
          const { id: accountId } = await account();
          const failed = { accountId, livemode, url, replay, at: new Date() };
          const enabled = await enableWebhookEndpoint(database, failed, by);
          if (!enabled) throw unknown(mode);
          output.answer({ accountId, mode, url, ...enabled }, () => said(mode, enabled.replayed));
        },
      });
    });

  webhooks
    .command('secret')
    .description('show the secret that signs the deliveries of a mode (operators)')
    .action((_options: unknown, command: Command) =>
      withOperator(command, context, CREATE, async ({ database, output, mode, livemode, stack, account, by }) => {
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
    .description('create a new secret; for 24 hours the old one signs `webhook-signature` too')
    .option('--endpoint <id>', 'of this endpoint, by the API (without it: of the account, for operators)')
    .option('--at <time>', 'when the new secret begins to sign, ISO 8601 (default: now)')
    .addHelpText(
      'after',
      '\nExamples:\n  pf webhooks rotate-secret\n  pf webhooks rotate-secret --mode live --at 2027-01-31T09:00:00Z',
    )
    .action(({ at, endpoint: id }: { at?: string; endpoint?: string }, command: Command) => {
      if (id !== undefined)
        return withApi(command, context, async ({ client, output, mode }) => {
          const validFrom = at === undefined ? new Date() : futureTime(at);
          const rotated = await client.webhooks.endpoints.rotateSecret(
            id,
            at === undefined ? {} : { validFrom: validFrom.toISOString() },
          );
          output.answer(rotated, () => rotatedText(rotated.secret, mode, validFrom));
        });
      return withOperator(
        command,
        context,
        ROTATE,
        async ({ database, output, mode, livemode, stack, account, by }) => {
          const validFrom = at === undefined ? new Date() : futureTime(at);
          const { id: accountId } = await account();
          const secret = await createWebhookSecret(
            database,
            await stack.secretsKey(),
            { accountId, livemode },
            validFrom,
            by,
          );
          output.answer({ accountId, mode, secret, validFrom }, () => rotatedText(secret, mode, validFrom));
        },
      );
    });

  addEndpointCommands(webhooks, context);
  addDeliveryCommands(webhooks, context);
  addReplayCommands(webhooks, context);
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

/** The endpoint with a URL, of those that were not removed. */
const endpointOf = async (client: PaymentClient, url: string): Promise<ApiEndpoint | undefined> =>
  (await client.webhooks.endpoints.list()).find((endpoint) => endpoint.url === url);

const rotatedText = (secret: string, mode: string, validFrom: Date): string =>
  [
    secret,
    '',
    `It signs ${mode} deliveries from ${moment(validFrom)}; running services follow within 30 seconds.`,
    'The previous secret stays in `webhook-signature` for 24 hours after that.',
  ].join('\n');

interface Listed {
  readonly id: string;
  readonly url: string;
  readonly createdAt: Date | string;
}

const listText = (
  rows: readonly (readonly [endpoint: Listed, status: string])[],
  mode: string,
  verb: 'add' | 'create',
): string =>
  rows.length === 0
    ? `No URLs for ${mode} events. Next: pf webhooks ${verb} https://… --mode ${mode}`
    : table([
        ['ENDPOINT', 'URL', 'ADDED', 'STATUS'],
        ...rows.map(([{ id, url, createdAt }, status]) => [id, url, moment(new Date(createdAt)), status]),
      ]);

const DISABLED_BECAUSE: Readonly<Record<EndpointDisabledBy, string>> = {
  account: 'removed',
  gone: 'disabled by 410 Gone',
  failing: `disabled after failing for ${FAILING_DAYS} days`,
};

function statusOf({ pausedAt, disabledAt, disabledBy }: WebhookEndpoint): string {
  if (!disabledAt) return pausedAt ? `paused, ${moment(pausedAt)}` : 'active';
  return `${DISABLED_BECAUSE[disabledBy ?? 'account']}, ${moment(disabledAt)}`;
}

function statusInApi({ missedCount, ...endpoint }: ApiEndpoint): string {
  const status = ownStatus(endpoint);
  return missedCount === 0 ? status : `${status}, ${missedCount} events behind`;
}

function ownStatus({ status, disabledReason, disabledAt }: Omit<ApiEndpoint, 'missedCount'>): string {
  if (status !== 'disabled') return status === 'enabled' ? 'active' : status;
  const because = disabledReason === null ? status : DISABLED_BECAUSE[disabledReason];
  return disabledAt === null ? because : `${because}, ${moment(new Date(disabledAt))}`;
}
