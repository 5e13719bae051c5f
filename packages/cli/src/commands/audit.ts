import { type BlockRange, createChains, openWalletHistory, RpcUnavailableError } from '@pf/chains';
import type { Network } from '@pf/chains/networks';
import { parseWallet } from '@pf/chains/wallets';
import {
  accountsNaming,
  countCold,
  type Database,
  type NamedWallet,
  readSettlements,
  readToldTransfers,
} from '@pf/database';
import type { AccountId, IntentId } from '@pf/domain';
import { createLogger } from '@pf/runtime';
import { auditWallet, TooManyTransfersError } from '@pf/wallet-audit';
import { Command, InvalidArgumentError } from 'commander';
import { reportAsJson, reportAsText, problemOf } from '../settlement-audit/report.ts';
import { auditSettlements } from '../settlement-audit/settlements.ts';
import { servedNetwork, upstreamsFor, type UpstreamOptions } from '../chain/served-network.ts';
import { CliError } from '../cli-error.ts';
import { type CommandContext, globalOptions, withSession } from '../session.ts';
import { timeOf } from '../time-option.ts';
import {
  problemOf as walletProblemOf,
  reportAsJson as walletAsJson,
  reportAsText as walletAsText,
  type Subject,
} from '../wallet-report.ts';

interface Options extends UpstreamOptions {
  readonly from: Date;
  readonly to?: Date;
  readonly after?: string;
}

interface WalletOptions {
  readonly network: string;
  readonly wallet: string;
  readonly from: bigint;
  readonly to?: bigint;
  readonly rpc?: string;
}

/** `pf audit …`: whether what was believed holds. */
export function auditCommand(context: CommandContext): Command {
  const audit = new Command('audit').description('judge again what was believed before');
  audit
    .command('settlements')
    .description(
      'read the transaction of each settlement of a period from the chain again, and judge it by the rules of today; ' +
        'prints those that do not hold, and ends with 1 where there is one. With --account only of that account. ' +
        'Changes nothing.',
    )
    .requiredOption('--from <time>', 'confirmed from this time on, ISO 8601, in UTC', timeOf)
    .option('--to <time>', 'confirmed before this time (default: now)', timeOf)
    .option('--network <name>', 'such as base, or its CAIP-2 id (default: all that have upstreams)')
    .option('--rpc <urls>', 'upstreams of --network, separated by commas (default: RPC_… or RPC_CONFIG)')
    .option('--after <intent id>', 'go on after this payment intent, where an earlier run has ended')
    .addHelpText(
      'after',
      '\nThe upstreams must have the blocks of the period, and on Base their traces: an archive node.\n' +
        'What to do with what it finds: docs/operations/runbooks/audit-settlements.md\n\n' +
        'Example:\n  pf audit settlements --network base --from 2026-11-01 --to 2026-12-01',
    )
    .action((options: Options, command: Command) =>
      withSession(command, context, async (session) => {
        const { database, output } = session;
        const chains = createChains({
          upstreams: await upstreamsFor(session.stack, options),
          log: createLogger('pf', 'silent'),
          now: Date.now,
        });
        try {
          const filter = {
            chains: [...chains.observers.keys()],
            accountId: (globalOptions(command).account ?? null) as AccountId | null,
            from: options.from.getTime(),
            to: (options.to ?? new Date()).getTime(),
          };
          const cold = await countCold(database, filter);
          const report = await auditSettlements({
            read: (after) => readSettlements(database, filter, after),
            judges: chains.observers,
            after: (options.after ?? null) as IntentId | null,
            ended: context.untilEnded?.() ?? new AbortController().signal,
          });
          output.answer(reportAsJson(report, cold), () => reportAsText(report, cold));
          const problem = problemOf(report);
          if (problem !== null) throw new CliError(problem);
        } finally {
          await chains.close();
        }
      }),
    );
  audit
    .command('wallets')
    .description(
      'compare what has arrived in a wallet, by the chain, with what the ledger tells of it: settlements, extra and ' +
        'mismatched payments, and deposits; prints where they differ, and ends with 1 where they do. With --account ' +
        'only what is told to that account. Changes nothing.',
    )
    .requiredOption('--network <name>', 'such as base, or its CAIP-2 id')
    .requiredOption('--wallet <address>', 'the wallet that intents name')
    .requiredOption('--from <block>', 'the first block, on Solana the first slot', blockOf)
    .option('--to <block>', 'the last block (default: the newest final one)', blockOf)
    .option('--rpc <urls>', 'upstreams of the network, separated by commas (default: RPC_… or RPC_CONFIG)')
    .addHelpText(
      'after',
      '\nThe upstreams must have the blocks of the range. Balances at its ends need an archive node, and are left ' +
        'out without one.\nWhat to do about a difference: docs/operations/runbooks/audit-wallets.md\n\n' +
        'Example:\n  pf audit wallets --network base --wallet 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 ' +
        '--from 38211450',
    )
    .action((options: WalletOptions, command: Command) =>
      withSession(command, context, async ({ database, output, stack }) => {
        const network = servedNetwork(options.network);
        const parsed = parseWallet(network.family, options.wallet);
        if (!parsed.ok) throw new CliError(`${options.wallet} ${parsed.problem}.`);
        const wallet = parsed.value;
        const upstreams = (await upstreamsFor(stack, options)).get(network.chain) ?? [];
        const { history, close } = openWalletHistory(network, upstreams, createLogger('pf', 'silent'));
        try {
          const range = rangeOf(options, await history.final(), network);
          const { chain, livemode } = network;
          const named = { chain, livemode, wallet };
          const subject = await subjectOf(database, network, named, globalOptions(command).account);
          const report = await auditWallet({
            history,
            readTold: async (since, take) => {
              const unreadable: IntentId[] = [];
              for (const { accountId } of subject.accounts)
                unreadable.push(...(await readToldTransfers(database, accountId, named, since, take)));
              return unreadable;
            },
            wallet,
            range,
            ended: context.untilEnded?.() ?? new AbortController().signal,
          });
          output.answer(walletAsJson(subject, report), () => walletAsText(subject, report));
          const problem = walletProblemOf(subject, report);
          if (problem !== null) throw new CliError(problem);
        } catch (error) {
          if (error instanceof TooManyTransfersError)
            throw new CliError(`${error.message} Name fewer blocks with --from and --to.`, { cause: error });
          if (!(error instanceof RpcUnavailableError)) throw error;
          throw new CliError(`The chain cannot be read: ${error.message}`, { cause: error });
        } finally {
          await close();
        }
      }),
    );
  return audit;
}

/** What is final is neither undone nor awaited. */
function rangeOf({ from, to }: WalletOptions, final: bigint, { label }: Network): BlockRange {
  const last = to ?? final;
  if (last > final) throw new CliError(`Block ${last} of ${label} is not final yet: the newest final one is ${final}.`);
  if (from > last) throw new CliError(`There is no block from ${from} to ${last}.`);
  return { from, to: last };
}

async function subjectOf(
  database: Database,
  network: Network,
  named: NamedWallet,
  account: string | undefined,
): Promise<Subject> {
  const accounts = await accountsNaming(database, named, (account ?? null) as AccountId | null);
  const cold = await Promise.all(
    accounts.map(({ accountId }) => countCold(database, { accountId, from: 0, to: Date.now() })),
  );
  return { network, wallet: named.wallet, accounts, cold: cold.reduce((sum, count) => sum + count, 0) };
}

function blockOf(text: string): bigint {
  if (!/^\d{1,18}$/.test(text)) throw new InvalidArgumentError('It must be the number of a block.');
  return BigInt(text);
}
