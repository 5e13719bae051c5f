import { findNetwork, networks, rewindCursor } from '@pf/chains';
import { changeCursor, recordChange } from '@pf/database';
import { Command, InvalidArgumentError } from 'commander';
import { CliError } from '../cli-error.ts';
import { type CommandContext, withSession } from '../session.ts';

/** `pf watch …`: what the watchers do. */
export function watchCommand(surroundings: CommandContext): Command {
  const watch = new Command('watch').description('the watchers of the networks');
  watch
    .command('rescan')
    .description(
      'let the watcher of a network read blocks again that it has read, for payments that the ledger lacks; ' +
        'payments that it has change nothing',
    )
    .requiredOption('--network <name>', 'such as base, or its CAIP-2 id')
    .requiredOption('--from <block>', 'the first block, on Solana the first slot', blockOf)
    .addHelpText('after', '\nExample:\n  pf watch rescan --network base --from 38211450')
    .action(({ network: text, from }: { network: string; from: bigint }, command: Command) =>
      withSession(command, surroundings, async ({ database, output, by }) => {
        const network = findNetwork(text) ?? networks.find(({ name }) => name === text);
        if (!network)
          throw new CliError(
            `${text} is not a network. The networks are ${networks.map(({ name }) => name).join(', ')}.`,
          );
        const cursor = await changeCursor(database, network.chain, (before) => rewindCursor(network, before, from));
        if (cursor === null)
          throw new CliError(`${network.label} was never watched: its watcher begins at the final block.`);
        const after = { network: network.name, from: from.toString() };
        await recordChange(database.sql, by, { accountId: null, action: 'watch.rescanned', after });
        output.answer(
          { network: network.name, chain: network.chain, from: from.toString() },
          () =>
            `The watcher of ${network.label} reads again from ${from} on, beside the new blocks. Its lease is ended: ` +
            'a watcher takes over within seconds.',
        );
      }),
    );
  return watch;
}

function blockOf(text: string): bigint {
  if (!/^[1-9]\d{0,18}$/.test(text)) throw new InvalidArgumentError('A block is a whole number from 1.');
  return BigInt(text);
}
