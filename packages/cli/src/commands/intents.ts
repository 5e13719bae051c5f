import type { CreateIntent, ListIntents, Page, PaymentIntent } from '@pf/client';
import { INTENT_STATUSES, type IntentStatus } from '@pf/domain';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { type ApiSession, withApi } from '../api-session.ts';
import { CHAIN_HELP, CHAINS, chainId, wholeNumber } from './arguments.ts';
import { clock, createLines } from '../lines.ts';
import { moment, table } from '../output.ts';
import { globalOptions, type CommandContext } from '../session.ts';

const EXAMPLE_WALLET = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const EXAMPLE_ID = 'pi_5mUj8xNgYq3vWJ2hTfKd7';

type Metadata = Readonly<Record<string, string>>;

/** One `key=value` more. */
function entry(text: string, before: Metadata = {}): Metadata {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must be key=value, such as order=A-1001.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

export function intentsCommand(context: CommandContext): Command {
  const intents = new Command('intents').description('payment intents, through the public API');
  const direction = (): Option =>
    new Option('--direction <direction>', 'request: the requestor asks to be paid; send: the fulfiller pushes').choices(
      ['request', 'send'],
    );
  const metadata = (what: string): Option =>
    new Option('--metadata <key=value>', `${what}; may be repeated`).argParser(entry);

  intents
    .command('create')
    .description('request a payment, or announce one with --direction send')
    .requiredOption('--amount <amount>', 'a plain decimal, such as 12.50')
    .addOption(
      new Option(
        '--accept <accept>',
        'exact: only the amount pays it; at_least: one transfer of more does, too',
      ).choices(['exact', 'at_least']),
    )
    .requiredOption('--requestor <wallet>', 'the wallet that receives')
    .addOption(new Option('--chain <chain>', CHAIN_HELP).argParser(chainId).default(CHAINS['base'], 'base'))
    .addOption(new Option('--token <token>', 'the symbol or the address').default('USDC'))
    .addOption(direction())
    .option('--fulfiller <wallet>', 'the wallet that pays; needed with --direction send')
    .addOption(
      new Option('--ttl <seconds>', 'how long it can be paid: 60 to 604800, default 86400').argParser(wholeNumber),
    )
    .option('--idempotency-key <key>', 'within 24 hours the same key returns the same intent')
    .addOption(metadata('your own data'))
    .addHelpText(
      'after',
      `\nExamples:\n  pf intents create --amount 12.50 --requestor ${EXAMPLE_WALLET}\n` +
        `  pf intents create --amount 5 --chain tempo --requestor ${EXAMPLE_WALLET} --metadata order=A-1001 --ttl ` +
        '600',
    )
    .action((options: CreateOptions, command: Command) =>
      withApi(command, context, async (session) => {
        const { ttl, ...request } = options;
        const intent = await session.client.intents.create({
          ...request,
          ...(ttl !== undefined && { ttlSeconds: ttl }),
        });
        answer(
          session,
          intent,
          session.mode === 'test' ? `Simulate its payment: pf intents simulate ${intent.id} confirmed` : undefined,
        );
      }),
    );

  intents
    .command('get')
    .description('show a payment intent')
    .argument('<id>', 'the id, from `pf intents list`')
    .addHelpText('after', `\nExample:\n  pf intents get ${EXAMPLE_ID} --json`)
    .action((id: string, _options: unknown, command: Command) =>
      withApi(command, context, async (session) => answer(session, await session.client.intents.get(id))),
    );

  intents
    .command('list')
    .description('list payment intents that match all filters, newest first')
    .addOption(new Option('--state <state...>', 'one of these states').choices(INTENT_STATUSES))
    .addOption(new Option('--chain <chain>', CHAIN_HELP).argParser(chainId))
    .option('--token <token>', 'the symbol or the address')
    .addOption(direction())
    .option('--requestor <wallet>', 'the wallet that receives')
    .option('--fulfiller <wallet>', 'the wallet that pays')
    .option('--reference <reference>', "the payment's reference on chain")
    .option('--tx <hash>', 'the hash or signature of the transaction that pays')
    .option('--after <time>', 'created after this time, such as 2026-11-21T12:00:00Z')
    .option('--before <time>', 'created before this time')
    .addOption(metadata('with this metadata'))
    .addOption(new Option('--limit <number>', 'how many: 1 to 100').argParser(wholeNumber).default(20))
    .option('--cursor <cursor>', 'continue after an earlier page')
    .addHelpText(
      'after',
      '\nExamples:\n  pf intents list --state created pending\n  pf intents list --metadata order=A-1001 --json',
    )
    .action((options: ListOptions, command: Command) =>
      withApi(command, context, async ({ client, output, mode }) => {
        const { tx, after, before, ...filter } = options;
        const { items, ...page } = await client.intents
          .list({
            ...filter,
            ...(tx !== undefined && { txSignature: tx }),
            ...(after !== undefined && { createdAfter: after }),
            ...(before !== undefined && { createdBefore: before }),
          })
          .page();
        output.answer({ intents: items, ...page }, () => listText({ items, ...page }, mode));
      }),
    );

  intents
    .command('cancel')
    .description('cancel a payment intent without a submitted payment')
    .argument('<id>', 'the id, from `pf intents list`')
    .addHelpText('after', `\nExample:\n  pf intents cancel ${EXAMPLE_ID}`)
    .action((id: string, _options: unknown, command: Command) =>
      withApi(command, context, async (session) => answer(session, await session.client.intents.cancel(id))),
    );

  intents
    .command('refund')
    .description('create the payment intent that refunds a confirmed one')
    .argument('<id>', 'the id of the intent that was paid')
    .option('--to <address>', 'who gets the money, where it is not the wallet that paid')
    .addHelpText('after', `\nExample:\n  pf intents refund ${EXAMPLE_ID}`)
    .action((id: string, { to }: { readonly to?: string }, command: Command) =>
      withApi(command, context, async (session) => {
        const refund = await session.client.intents.refund(id, to === undefined ? {} : { to });
        answer(session, refund, `${String(refund.fulfiller)} pays it like any intent.`);
      }),
    );

  intents
    .command('simulate')
    .description('move a test payment intent to a state, with every event and webhook in between')
    .argument('<id>', 'the id, from `pf intents list`')
    .addArgument(new Argument('<state>', 'the target state').choices(INTENT_STATUSES))
    .addHelpText(
      'after',
      `\nExamples:\n  pf intents simulate ${EXAMPLE_ID} confirmed\n` +
        `  pf intents simulate ${EXAMPLE_ID} created   (from pending: dropped, sign again)`,
    )
    .action((id: string, state: IntentStatus, _options: unknown, command: Command) =>
      withApi(command, context, async (session) => answer(session, await session.client.intents.simulate(id, state))),
    );

  intents
    .command('follow')
    .description('show the events of a payment intent live, until it is confirmed or has ended')
    .argument('<id>', 'the id, from `pf intents list`')
    .addOption(
      new Option('--until <state>', 'the state to wait for').choices(['confirmed', 'finalized']).default('confirmed'),
    )
    .addHelpText(
      'after',
      `\nExamples:\n  pf intents follow ${EXAMPLE_ID}\n` +
        `  pf intents follow ${EXAMPLE_ID} --until finalized --json   (one JSON document per line)`,
    )
    .action((id: string, { until }: { readonly until: 'confirmed' | 'finalized' }, command: Command) =>
      withApi(command, context, async ({ client }) => {
        const lines = createLines(globalOptions(command).json, context.write);
        const signal = context.untilEnded?.() ?? new AbortController().signal;
        try {
          for await (const { type, intent } of client.intents.follow(id, { until, signal })) {
            lines.line(
              { type, intent },
              () =>
                `${clock(new Date(intent.updatedAt))}  ${type.padEnd(22)}  ` +
                `${intent.state}${intent.txSignature ? `  ${intent.txSignature}` : ''}`,
            );
          }
        } catch (error) {
          // Ended by the one who reads.
          if (!signal.aborted) throw error;
        }
      }),
    );

  return intents;
}

type CreateOptions = Omit<CreateIntent, 'ttlSeconds'> & { readonly ttl?: number };
type ListOptions = Omit<ListIntents, 'txSignature' | 'createdAfter' | 'createdBefore'> & {
  readonly tx?: string;
  readonly after?: string;
  readonly before?: string;
};

function answer({ output }: ApiSession, intent: PaymentIntent, hint?: string): void {
  output.answer({ intent }, () => [intentText(intent), ...(hint === undefined ? [] : ['', hint])].join('\n'));
}

const time = (at: string): string => moment(new Date(at));

/** An intent as people read it: a line for each thing there is to say. */
function intentText(intent: PaymentIntent): string {
  const {
    id,
    state,
    retryRequired,
    amount,
    accept,
    amountReceived,
    token,
    chain,
    livemode,
    direction,
    requestor,
    fulfiller,
    reference,
    txSignature,
    createdAt,
    expiresAt,
    confirmedAt,
    finalizedAt,
    refundOf,
    refundedBy,
    metadata,
  } = intent;
  const lines: (readonly [name: string, value: string | null | undefined])[] = [
    ['id', `${id} (${livemode ? 'live' : 'test'})`],
    ['state', retryRequired === true ? `${state}: the transaction was dropped; build and sign again` : state],
    ['amount', `${amount} ${token} on ${chain}${accept === 'at_least' ? ', or more' : ''}`],
    ['received', amountReceived === undefined ? null : `${amountReceived} ${token}`],
    ['requestor', requestor],
    ['fulfiller', fulfiller ?? 'any wallet'],
    ['direction', direction],
    ['reference', reference],
    ['transaction', txSignature],
    ['created', time(createdAt)],
    ['expires', state === 'created' || state === 'pending' ? time(expiresAt) : null],
    ['confirmed', confirmedAt && time(confirmedAt)],
    ['finalized', finalizedAt && time(finalizedAt)],
    ['refund of', refundOf],
    ['refunded by', refundedBy],
    ...Object.entries(metadata ?? {}).map(([key, value]) => [`metadata ${key}`, value] as const),
  ];
  return table(lines.flatMap(([name, value]) => (value === null || value === undefined ? [] : [[name, value]])));
}

function listText({ items, nextCursor, endsAt }: Page<PaymentIntent>, mode: string): string {
  const end =
    endsAt === undefined ? [] : [`Archived intents are not listed: of those created up to ${endsAt} some are missing.`];
  if (items.length === 0) return [`No ${mode} intents match.`, ...end].join('\n');
  const rows = items.map(({ id, state, amount, token, chain, requestor, createdAt }) => [
    id,
    state,
    `${amount} ${token}`,
    chain,
    requestor,
    time(createdAt),
  ]);
  const more = nextCursor === null ? end : [`For the next page add --cursor ${nextCursor}`];
  return [
    table([['ID', 'STATE', 'AMOUNT', 'CHAIN', 'REQUESTOR', 'CREATED'], ...rows]),
    ...more.flatMap((line) => ['', line]),
  ].join('\n');
}
