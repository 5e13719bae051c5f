import { parseArgs } from 'node:util';

/** The chains that the demo knows, in the order in which it pays on them. */
const DEMO_CHAINS = ['base', 'solana', 'tempo'] as const;
export type DemoChain = (typeof DEMO_CHAINS)[number];
export type Scenario = 'pay' | 'drop' | 'fail';

export interface Options {
  readonly chains: readonly DemoChain[];
  readonly scenario: Scenario;
}

export const USAGE = `Pays intents as a client does: through the public API only, with a wallet that signs by itself.

  npm run demo                    a payment on each chain: base, solana, tempo
  npm run demo solana             on one of them
  npm run demo -- --drop          the chain drops the transaction; the payer builds and signs again
  npm run demo -- --fail          the transaction fails on chain, and so does the intent
  npm run demo -- tempo --drop    on one of them

The stack must be running (npm start).`;

/** A wrong command line, with what is wrong. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * @param args what stands after the program's name
 * @returns null where help is wanted
 * @throws UsageError
 */
export function readOptions(args: readonly string[]): Options | null {
  let parsed;
  try {
    parsed = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { drop: { type: 'boolean' }, fail: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    });
  } catch (error) {
    // Node's own words name the option; what follows the first sentence is about shells.
    throw new UsageError(error instanceof Error ? (error.message.split('. ')[0] ?? '') : String(error));
  }
  const { values, positionals } = parsed;
  if (values.help) return null;
  if (values.drop && values.fail) throw new UsageError('--drop and --fail exclude each other: choose one.');
  const unknown = positionals.filter((name) => !(DEMO_CHAINS as readonly string[]).includes(name));
  if (unknown.length > 0)
    throw new UsageError(`Unknown chain: ${unknown.join(', ')}. The chains are ${DEMO_CHAINS.join(', ')}.`);
  return {
    chains: positionals.length === 0 ? DEMO_CHAINS : DEMO_CHAINS.filter((name) => positionals.includes(name)),
    scenario: values.drop ? 'drop' : values.fail ? 'fail' : 'pay',
  };
}
