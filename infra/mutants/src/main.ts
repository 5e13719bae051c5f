import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createEventLog } from '@pf/event-log';
import { readBackingStack, stackFile } from '@pf/testing';
import { Copy } from './copy.ts';
import type { Mutant } from './mutant.ts';
import { mutants } from './mutants.ts';
import { runTests } from './tests.ts';

/**
 * Takes each guard of the architecture's invariants out, one at a time, in a copy of the sources, and runs the test that
 * is named to hold it. Passes only if every named test passes with its guard and fails without it; then the table goes
 * into docs/internals/reliability.md. An argument chooses those whose name or file contains it, and writes no table.
 */
const root = path.join(import.meta.dirname, '../../..');
const DOC = 'docs/internals/reliability.md';
const MARKS = ['<!-- mutants -->', '<!-- /mutants -->'] as const;
const ANSWER_MS = 5_000;

/** @throws Error saying what to do where no stack answers */
async function requireStack(): Promise<void> {
  const { kafka } = readBackingStack();
  const log = createEventLog({ brokers: kafka.split(','), partitions: 1, clientId: 'mutants' });
  if (!(await log.ready(ANSWER_MS)))
    throw new Error(`The stack of ${stackFile()} does not answer. Start it with \`npm start\`.`);
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
          `${held ? 'held    ' : 'NOT HELD'} ${mutant.name} (${Math.round((performance.now() - began) / 1_000)} s; ${why})`,
        );
      }
    }
  } finally {
    copy.remove();
  }
  return unheld;
}

function writeTable(): void {
  const file = path.join(root, DOC);
  const doc = readFileSync(file, 'utf8');
  const [before, rest] = doc.split(MARKS[0]);
  const after = rest?.split(MARKS[1])[1];
  if (before === undefined || after === undefined) throw new Error(`${DOC} lacks the marks ${MARKS.join(' … ')}`);
  const rows = mutants.map(({ name, file, test }) => `| ${name} | \`${file}\` | ${test.name} (\`${test.file}\`) |`);
  writeFileSync(
    file,
    `${before}${MARKS[0]}\n| guard taken out | where | the test that then fails |\n| --- | --- | --- |\n${rows.join('\n')}\n${MARKS[1]}${after}`,
  );
}

const [only] = process.argv.slice(2);
const chosen = mutants.filter(
  ({ name, file, test }) => only === undefined || [name, file, test.file].some((text) => text.includes(only)),
);
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort(new Error('Stopped.')));
try {
  if (chosen.length === 0) throw new Error(`No guard's name or file contains ${only}.`);
  await requireStack();
  const began = performance.now();
  const unheld = await check(chosen, stopping.signal);
  if (unheld.length === 0 && only === undefined) writeTable();
  const minutes = ((performance.now() - began) / 60_000).toFixed(1);
  console.log(
    `\n${unheld.length === 0 ? `Each of ${chosen.length} guards is held by its test` : `${unheld.length} of ${chosen.length} guards are not held: ${unheld.join('; ')}`} (${minutes} min).`,
  );
  process.exitCode = unheld.length === 0 ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
