import { once } from 'node:events';
import { connect } from 'node:net';
import {
  addWebhookEndpoint,
  type AuditSource,
  type Database,
  listWebhookEndpoints,
  recordChange,
  removeWebhookEndpoint,
  secretsInForce,
  webhookSecrets,
} from '@pf/database';
import { PUBLIC_EVENT_TYPES } from '@pf/domain';
import { Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { CliError } from '../cli-error.ts';
import { type Forwarded, FORWARDER_URL, startForwarder } from '../forwarder.ts';
import { clock, createLines } from '../lines.ts';
import { globalOptions, type CommandContext, withSession } from '../session.ts';

/** What is shown of a webhook's body. */
const shown = z.object({
  type: z.string(),
  data: z.object({ intent: z.object({ id: z.string(), state: z.string() }) }),
});
type Shown = z.infer<typeof shown>;

interface ListenOptions {
  readonly forwardTo: URL;
  readonly events?: readonly string[];
}

/** `pf listen`: webhooks of the local stack, brought to a program that is being written. */
export function listenCommand(context: CommandContext): Command {
  return new Command('listen')
    .description('forward webhooks to a program on this machine until Ctrl-C')
    .addOption(
      new Option('--forward-to <url>', 'where they go, such as localhost:3000/webhooks')
        .argParser(targetUrl)
        .makeOptionMandatory(),
    )
    .addOption(new Option('--events <type...>', 'only these').choices(PUBLIC_EVENT_TYPES))
    .addHelpText(
      'after',
      '\n' +
        'The program receives the exact bytes and headers that the service sends, and its response decides whether ' +
        'they are sent again.\n' +
        'The service must be able to reach this machine by loopback: the local stack can.\n\n' +
        'Examples:\n' +
        '  pf listen --forward-to localhost:3000/webhooks\n' +
        '  pf listen --forward-to http://127.0.0.1:3000/webhooks --mode live --events intent.confirmed ' +
        'intent.finalized',
    )
    .action(({ forwardTo, events }: ListenOptions, command: Command) =>
      withSession(command, context, async ({ database, mode, livemode, stack, account, by }) => {
        const { id: accountId } = await account();
        const owner = { accountId, livemode };
        const [secret] = secretsInForce(await webhookSecrets(database, await stack.secretsKey(), owner), Date.now());
        if (secret === undefined)
          throw new CliError(
            `Account ${accountId} has no ${mode} secret. Create one with \`pf webhooks rotate-secret --mode ${mode}\`.`,
          );
        await recordChange(database.sql, by, { ...owner, action: 'secret.shown' });
        const lines = createLines(globalOptions(command).json, context.write);
        const ending = context.untilEnded?.() ?? new AbortController().signal;
        const passes = (body: string): boolean => events === undefined || events.includes(read(body)?.type ?? '');
        await removeAbandoned(database, owner, by);
        const forwarder = await startForwarder(forwardTo, passes, (forwarded) => {
          const about = read(forwarded.body);
          lines.line({ ...forwarded, body: undefined, type: about?.type, intentId: about?.data.intent.id }, () =>
            lineOf(forwarded, about, forwardTo),
          );
        });
        try {
          await addWebhookEndpoint(database, { ...owner, url: forwarder.url }, by);
          lines.line({ listening: forwarder.url, forwardTo: forwardTo.href, accountId, mode, secret }, () =>
            [
              `Ready: ${mode} events of ${accountId} are forwarded to ${forwardTo.href}. Stop with Ctrl-C.`,
              `They are signed with ${secret}`,
              'Resend one with: pf webhooks resend whd_…',
              '',
            ].join('\n'),
          );
          if (!ending.aborted) await once(ending, 'abort');
        } finally {
          await removeWebhookEndpoint(database, { ...owner, url: forwarder.url, at: new Date() }, by);
          await forwarder.close();
        }
      }),
    );
}

/** People write `localhost:3000/webhooks`. */
function targetUrl(text: string): URL {
  const url = URL.parse(/^https?:\/\//.test(text) ? text : `http://${text}`);
  if (!url) throw new InvalidArgumentError('It must be a URL, such as http://localhost:3000/webhooks.');
  return url;
}

function read(body: string): Shown | null {
  try {
    return shown.parse(JSON.parse(body));
  } catch (error) {
    // Another program's POST: it is passed on, and nothing is said of its content.
    if (error instanceof SyntaxError || error instanceof z.ZodError) return null;
    throw error;
  }
}

function lineOf({ at, deliveryId, attempt, status, error, ms }: Forwarded, about: Shown | null, target: URL): string {
  const answer =
    status === null
      ? `no response from ${target.host}: ${error ?? ''}. Is it running? The service retries`
      : `${status} (${ms} ms)`;
  return (
    `${clock(at)}  ${(about?.type ?? 'unknown').padEnd(21)}  ${about?.data.intent.id ?? ''}  →  ${answer}  ` +
    `${deliveryId}${attempt > 1 ? ` attempt ${attempt}` : ''}`
  );
}

/** Removes URLs of earlier listeners that were killed: no program listens there any more. */
async function removeAbandoned(
  database: Database,
  owner: { readonly accountId: string; readonly livemode: boolean },
  by: AuditSource,
): Promise<void> {
  for (const { url, disabledAt } of await listWebhookEndpoints(database, owner)) {
    if (disabledAt === null && FORWARDER_URL.test(url) && !(await isListening(url)))
      await removeWebhookEndpoint(database, { ...owner, url, at: new Date() }, by);
  }
}

function isListening(url: string): Promise<boolean> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  return once(socket, 'connect').then(
    () => (socket.destroy(), true),
    () => false,
  );
}
