import { mergeCursors, rewindCursor } from '@pf/chains';
import { changeCursors, recordChange, SHARDS_MAX } from '@pf/database';
import { Command, InvalidArgumentError } from 'commander';
import { servedNetwork } from '../chain/served-network.ts';
import { CliError } from '../cli-error.ts';
import { type CommandContext, withSession } from '../session.ts';

/** `pf watch …`: what the watchers do. */
export function watchCommand(context: CommandContext): Command {
  const watch = new Command('watch').description('the watchers of the networks');
  watch
    .command('rescan')
    .description('rescan a network from a block, for payments missing from the ledger; known payments change nothing')
    .requiredOption('--network <name>', 'such as base, or its CAIP-2 id')
    .requiredOption('--from <block>', 'the first block, on Solana the first slot', blockOf)
    .addHelpText('after', '\nExample:\n  pf watch rescan --network base --from 38211450')
    .action(({ network: text, from }: { network: string; from: bigint }, command: Command) =>
      withSession(command, context, async ({ database, output, by }) => {
        const network = servedNetwork(text);
        const cursors = await changeCursors(database, network.chain, (before) =>
          before.map((cursor) => rewindCursor(network, cursor, from)),
        );
        if (cursors === null)
          throw new CliError(`${network.label} was never watched: its watcher starts at the final block.`);
        const after = { network: network.name, from: from.toString() };
        await recordChange(database.sql, by, { accountId: null, action: 'watch.rescanned', after });
        output.answer(
          { network: network.name, chain: network.chain, from: from.toString() },
          () =>
            `The watcher of ${network.label} rescans from ${from}, in addition to new blocks. Its lease has ended: ` +
            'a watcher takes over within seconds.',
        );
      }),
    );
  watch
    .command('split')
    .description(
      'split the recipients of a network into shards, each watched by its own processes (WATCH_SHARD), or merge ' +
        'them; every shard starts at a block that all previous shards have read',
    )
    .requiredOption('--network <name>', 'such as base, or its CAIP-2 id')
    .requiredOption('--shards <number>', `1 to ${SHARDS_MAX}; with 1 the network is not split`, shardsOf)
    .addHelpText('after', '\nExample:\n  pf watch split --network base --shards 4')
    .action(({ network: text, shards }: { network: string; shards: number }, command: Command) =>
      withSession(command, context, async ({ database, output, by }) => {
        const network = servedNetwork(text);
        let before = 0;
        const cursors = await changeCursors(database, network.chain, (present) => {
          before = present.length;
          return Array.from({ length: shards }, () => mergeCursors(network, present));
        });
        if (cursors === null)
          throw new CliError(
            `${network.label} was never watched. Start a watcher of all of it (WATCH_SHARD=1/1) once, then split it.`,
          );
        const after = { network: network.name, shards };
        await recordChange(database.sql, by, {
          accountId: null,
          action: 'watch.split',
          before: { shards: before },
          after,
        });
        output.answer(
          { network: network.name, chain: network.chain, shards, before },
          () =>
            `${network.label} has ${shards === 1 ? 'one shard' : `${shards} shards`} now, and had ${before}. ` +
            `Watchers with WATCH_SHARD=${shards === 1 ? '1/1' : `1/${shards} to ${shards}/${shards}`} take over ` +
            'within seconds; all others stand by and can be removed.',
        );
      }),
    );
  return watch;
}

function shardsOf(text: string): number {
  const shards = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (shards < 1 || shards > SHARDS_MAX)
    throw new InvalidArgumentError(`The number of shards is between 1 and ${SHARDS_MAX}.`);
  return shards;
}

function blockOf(text: string): bigint {
  if (!/^[1-9]\d{0,18}$/.test(text)) throw new InvalidArgumentError('A block is a whole number from 1.');
  return BigInt(text);
}
