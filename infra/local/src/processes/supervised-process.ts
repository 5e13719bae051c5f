import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { WriteStream } from 'node:fs';
import { mkdir, open, readFile, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Reaper } from './reaper.ts';
import { launch } from './reaper.ts';
import type { ProcessSpec } from './process-spec.ts';
import { reason } from './terminal.ts';
import { terminalLineOf } from './terminal-line.ts';
import { eventually } from './wait.ts';

const RESTART_AFTER_MS = 1000;
const CHECK_EVERY_MS = 10_000;
const LOG_KEPT_BYTES = 16 * 1024 * 1024;

export interface ProcessDependencies {
  readonly logs: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly reaper: Reaper;
  /** Prints a line at the terminal. */
  readonly say: (text: string) => void;
  /** Called when a program started or ended: the recorded process ids are stale. */
  readonly changed: () => void;
}

/** A program that is kept running: started, checked, restarted a second after it died, shut down gracefully. */
export class Supervised {
  readonly spec: ProcessSpec;
  readonly #dependencies: ProcessDependencies;
  #child: ChildProcess | null = null;
  #stopping = false;
  #startedOnce = false;
  #renewing = false;
  #ending = false;
  #restart: Promise<void> = Promise.resolve();
  /** Resolves when all its output is in its log. */
  #copied: Promise<unknown> = Promise.resolve();
  #checks: NodeJS.Timeout | undefined;

  constructor(spec: ProcessSpec, dependencies: ProcessDependencies) {
    this.spec = spec;
    this.#dependencies = dependencies;
  }

  /** The running process, null while it is down. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /**
   * Starts it and waits until it is ready.
   * @throws Error with the end of its log when it dies first or is not ready within `withinMs`
   */
  async start({ withinMs = 60_000, checkEveryMs = CHECK_EVERY_MS } = {}): Promise<void> {
    await this.#launch();
    const child = this.#child;
    const dead = (): boolean => this.#stopping || this.#child !== child;
    const ready = await eventually(() => this.spec.ready(), withinMs, dead);
    if (this.#stopping) throw new Error('Stopped during the start.');
    if (!ready || dead())
      throw new Error(`${this.spec.name} did not start. The end of its log, ${this.#log}:\n${await this.#tail()}`);
    this.#startedOnce = true;
    this.#checks = setInterval(() => void this.#check(), checkEveryMs).unref();
  }

  /** Shuts it down; kills it when that takes longer than `stopMs`. Resolves when the process is gone. */
  async stop(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#checks);
    await this.#restart;
    await this.#end();
  }

  /** Restarts it gracefully, without a message: for a program that tidies up when it starts. */
  async renew(): Promise<void> {
    this.#renewing = true;
    try {
      await this.#end();
      if (!this.#stopping) await this.#launch();
    } finally {
      this.#renewing = false;
    }
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (!child?.pid) return;
    this.#ending = true;
    const gone = once(child, 'exit');
    child.kill(this.spec.stopSignal);
    // A paused program (SIGSTOP) handles no other signal until it continues.
    child.kill('SIGCONT');
    const waiting = new AbortController();
    const late = sleep(this.spec.stopMs, 'late', { signal: waiting.signal }).catch(() => 'gone');
    if ((await Promise.race([gone, late])) === 'late') {
      this.#dependencies.say(`${this.spec.name} did not stop within ${this.spec.stopMs / 1000} s; killing it`);
      process.kill(-child.pid, 'SIGKILL');
      await gone;
    }
    waiting.abort();
  }

  async #check(): Promise<void> {
    // No response is no verdict; a program that is ending needs none.
    if (!(await this.spec.stuck().catch(() => false)) || this.#stopping || this.#ending) return;
    this.#dependencies.say(`${this.spec.name} reports that it makes no progress; stopping it`);
    await this.#end();
  }

  get #log(): string {
    return path.join(this.#dependencies.logs, `${this.spec.name}.log`);
  }

  async #launch(): Promise<void> {
    await this.spec.prepare();
    await mkdir(this.#dependencies.logs, { recursive: true });
    const size = await stat(this.#log).then(
      (file) => file.size,
      () => 0,
    );
    if (size > LOG_KEPT_BYTES) await rename(this.#log, `${this.#log}.old`);
    const file = await open(this.#log, 'a', 0o600);
    if (this.#stopping) {
      await file.close();
      return;
    }
    const child = launch(this.spec.command(), this.#dependencies.environment, this.spec.jsonLogs ? 'pipe' : file.fd);
    const { pid } = child;
    if (pid === undefined) {
      const [error] = (await once(child, 'error')) as [Error];
      await file.close();
      throw error;
    }
    // Nothing may come between these lines and the start: if the supervisor were killed there, the program would stay.
    this.#dependencies.reaper.watch(pid, this.spec.orphanSignal);
    this.#child = child;
    child.once('exit', (code, signal) => this.#ended(pid, signal ?? `exit code ${code}`));
    this.#dependencies.changed();
    if (this.spec.jsonLogs) this.#copy(child, file.createWriteStream());
    else await file.close();
  }

  #copy(child: ChildProcess, log: WriteStream): void {
    for (const stream of [child.stdout, child.stderr]) {
      if (!stream) continue;
      createInterface({ input: stream }).on('line', (line) => {
        log.write(`${line}\n`);
        const shown = terminalLineOf(line);
        if (shown) this.#dependencies.say(`${this.spec.name}: ${shown}`);
      });
    }
    child.once('close', () => log.end());
    this.#copied = once(log, 'finish');
  }

  #ended(pid: number, how: string): void {
    this.#child = null;
    this.#ending = false;
    this.#dependencies.reaper.forget(pid);
    this.#dependencies.changed();
    if (this.#stopping || this.#renewing || !this.#startedOnce) return;
    this.#dependencies.say(`${this.spec.name} ended (${how}); restarting it in one second. Its log: ${this.#log}`);
    this.#restart = this.#startAgain();
  }

  async #startAgain(): Promise<void> {
    while (!this.#stopping && this.#child === null) {
      await sleep(RESTART_AFTER_MS);
      if (this.#stopping) return;
      try {
        await this.#launch();
        this.#dependencies.say(`${this.spec.name} was restarted (process ${this.pid})`);
      } catch (error) {
        this.#dependencies.say(`${this.spec.name} could not be restarted: ${reason(error)}`);
      }
    }
  }

  async #tail(): Promise<string> {
    // Its child processes may hold the pipe open for long.
    const copied = new AbortController();
    await Promise.race([this.#copied, sleep(1000, undefined, { signal: copied.signal }).catch(() => undefined)]);
    copied.abort();
    const text = await readFile(this.#log, 'utf8').catch(() => '');
    return text.trimEnd().split('\n').slice(-15).join('\n');
  }
}
