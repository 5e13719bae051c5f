import { commandLine, count, flag, word } from '@pf/local/command';
import type { Outcome } from './messages.ts';
import { bugs } from './planted/bugs.ts';
import { describeFailure } from './runner/report.ts';
import { findBug, type FoundBug, MOST_SEEDS, runSeeds } from './runner/seeds.ts';
import { shrink } from './runner/shrink.ts';
import { WorkerProcess } from './runner/worker-process.ts';

/** How many failed seeds are shrunk and printed. */
const DESCRIBED = 3;

interface Result {
  readonly seeds: number;
  readonly failures: readonly { readonly seed: number; readonly invariant: string }[];
  readonly planted: readonly { readonly name: string; readonly foundAfterSeeds: number | null }[];
}

/** Runs the seeds and describes the first failures. */
async function simulate(
  from: number,
  count: number,
  without: readonly string[],
  say: (text: string) => void,
): Promise<readonly Outcome[]> {
  const failed: Outcome[] = [];
  const began = performance.now();
  let ended = 0;
  let virtualMs = 0;
  await runSeeds({ from, count, without }, (outcome) => {
    ended++;
    virtualMs += outcome.virtualMs;
    if (outcome.failure) {
      failed.push(outcome);
      say(`seed ${outcome.seed} breaks: ${outcome.failure.invariant}`);
    }
  });
  const seconds = (performance.now() - began) / 1_000;
  say(
    `${ended} seeds in ${seconds.toFixed(1)} s (${(ended / seconds).toFixed(1)} a second, ` +
      `${Math.round(virtualMs / 1_000 / ended)} virtual seconds each), ${failed.length} failed`,
  );
  return failed.sort((a, b) => a.seed - b.seed);
}

async function describe(failed: readonly Outcome[], say: (text: string) => void): Promise<void> {
  const worker = new WorkerProcess();
  try {
    for (const outcome of failed.slice(0, DESCRIBED)) say(`\n${describeFailure(await shrink(worker, outcome))}`);
  } finally {
    worker.close();
  }
}

async function findBugs(named: string, within: number, say: (text: string) => void): Promise<readonly FoundBug[]> {
  const found: FoundBug[] = [];
  for (const { name } of bugs.filter((bug) => bug.name.includes(named))) {
    const began = performance.now();
    const bug = await findBug(name, within);
    const seconds = ((performance.now() - began) / 1_000).toFixed(0);
    const after =
      bug.foundAfterSeeds === null
        ? `NOT FOUND within ${within} seeds`
        : `found after ${bug.foundAfterSeeds} seeds: ${bug.invariant}`;
    say(`${name}: ${after} (${seconds} s)`);
    found.push(bug);
  }
  return found;
}

/** Seeds are 32 bits. */
const MOST = 2 ** 32 - 1;
const {
  values: { seeds, from, seed, planted, within, without, json },
  operands: [named = ''],
} = commandLine({
  name: 'npm run simulate',
  about: 'Runs the services on simulated dependencies (docs/internals/simulation.md).',
  operands: { takes: '[NAME]', about: 'With --planted: only bugs whose name contains it', most: 1 },
  options: {
    seeds: count('How many are run', 200, { most: MOST }),
    from: count('The first of them', 1, { least: 0, most: MOST }),
    seed: {
      ...count('Run this one alone, and print its messages if it fails', 0, { least: 0, most: MOST }),
      otherwise: null,
    },
    planted: flag('Put planted bugs into the sources, one at a time'),
    within: count('How many seeds may be needed to find a planted bug', MOST_SEEDS, { most: MOST }),
    without: word('Kinds of commands and faults that are switched off: "kills,lost messages"', ''),
    json: flag('Print {seeds, failures, planted}, and everything else to stderr'),
  },
});
async function main(): Promise<void> {
  const say = (text: string): void => (json ? console.error(text) : console.log(text));
  const total = planted ? 0 : seed === null ? seeds : 1;
  const failed = total === 0 ? [] : await simulate(seed ?? from, total, without.split(','), say);
  await describe(failed, say);
  const found = planted ? await findBugs(named, within, say) : [];
  if (json)
    console.log(
      JSON.stringify({
        seeds: total,
        failures: failed.map(({ seed, failure }) => ({ seed, invariant: failure?.invariant ?? '' })),
        planted: found.map(({ name, foundAfterSeeds }) => ({ name, foundAfterSeeds })),
      } satisfies Result),
    );
  if (failed.length > 0 || found.some(({ foundAfterSeeds }) => foundAfterSeeds === null)) process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 64;
}
