import { DELIVERED_TYPES, DELIVERY_STATUSES, type DeliveryStatus } from '@pf/contracts';
import type { Command } from 'commander';
import { Option } from 'commander';
import { withApi } from '../api-session.ts';
import { moment, table } from '../output.ts';
import type { CommandContext } from '../session.ts';

interface Filter {
  readonly intent?: string;
  readonly event?: string;
  readonly type?: (typeof DELIVERED_TYPES)[number];
  readonly status?: DeliveryStatus;
  readonly cursor?: string;
}

/** `pf webhooks deliveries` and `pf webhooks resend`, by the public API. */
export function addDeliveryCommands(webhooks: Command, context: CommandContext): void {
  webhooks
    .command('deliveries')
    .description('list deliveries that match all filters, newest first')
    .option('--intent <id>', 'only of this payment intent')
    .option('--event <id>', 'only of this event')
    .addOption(new Option('--type <type>', 'only of this event type').choices(DELIVERED_TYPES))
    .addOption(new Option('--status <status>', 'pending: not delivered yet, and not failed').choices(DELIVERY_STATUSES))
    .option('--cursor <cursor>', 'continue after an earlier page')
    .addHelpText(
      'after',
      '\nExamples:\n  pf webhooks deliveries --status failed\n' +
        '  pf webhooks deliveries --intent pi_5mUj8xNgYq3vWJ2hTfKd7 --json',
    )
    .action(({ intent, event, type, status, cursor }: Filter, command: Command) =>
      withApi(command, context, async ({ client, output, mode }) => {
        const page = await client.webhooks
          .list({
            ...(intent !== undefined && { intentId: intent }),
            ...(event !== undefined && { eventId: event }),
            ...(type !== undefined && { type }),
            ...(status !== undefined && { status }),
            ...(cursor !== undefined && { cursor }),
          })
          .page();
        output.answer({ deliveries: page.items, nextCursor: page.nextCursor }, () => {
          if (page.items.length === 0)
            return `No ${mode} deliveries match. List the endpoints with: pf webhooks list --mode ${mode}`;
          const rows = page.items.map(
            ({ id, eventId, url, responseStatus, attemptCount, lastAttemptedAt, deliveredAt, failedAt }) => [
              id ?? '',
              eventId ?? '',
              deliveredAt ? 'delivered' : failedAt ? 'failed' : 'pending',
              String(responseStatus ?? '–'),
              String(attemptCount),
              lastAttemptedAt ? moment(new Date(lastAttemptedAt)) : '–',
              url ?? '',
            ],
          );
          const more = page.nextCursor === null ? [] : ['', `For the next page add --cursor ${page.nextCursor}`];
          return [
            table([['DELIVERY', 'EVENT', 'STATUS', 'RESPONSE', 'ATTEMPTS', 'LAST', 'URL'], ...rows]),
            ...more,
          ].join('\n');
        });
      }),
    );

  webhooks
    .command('resend')
    .description('resend a delivery immediately: the same event, the same bytes')
    .argument('<delivery>', 'the id, from `pf webhooks deliveries` or `pf listen`')
    .addHelpText('after', '\nExample:\n  pf webhooks resend whd_5mUj8xNgYq3vWJ2hTfKd7')
    .action((id: string, _options: unknown, command: Command) =>
      withApi(command, context, async ({ client, output }) => {
        const delivery = await client.webhooks.retry(id);
        output.answer(
          { delivery },
          () =>
            `${String(delivery.eventId)} is sent to ${String(delivery.url)} again, as attempt ` +
            `${String(Number(delivery.attemptCount) + 1)}.`,
        );
      }),
    );
}
