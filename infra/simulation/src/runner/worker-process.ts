import { type ChildProcess, fork } from 'node:child_process';
import path from 'node:path';
import type { FromWorker, Outcome, ToWorker } from '../messages.ts';

const MODULE = path.join(import.meta.dirname, '../worker.ts');
/** A seed that takes longer does not end. In real time, so with room for a machine that is busy with other work. */
const LONGEST_MS = 600_000;
/** What services register for good, such as gauges, is left behind by each seed. */
const SEEDS_A_PROCESS = 400;

/** A child process that runs one seed after another. */
export class WorkerProcess {
  readonly #bug: string | null;
  #child: ChildProcess | null = null;
  #ran = 0;

  /** @param bug the planted bug that it has */
  constructor(bug: string | null = null) {
    this.#bug = bug;
  }

  async run(seed: number, without: readonly string[] = [], keptLines = 0): Promise<Outcome> {
    if (this.#ran++ % SEEDS_A_PROCESS === 0) await this.#restart();
    const child = this.#child;
    if (child === null) throw new Error('The worker is closed.');
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer);
        child.off('message', onMessage).off('exit', onExit);
      };
      const onMessage = (message: FromWorker): void => {
        if (message?.seed !== seed) return;
        settle();
        resolve(message);
      };
      const onExit = (code: number | null): void => {
        settle();
        reject(new Error(`The process that ran seed ${seed} has ended (${code}).`));
      };
      const timer = setTimeout(() => {
        settle();
        this.close();
        this.#ran = 0;
        resolve(endless(seed));
      }, LONGEST_MS);
      child.on('message', onMessage).on('exit', onExit);
      child.send({ seed, without, keptLines } satisfies ToWorker);
    });
  }

  close(): void {
    this.#child?.kill('SIGKILL');
    this.#child = null;
  }

  async #restart(): Promise<void> {
    this.close();
    const child = fork(MODULE, this.#bug === null ? [] : [this.#bug], {
      execArgv: ['--conditions=source', '--disable-warning=ExperimentalWarning'],
    });
    this.#child = child;
    await new Promise<void>((resolve, reject) => {
      child.once('message', () => resolve());
      child.once('exit', (code) => reject(new Error(`A simulating process did not start (${code}).`)));
    });
  }
}

const endless = (seed: number): Outcome => ({
  seed,
  kinds: [],
  failure: { invariant: 'nothing stands still', what: `the run did not end within ${LONGEST_MS / 1_000} s` },
  lines: [],
  fingerprint: '',
  entries: 0,
  virtualMs: 0,
  realMs: LONGEST_MS,
});
