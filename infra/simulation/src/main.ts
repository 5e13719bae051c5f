import { parseArgs } from 'node:util';
import type { Outcome } from './messages.ts';
import { bugs } from './planted/bugs.ts';
import { describeFailure } from './runner/report.ts';
import { findBug, type FoundBug, MOST_SEEDS, runSeeds } from './runner/seeds.ts';
import { shrink } from './runner/shrink.ts';
import { WorkerProcess } from './runner/worker-process.ts';

const USAGE = `npm run simulate -- [--seeds N] [--from S] [--seed S] [--planted [NAME]] [--within N] [--json]

  --seeds N   Run N seeds, from 1 or from --from (default: 200)
  --seed S    Run one seed again, and print its messages if it fails
  --planted   Put every planted bug, or those whose name contains NAME, into the sources, one at a time
  --without K Switch off kinds of commands and faults: --without "kills,lost messages"
  --within N  How many seeds may be needed to find a planted bug (default: 2000)
  --json      Print {seeds, failures, planted}, and everything else to stderr

docs/internals/simulation.md explains what is simulated.`;
/** How many failed seeds are shrunk and printed. */
const DESCRIBED = 3;

interface Result {
  readonly seeds: number;
  readonly failures: readonly { readonly seed: number; readonly invariant: string }[];
  readonly planted: readonly { readonly name: string; readonly foundAfterSeeds: number | null }[];
}

function integer(text: string, name: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 0) throw new Error(`--${name} ${text}: it takes a whole number.`);
  return number;
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

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seeds: { type: 'string', default: '200' },
      from: { type: 'string', default: '1' },
      seed: { type: 'string' },
      planted: { type: 'boolean', default: false },
      within: { type: 'string', default: String(MOST_SEEDS) },
      without: { type: 'string', default: '' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return console.log(USAGE);
  const say = (text: string): void => (values.json ? console.error(text) : console.log(text));
  const single = values.seed === undefined ? null : integer(values.seed, 'seed');
  const from = single ?? integer(values.from, 'from');
  const count = values.planted ? 0 : single === null ? integer(values.seeds, 'seeds') : 1;
  const failed = count === 0 ? [] : await simulate(from, count, values.without.split(','), say);
  await describe(failed, say);
  const planted = values.planted ? await findBugs(positionals[0] ?? '', integer(values.within, 'within'), say) : [];
  if (values.json)
    console.log(
      JSON.stringify({
        seeds: count,
        failures: failed.map(({ seed, failure }) => ({ seed, invariant: failure?.invariant ?? '' })),
        planted: planted.map(({ name, foundAfterSeeds }) => ({ name, foundAfterSeeds })),
      } satisfies Result),
    );
  if (failed.length > 0 || planted.some(({ foundAfterSeeds }) => foundAfterSeeds === null)) process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 64;
}
