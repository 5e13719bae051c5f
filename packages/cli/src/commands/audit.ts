import { createChains } from '@pf/chains';
import { countCold, readSettlements } from '@pf/database';
import type { AccountId, IntentId } from '@pf/domain';
import { createLogger } from '@pf/runtime';
import { Command } from 'commander';
import { reportAsJson, reportAsText, problemOf } from '../settlement-audit/report.ts';
import { auditSettlements } from '../settlement-audit/settlements.ts';
import { upstreamsFor, type UpstreamOptions } from '../chain/served-network.ts';
import { CliError } from '../cli-error.ts';
import { type CommandContext, globalOptions, withSession } from '../session.ts';
import { timeOf } from '../time-option.ts';

interface Options extends UpstreamOptions {
  readonly from: Date;
  readonly to?: Date;
  readonly after?: string;
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
  return audit;
}
