import path from 'node:path';
import { createEventLog } from '@pf/event-log';
import { commandLine, flag } from '@pf/local/command';
import { readBackingStack, stackFile } from '@pf/testing';
import { foundByProperties } from './by-properties.ts';
import { Copy } from './copy.ts';
import type { Mutant } from './mutant.ts';
import { mutants } from './mutants.ts';
import { runTests } from './tests.ts';

/**
 * Takes each guard of the architecture's invariants out of a copy of the sources, one at a time, and runs the test that
 * is named to hold it. Passes only if every named test passes with its guard and fails without it. An argument chooses
 * guards by a part of their name or file. docs/internals/reliability.md lists the guards (`npm run generate`).
 *
 * With `--properties` it plants the faults that the properties of random transactions have to find, and runs those.
 */
const root = path.join(import.meta.dirname, '../../..');
const ANSWER_MS = 5_000;

/** @throws Error saying what to do where no stack answers */
async function requireStack(): Promise<void> {
  const { kafka } = readBackingStack();
  const log = createEventLog({ brokers: kafka.split(','), partitions: 1, clientId: 'mutants' });
  if (!(await log.ready(ANSWER_MS)))
    throw new Error(`The stack of ${stackFile()} does not respond. Start it with \`npm start\`.`);
}

/** @returns the names of the guards that are not held */
async function check(chosen: readonly Mutant[], signal: AbortSignal): Promise<readonly string[]> {
  const unheld: string[] = [];
  const copy = new Copy(root);
  const run = (file: string, names: readonly string[]) =>
    runTests({ root: copy.root, file, names, env: { ...process.env, STACK_FILE: stackFile() }, signal });
  try {
    for (const [file, group] of Map.groupBy(chosen, ({ test }) => test.file)) {
      const intact = await run(file, [...new Set(group.map(({ test }) => test.name))]);
      for (const mutant of group) {
        const began = performance.now();
        const before = intact.get(mutant.test.name);
        const after =
          before?.passed === true
            ? await copy.without(mutant, async () => (await run(file, [mutant.test.name])).get(mutant.test.name))
            : undefined;
        const held = after?.passed === false;
        if (!held) unheld.push(mutant.name);
        const why =
          after === undefined
            ? `the test does not pass with it: ${before?.reason ?? 'there is none of this name'}`
            : after.reason;
        console.log(
          `${held ? 'held    ' : 'NOT HELD'} ${mutant.name} (${Math.round((performance.now() - began) / 1_000)} ` +
            `s; ${why})`,
        );
      }
    }
  } finally {
    copy.remove();
  }
  return unheld;
}

const {
  values: { properties },
  operands: [only],
} = commandLine({
  name: 'npm run mutants',
  about: 'Removes each guard of an invariant, and checks that its test fails then.',
  operands: { takes: '[WORD]', about: "Only guards with it in their name, their file or their test's file", most: 1 },
  options: { properties: flag('Plant the faults that the properties of random transactions have to find instead') },
});
const chosen = (properties ? foundByProperties : mutants).filter(
  ({ name, file, test }) => only === undefined || [name, file, test.file].some((text) => text.includes(only)),
);
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort(new Error('Stopped.')));
try {
  if (chosen.length === 0) throw new Error(`No guard's name or file contains ${only}.`);
  // The properties start chains of their own.
  if (!properties) await requireStack();
  const began = performance.now();
  const unheld = await check(chosen, stopping.signal);
  const minutes = ((performance.now() - began) / 60_000).toFixed(1);
  const result =
    unheld.length === 0
      ? `Each of ${chosen.length} guards is held by its test`
      : `${unheld.length} of ${chosen.length} guards are not held: ${unheld.join('; ')}`;
  console.log(`\n${result} (${minutes} min).`);
  process.exitCode = unheld.length === 0 ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
