import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { WorkerConfig, WorkerMessage } from './owner-worker.ts';
import { until } from '../stack.ts';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const FILE = fileURLToPath(new URL('./owner-worker.ts', import.meta.url));

/** The test's handle on a child process with a partition owner. */
export class Worker {
  readonly #process: ChildProcess;
  /** Resolves when the process has ended. */
  readonly gone: Promise<void>;
  owned: readonly number[] = [];
  readonly lost: number[] = [];
  /** Ids of the commands projected by this process, with the time. */
  readonly published = new Map<number, number>();
  caughtUp = 0;
  trapped = false;

  constructor(config: WorkerConfig) {
    this.#process = fork(FILE, [JSON.stringify(config)], {
      cwd: ROOT,
      execArgv: ['--no-warnings', '--conditions=source', '--import', 'tsx'],
    });
    this.gone = new Promise((resolve) => this.#process.once('exit', () => resolve()));
    this.#process.on('message', (message: WorkerMessage) => this.#hear(message));
  }

  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Resolves when the process has ended. */
  async stop(signal: NodeJS.Signals): Promise<void> {
    this.kill(signal);
    await this.gone;
  }

  untilOwning(count: number): Promise<void> {
    return until(() => this.owned.length === count, `a worker to own ${count} partitions`);
  }

  #hear(message: WorkerMessage): void {
    switch (message.kind) {
      case 'owned':
        this.owned = message.partitions;
        break;
      case 'published':
        this.caughtUp = message.caughtUp;
        for (const id of message.ids) this.published.set(id, performance.now());
        break;
      case 'trapped':
        this.trapped = true;
        break;
      case 'lost':
        this.lost.push(message.partition);
        break;
      case 'crashed':
        // The test's condition can no longer become true; the reason belongs in its output.
        process.stderr.write(`worker crashed: ${message.reason}\n`);
        break;
      default:
        message satisfies never;
    }
  }
}

/** Starts workers and kills those that survive the test. */
export class Workers {
  readonly #workers: Worker[] = [];

  start(config: WorkerConfig): Worker {
    const worker = new Worker(config);
    this.#workers.push(worker);
    return worker;
  }

  async killAll(): Promise<void> {
    await Promise.all(this.#workers.splice(0).map((worker) => worker.stop('SIGKILL')));
  }
}
