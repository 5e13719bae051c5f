import type { Deposit, ListDeposits } from '@pf/client';
import { DEPOSIT_STATES } from '@pf/domain';
import { Command, Option } from 'commander';
import { withApi } from '../api-session.ts';
import { CHAIN_HELP, chainId, wholeNumber } from './arguments.ts';
import { moment, table } from '../output.ts';
import type { CommandContext } from '../session.ts';

const EXAMPLE_ID = 'dp_5mUj8xNgYq3vWJ2hTfKd7';

type ListOptions = Omit<ListDeposits, 'txSignature' | 'createdAfter' | 'createdBefore'> & {
  readonly tx?: string;
  readonly after?: string;
  readonly before?: string;
};

/** `pf deposits`, by the public API. */
export function depositsCommand(context: CommandContext): Command {
  const deposits = new Command('deposits').description('money that has arrived and pays no intent');

  deposits
    .command('get')
    .description('show a deposit')
    .argument('<id>', 'the id, from `pf deposits list`')
    .addHelpText('after', `\nExample:\n  pf deposits get ${EXAMPLE_ID} --json`)
    .action((id: string, _options: unknown, command: Command) =>
      withApi(command, context, async ({ client, output }) => {
        const deposit = await client.deposits.get(id);
        output.answer({ deposit }, () => depositText(deposit));
      }),
    );

  for (const [verb, description] of [
    ['ignore', 'ignore a deposit: nothing is to be done about it'],
    ['reopen', 'reopen a deposit that was ignored'],
    ['unassign', 'undo the assignment of a deposit: its payment intent is unpaid again'],
  ] as const)
    deposits
      .command(verb)
      .description(description)
      .argument('<id>', 'the id, from `pf deposits list`')
      .addHelpText('after', `\nExample:\n  pf deposits ${verb} ${EXAMPLE_ID}`)
      .action((id: string, _options: unknown, command: Command) =>
        withApi(command, context, async ({ client, output }) => {
          const deposit = await client.deposits[verb](id);
          output.answer({ deposit }, () => depositText(deposit));
        }),
      );

  deposits
    .command('assign')
    .description('assign a deposit to the payment intent that it pays')
    .argument('<id>', 'the id, from `pf deposits list`')
    .argument('<intent>', 'the id of a payment intent with its network, token, recipient and amount')
    .addHelpText('after', `\nExample:\n  pf deposits assign ${EXAMPLE_ID} pi_5mUj8xNgYq3vWJ2hTfKd7`)
    .action((id: string, intentId: string, _options: unknown, command: Command) =>
      withApi(command, context, async ({ client, output }) => {
        const deposit = await client.deposits.assign(id, intentId);
        output.answer({ deposit }, () => depositText(deposit));
      }),
    );

  deposits
    .command('list')
    .description('list deposits that match all filters, newest first')
    .addOption(new Option('--state <state...>', 'one of these states').choices(DEPOSIT_STATES))
    .addOption(new Option('--chain <chain>', CHAIN_HELP).argParser(chainId))
    .option('--token <token>', 'the symbol or the address')
    .option('--recipient <wallet>', 'the wallet that has received it')
    .option('--tx <hash>', 'the hash or signature of its transaction')
    .option('--after <time>', 'first seen after this time, such as 2026-11-21T12:00:00Z')
    .option('--before <time>', 'first seen before this time')
    .addOption(new Option('--limit <number>', 'how many: 1 to 100').argParser(wholeNumber).default(20))
    .option('--cursor <cursor>', 'continue after an earlier page')
    .addHelpText('after', '\nExamples:\n  pf deposits list --state open\n  pf deposits list --chain base --json')
    .action((options: ListOptions, command: Command) =>
      withApi(command, context, async ({ client, output, mode }) => {
        const { tx, after, before, ...filter } = options;
        const { items, nextCursor } = await client.deposits
          .list({
            ...filter,
            ...(tx !== undefined && { txSignature: tx }),
            ...(after !== undefined && { createdAfter: after }),
            ...(before !== undefined && { createdBefore: before }),
          })
          .page();
        output.answer({ deposits: items, nextCursor }, () => {
          if (items.length === 0) return `No ${mode} deposits match.`;
          const rows = items.map((deposit) => [
            deposit.id,
            deposit.level,
            deposit.state,
            amountOf(deposit),
            deposit.chain,
            deposit.recipient,
            moment(new Date(deposit.createdAt)),
          ]);
          const more = nextCursor === null ? [] : ['', `For the next page add --cursor ${nextCursor}`];
          const head = ['ID', 'LEVEL', 'STATE', 'AMOUNT', 'CHAIN', 'RECIPIENT', 'FIRST SEEN'];
          return [table([head, ...rows]), ...more].join('\n');
        });
      }),
    );

  return deposits;
}

/** Of a token that is not known: base units. */
const amountOf = ({ amount, amountBaseUnits, token, tokenAddress }: Deposit): string =>
  amount === null ? `${amountBaseUnits} of ${tokenAddress ?? 'the chain’s coin'}` : `${amount} ${token ?? ''}`;

function depositText(deposit: Deposit): string {
  const { id, livemode, level, state, reason, chain, recipient, sender, reference, txSignature, intentId } = deposit;
  const lines: (readonly [name: string, value: string | null])[] = [
    ['id', `${id} (${livemode ? 'live' : 'test'})`],
    ['level', level],
    ['state', state],
    ['amount', `${amountOf(deposit)} on ${chain}`],
    ['recipient', recipient],
    ['sender', sender ?? 'none: it was minted'],
    ['reason', reason],
    ['reference', reference],
    ['transaction', txSignature],
    ['block time', deposit.blockTime && moment(new Date(deposit.blockTime))],
    ['first seen', moment(new Date(deposit.createdAt))],
    ['intent', intentId],
  ];
  return table(lines.flatMap(([name, value]) => (value === null ? [] : [[name, value]])));
}
