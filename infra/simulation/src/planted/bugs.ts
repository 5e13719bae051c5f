import { mutants } from '../../../mutants/src/mutants.ts';
import { defects } from './defects.ts';
import type { Planted } from './planted.ts';

/** The guards of infra/mutants that stand in simulated code and without which something is lost. */
const GUARDS: readonly string[] = [
  'The projection is brought up to the end of the log before commands are read',
  'The position of the input is read after the fence',
  'A partition has one batch in progress, of commands or observations',
  'A batch that could not be decided is not skipped',
  'What is projected is what its events alone say',
  'A command that has an outcome is not decided again',
  'A claim is made only where no other payer holds one',
  'The writer compares the terms of a transaction itself',
  'A claim is given up only when it was made once',
  'What one command appends the next one sees',
  'An idempotency key is looked up',
  'A command past its deadline is not decided',
  'Time does not go back in a partition',
  'Creates with one idempotency key go to one partition',
  'The bytes of a transaction are stored before the intent is claimed for it',
  'The claim stays after a broadcast with an unknown outcome',
  'A claim comes before the broadcast',
  'What a watcher saw is acknowledged by the log before its cursor moves',
  'No block is read before the intents that were there are known',
  'Nothing is committed that was decided on a database that was set back',
  'Acquiring a partition fences those to whom its earlier owner has delegated it',
  'A message that does not parse becomes a dead letter',
  'A message that cannot be decided becomes a dead letter',
  'One deposit pays one intent',
  'A deposit that lands again goes on paying its intent',
  'An intent takes each version of a deposit once',
  'Nothing is done about a deposit that does not count',
];

function guardNamed(name: string): Planted {
  const mutant = mutants.find((other) => other.name === name);
  if (mutant === undefined) throw new Error(`infra/mutants has no guard "${name}".`);
  const { file, guard, instead } = mutant;
  return { name, file, guard, instead };
}

/** Every planted bug. */
export const bugs: readonly Planted[] = [...GUARDS.map(guardNamed), ...defects];
