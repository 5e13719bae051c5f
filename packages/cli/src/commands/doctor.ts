import { type Examined, examineUpstream, networkOf, RpcUnavailableError, UNTOLD_RULES } from '@pf/chains';
import type { Network } from '@pf/chains/networks';
import type { UpstreamSettings } from '@pf/rpc';
import { createLogger } from '@pf/runtime';
import { Command } from 'commander';
import { upstreamsFor, type UpstreamOptions } from '../chain/served-network.ts';
import { CliError } from '../cli-error.ts';
import { table } from '../output.ts';
import { type CommandContext, withoutDatabase } from '../session.ts';

/** `pf doctor`: whether networks are as this version takes them to be. */
export function doctorCommand(context: CommandContext): Command {
  return new Command('doctor')
    .description(
      'ask every upstream for its chain and for the symbol, decimals, currency, pause and blocklist of each token, ' +
        'and compare them with the registry of this version; ends with 1 where one differs or does not respond. ' +
        'Changes nothing, and needs no database.',
    )
    .option('--network <name>', 'such as base, or its CAIP-2 id (default: all that have upstreams)')
    .option('--rpc <urls>', 'upstreams of --network, separated by commas (default: RPC_… or RPC_CONFIG)')
    .addHelpText(
      'after',
      '\nRun it before a new version or a new upstream is put to use: docs/operations/networks.md\n\n' +
        'Example:\n  pf doctor --network base --rpc https://mainnet.base.org',
    )
    .action(async (options: UpstreamOptions, command: Command) => {
      const { output, stack } = withoutDatabase(command, context);
      const examinations = await Promise.all(
        [...(await upstreamsFor(stack, options))].flatMap(([chain, upstreams]) =>
          upstreams.map((upstream) => examine(networkOf(chain), upstream)),
        ),
      );
      output.answer({ upstreams: examinations.map(asJson) }, () => table([HEAD, ...examinations.flatMap(rowsOf)]));
      const problems = examinations.flatMap(problemsOf);
      if (problems.length > 0) throw new CliError(problems.join('\n'));
    });
}

interface Examination extends Examined {
  readonly network: Network;
}

async function examine(network: Network, upstream: string | UpstreamSettings): Promise<Examination> {
  try {
    return { network, ...(await examineUpstream(network, upstream, createLogger('pf', 'silent'))) };
  } catch (error) {
    if (!(error instanceof RpcUnavailableError)) throw error;
    const { host } = new URL(typeof upstream === 'string' ? upstream : upstream.url);
    return {
      network,
      upstream: host,
      problem: `it does not respond: ${error.message}`,
      rules: UNTOLD_RULES,
      tokens: [],
    };
  }
}

/** What a contract calls itself may be anything: it must not control the terminal. */
const printable = (text: string): string => JSON.stringify(text).slice(1, -1);

const HEAD = ['NETWORK', 'UPSTREAM', 'RULES', 'TOKEN', 'SYMBOL', 'DECIMALS', 'CURRENCY', 'TRANSFERS', 'BLOCKLIST'];
const UNTOLD = '–';

const rowsOf = ({ network, upstream, problem, rules, tokens }: Examination): readonly (readonly string[])[] =>
  problem !== null
    ? [[network.name, upstream, UNTOLD]]
    : tokens.map(({ token, facts }) => [
        network.name,
        upstream,
        rules.name ?? UNTOLD,
        token.symbol,
        ...(facts === null
          ? ['not there']
          : [
              printable(facts.symbol ?? UNTOLD),
              `${facts.decimals ?? UNTOLD}`,
              printable(facts.currency ?? UNTOLD),
              facts.isPaused === true ? 'paused' : facts.obstacle === null ? 'open' : 'closed',
              facts.blocklist ?? UNTOLD,
            ]),
      ]);

const UNKNOWN_RULES =
  'Read what they change at the network, and look for a version that knows them: what this one takes as given may ' +
  'no longer hold.';

function problemsOf({ network, upstream, problem, rules, tokens }: Examination): readonly string[] {
  const at = `${network.label} at ${upstream}`;
  if (problem !== null) return [`${at}: ${problem}.`];
  return [
    ...rules.unknown.map((fork) => `${at}: it has rules that this version does not know: ${fork}. ${UNKNOWN_RULES}`),
    ...tokens.flatMap(({ token, differences }) =>
      differences.map(
        ({ fact, expected, found, remedy }) =>
          `${at}: ${token.symbol} (${token.address}): ${fact} should be ${expected}, found ${printable(found)}. ` +
          remedy,
      ),
    ),
  ];
}

const asJson = ({ network, upstream, problem, rules, tokens }: Examination): object => ({
  network: network.name,
  upstream,
  problem,
  rules,
  tokens: tokens.map(({ token, facts, differences }) => ({
    symbol: token.symbol,
    address: token.address,
    found: facts,
    differences,
  })),
});
