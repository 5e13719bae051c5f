import type { CreateReplay, WebhookReplay } from '@pf/client';
import { DELIVERED_TYPES } from '@pf/contracts';
import { type Command, Option } from 'commander';
import { withApi } from '../api-session.ts';
import { CliError } from '../cli-error.ts';
import { moment, table } from '../output.ts';
import type { CommandContext } from '../session.ts';

interface Selection {
  readonly since: string;
  readonly until?: string;
  readonly endpoint?: string;
  readonly to?: string;
  readonly events?: CreateReplay['eventTypes'];
  readonly all?: boolean;
  readonly key?: string;
}

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `pf webhooks replay`, `replays` and `cancel-replay`, by the public API. */
export function addReplayCommands(webhooks: Command, context: CommandContext): void {
  webhooks
    .command('replay')
    .description('resend the deliveries of a period: those that failed, or all')
    .requiredOption('--since <time>', 'the start: ISO 8601, or how long ago, such as 90m, 2h, 3d')
    .option('--until <time>', 'the end (default: now)')
    .option('--endpoint <id>', 'only deliveries to this endpoint')
    .option('--to <id>', 'to this endpoint instead of its own')
    .addOption(new Option('--events <types...>', 'only these types').choices(DELIVERED_TYPES))
    .option('--all', 'also what was delivered')
    .option('--key <key>', 'an idempotency key: within 24 hours, the same key starts no second replay')
    .addHelpText(
      'after',
      '\nExamples:\n  pf webhooks replay --since 2h\n' +
        '  pf webhooks replay --since 2026-11-21T09:00:00Z --until 2026-11-21T10:00:00Z --events intent.confirmed\n' +
        '  pf webhooks replay --since 3d --endpoint whe_5mUj8xNgYq3vWJ2hTfKd7 --to whe_7kWm2yPhZr4xBK3jUgLe9 --all',
    )
    .action(({ since, until, endpoint, to, events, all = false, key }: Selection, command: Command) =>
      withApi(command, context, async ({ client, output, mode }) => {
        const replay = await client.webhooks.replays.create({
          since: timeOf(since),
          ...(until !== undefined && { until: timeOf(until) }),
          ...(endpoint !== undefined && { endpointId: endpoint }),
          ...(to !== undefined && { toEndpointId: to }),
          ...(events && { eventTypes: events }),
          status: all ? 'all' : 'failed',
          ...(key !== undefined && { idempotencyKey: key }),
        });
        const follow = `pf webhooks replays ${replay.id}${mode === 'live' ? ' --mode live' : ''}`;
        output.answer({ replay }, () => `${replay.id} has started. Follow it with: ${follow}`);
      }),
    );

  webhooks
    .command('replays')
    .description('list replays, newest first, or show one')
    .argument('[replay]', 'the id, from `pf webhooks replay`')
    .option('--cursor <cursor>', 'continue after an earlier page')
    .action((id: string | undefined, { cursor }: { cursor?: string }, command: Command) =>
      withApi(command, context, async ({ client, output, mode }) => {
        if (id !== undefined) {
          const replay = await client.webhooks.replays.get(id);
          output.answer({ replay }, () => table([HEAD, rowOf(replay)]));
          return;
        }
        const page = await client.webhooks.replays.list(cursor === undefined ? {} : { cursor }).page();
        output.answer({ replays: page.items, nextCursor: page.nextCursor }, () =>
          [
            page.items.length === 0 ? `No ${mode} replays.` : table([HEAD, ...page.items.map(rowOf)]),
            ...(page.nextCursor === null ? [] : ['', `For the next page add --cursor ${page.nextCursor}`]),
          ].join('\n'),
        );
      }),
    );

  webhooks
    .command('cancel-replay')
    .description('end a replay')
    .argument('<replay>', 'the id, from `pf webhooks replays`')
    .action((id: string, _options: unknown, command: Command) =>
      withApi(command, context, async ({ client, output }) => {
        const replay = await client.webhooks.replays.cancel(id);
        output.answer({ replay }, () =>
          replay.state === 'cancelled'
            ? `${id} is cancelled. Deliveries that are already due are still sent: ${replay.pending}.`
            : `${id} had already ended: ${replay.state}.`,
        );
      }),
    );
}

const HEAD = ['REPLAY', 'STATE', 'TOTAL', 'PENDING', 'DELIVERED', 'FAILED', 'SKIPPED', 'BEGUN'];

const rowOf = ({ id, state, total, pending, delivered, failed, skipped, createdAt }: WebhookReplay): string[] => [
  id,
  state,
  ...[total, pending, delivered, failed, skipped].map(String),
  moment(new Date(createdAt)),
];

/** `2h` is two hours ago; everything else is for the API to judge. */
function timeOf(text: string): string {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  if (count === undefined) {
    if (Number.isNaN(Date.parse(text)))
      throw new CliError(
        `"${text}" must be an ISO 8601 time, such as 2026-11-21T09:00:00Z, or a duration, such as 90m, 2h or 3d.`,
      );
    return text;
  }
  return new Date(Date.now() - Number(count) * UNITS[unit as keyof typeof UNITS]).toISOString();
}
