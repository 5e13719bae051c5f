import { CHAIN_NAMES, CHAINS, type ChainName } from '../chains/chains.ts';
import { parseStrictly, UsageError } from '../command-line.ts';

/** The chains of test mode, in the order in which the demo pays on them. */
const DEMO_CHAINS: readonly ChainName[] = CHAIN_NAMES.filter((name) => !CHAINS[name].livemode);
export type Scenario = 'pay' | 'sound' | 'drop' | 'fail';

export interface Options {
  readonly chains: readonly ChainName[];
  readonly scenario: Scenario;
}

export const USAGE = `Pays intents as a client does: through the public API only, with a wallet that signs locally.

  npm run demo                    one payment on each chain: ${DEMO_CHAINS.join(', ')}
  npm run demo solana             on one of them
  npm run demo -- --sound         the payer's app hears the intent's id in a sound, from a file
  npm run demo -- --drop          the chain drops the transaction; the payer builds and signs again
  npm run demo -- --fail          the transaction fails on chain, and so does the intent
  npm run demo -- tempo --drop    on one of them

The stack must be running (npm start).`;

/**
 * @param args the arguments after the program's name
 * @returns null when they ask for help
 * @throws UsageError
 */
export function readOptions(args: readonly string[]): Options | null {
  const { values, positionals } = parseStrictly(args, {
    drop: { type: 'boolean' },
    fail: { type: 'boolean' },
    sound: { type: 'boolean' },
  });
  if (values.help) return null;
  const [scenario = 'pay', ...others] = (['drop', 'fail', 'sound'] as const).filter((name) => values[name]);
  if (others.length > 0)
    throw new UsageError(`--${[scenario, ...others].join(' and --')} exclude each other: choose one.`);
  const unknown = positionals.filter((name) => !DEMO_CHAINS.some((chain) => chain === name));
  if (unknown.length > 0)
    throw new UsageError(`Unknown chain: ${unknown.join(', ')}. The chains are ${DEMO_CHAINS.join(', ')}.`);
  return {
    chains: positionals.length === 0 ? DEMO_CHAINS : DEMO_CHAINS.filter((name) => positionals.includes(name)),
    scenario,
  };
}
