import type { WebhookEndpoint } from '@pf/client';
import type { Command } from 'commander';
import { withApi } from '../api-session.ts';
import { moment, table } from '../output.ts';
import type { CommandContext } from '../session.ts';

interface Settings {
  readonly name?: string;
  readonly events?: WebhookEndpoint['eventTypes'];
}

/** Commands on webhook endpoints and their deliveries, by the public API. */
export function addEndpointCommands(webhooks: Command, context: CommandContext): void {
  webhooks
    .command('create')
    .description('create an endpoint with a secret of its own')
    .argument('<url>', 'https://, or http:// in test mode')
    .option('--name <name>', 'your name for it')
    .option('--events <types...>', 'send only these types (default: all)')
    .addHelpText(
      'after',
      '\nExample:\n  pf webhooks create https://shop.example/webhooks --name shop --events intent.confirmed',
    )
    .action((url: string, { name, events }: Settings, command: Command) =>
      withApi(command, context, async ({ client, output, mode }) => {
        const created = await client.webhooks.endpoints.create({
          url,
          ...(name !== undefined && { name }),
          ...(events && { eventTypes: events as never }),
        });
        output.answer(created, () =>
          [
            `${created.endpoint.id} receives ${mode} events from now on.`,
            `They are signed with ${created.secret}`,
            'The secret is not shown again.',
          ].join('\n'),
        );
      }),
    );

  for (const [verb, paused, description, done] of [
    ['pause', true, 'hold the deliveries of an endpoint', 'is paused: its deliveries wait.'],
    ['resume', false, 'send the held deliveries of an endpoint, and new ones', 'receives events again.'],
  ] as const)
    webhooks
      .command(verb)
      .description(description)
      .argument('<endpoint>', 'the id, from `pf webhooks list`')
      .action((id: string, _options: unknown, command: Command) =>
        withApi(command, context, async ({ client, output }) => {
          const endpoint = await client.webhooks.endpoints.update(id, { paused });
          output.answer({ endpoint }, () => `${endpoint.url} ${done}`);
        }),
      );

  webhooks
    .command('test')
    .description('send a test event to an endpoint and show its response')
    .argument('<endpoint>', 'the id, from `pf webhooks list`')
    .action((id: string, _options: unknown, command: Command) =>
      withApi(command, context, async ({ client, output }) => {
        const attempt = await client.webhooks.endpoints.test(id);
        output.answer({ attempt }, () =>
          attempt === null
            ? 'Nothing was sent within 20 s. Is the webhook service running?'
            : [
                attempt.reason ?? `The receiver accepted it with ${attempt.responseStatus}.`,
                `It took ${attempt.durationMs} ms.`,
                ...(attempt.responseBody ? ['', attempt.responseBody] : []),
              ].join('\n'),
        );
      }),
    );

  webhooks
    .command('attempts')
    .description('list the attempts of a delivery and their responses')
    .argument('<delivery>', 'the id, from `pf webhooks deliveries`')
    .action((id: string, _options: unknown, command: Command) =>
      withApi(command, context, async ({ client, output }) => {
        const listed = await client.webhooks.attempts(id);
        const { attempts, nextAttemptAt } = listed;
        output.answer(listed, () =>
          [
            table([
              ['ATTEMPT', 'AT', 'RESPONSE', 'MS', 'REASON'],
              ...attempts.map(({ number, at, responseStatus, durationMs, reason }) => [
                String(number),
                moment(new Date(at)),
                String(responseStatus ?? '–'),
                String(durationMs),
                reason ?? '–',
              ]),
            ]),
            nextAttemptAt === null
              ? 'No further attempt is scheduled.'
              : `Next attempt: ${moment(new Date(nextAttemptAt))}`,
          ].join('\n'),
        );
      }),
    );
}
