import { Kernel, Random, type TraceLine } from '@pf/simulation/kernel';
import { Checks } from './model/checks.ts';
import { InvariantError } from './model/invariants.ts';
import { drawPlan, movesOf, type Plan } from './plan.ts';
import { runAdversary } from './workload/adversary.ts';
import { runClient } from './workload/client.ts';
import { Storm } from './workload/faults.ts';
import { probe } from './workload/probe.ts';
import { truncateLog } from './workload/truncation.ts';
import { probeBesideUnreadable } from './workload/unreadable.ts';
import { World } from './world/world.ts';

/** How long processes take to start, before clients come. */
const START_MS = 2_000;
const CHECK_EVERY_MS = 2_000;
/** When everything has to have reached its end, after the storm and the clients: lives end, blocks become final. */
const QUIET_MS = 420_000;
const LOOK_EVERY_MS = 10_000;

export interface RunOptions {
  /** Kinds of commands and faults that are switched off. */
  readonly without?: ReadonlySet<string>;
  /** Lines of the trace that are kept. */
  readonly keptLines?: number;
}

export interface RunResult {
  readonly seed: number;
  readonly plan: Plan;
  readonly failure: InvariantError | null;
  readonly lines: readonly TraceLine[];
  readonly fingerprint: string;
  /** What happened: entries of the queue, and virtual milliseconds. */
  readonly entries: number;
  readonly virtualMs: number;
}

/** The run that an error without a handler belongs to. */
let current: Kernel | null = null;

/** Fails the current run with an error that no code has caught. */
export function failCurrentRun(error: unknown): void {
  current?.fail(error);
}

/** One seed, from beginning to end. The globals must be patched. */
export async function runSeed(seed: number, { without, keptLines = 0 }: RunOptions = {}): Promise<RunResult> {
  const plan = drawPlan(seed, without);
  const kernel = new Kernel(seed, { keptLines });
  current = kernel;
  const began = kernel.now();
  let failure: InvariantError | null = null;
  try {
    await play(kernel, plan);
  } catch (error) {
    failure =
      error instanceof InvariantError
        ? error
        : new InvariantError(
            'nothing unforeseen is thrown',
            error instanceof Error ? (error.stack ?? error.message) : String(error),
          );
  }
  return {
    seed,
    plan,
    failure,
    lines: kernel.lines(),
    fingerprint: kernel.fingerprint(),
    entries: kernel.ran,
    virtualMs: kernel.now() - began,
  };
}

async function play(kernel: Kernel, plan: Plan): Promise<void> {
  let checks: Checks | null = null;
  let isChecked = true;
  let over = false;
  kernel.spawn('operator', async () => {
    const world = new World(kernel, plan);
    const running = new Checks(world);
    checks = running;
    for (const service of world.services) service.boot();
    const always = (): void => {
      if (!isChecked) return;
      running.always();
      kernel.schedule(CHECK_EVERY_MS, always);
    };
    always();
    await kernel.sleep(START_MS);
    new Storm(world).begin();
    const clients = Array.from(
      { length: plan.clients },
      (_, index) =>
        new Promise<void>((resolve, reject) => {
          const name = `client-${index + 1}`;
          kernel.spawn(name, () => runClient(world, name, new Random(kernel.seed, name)).then(resolve, reject));
        }),
    );
    const adversary = Promise.withResolvers<void>();
    kernel.spawn('adversary', () =>
      runAdversary(world, movesOf(plan), new Random(kernel.seed, 'adversary')).then(
        adversary.resolve,
        adversary.reject,
      ),
    );
    await Promise.all([...clients, adversary.promise, kernel.sleep(plan.stormMs)]);
    world.areClientsDone = true;
    kernel.note('', 'the clients are done');
    await probe(world);
    if (plan.kinds.has('unreadable transactions')) await probeBesideUnreadable(world);
    const end = kernel.now() + QUIET_MS;
    for (;;) {
      await kernel.sleep(LOOK_EVERY_MS);
      try {
        running.finally();
        break;
      } catch (error) {
        if (!(error instanceof InvariantError) || kernel.now() >= end) throw error;
      }
    }
    // Of what was acknowledged, some is lost now: the other checks are over.
    isChecked = false;
    if (plan.kinds.has('truncated log')) await truncateLog(world);
    over = true;
  });
  await kernel.run({ done: () => over });
  if (!over || checks === null)
    throw new InvariantError('nothing stands still', 'the run waits for something that never happens');
}
