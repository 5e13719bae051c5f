import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { WriteStream } from 'node:fs';
import { mkdir, open, readFile, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Guard } from './reaper.ts';
import { launch } from './reaper.ts';
import type { Part } from './process-spec.ts';
import { reason } from './terminal.ts';
import { eventually } from './wait.ts';
import { warningOf } from './warnings.ts';

const RESTART_AFTER_MS = 1000;
const CHECK_EVERY_MS = 10_000;
const LOG_KEPT_BYTES = 16 * 1024 * 1024;

export interface ProcessDependencies {
  readonly logs: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly guard: Guard;
  /** Tells a person. */
  readonly say: (text: string) => void;
  /** A program started or ended: what is written about process ids is stale. */
  readonly changed: () => void;
}

/** A program that is kept running: started, watched, started again a second after it died, stopped in order. */
export class Supervised {
  readonly part: Part;
  readonly #around: ProcessDependencies;
  #child: ChildProcess | null = null;
  #stopping = false;
  #startedOnce = false;
  #renewing = false;
  #ending = false;
  #restart: Promise<void> = Promise.resolve();
  /** Resolves when all that it wrote is in its log. */
  #copied: Promise<unknown> = Promise.resolve();
  #checks: NodeJS.Timeout | undefined;

  constructor(part: Part, around: ProcessDependencies) {
    this.part = part;
    this.#around = around;
  }

  /** The running process, null while it is down. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /**
   * Starts it and waits until it answers.
   * @throws Error with the end of its log when it dies first or does not answer within `withinMs`
   */
  async start({ withinMs = 60_000, checkEveryMs = CHECK_EVERY_MS } = {}): Promise<void> {
    await this.#launch();
    const child = this.#child;
    const dead = (): boolean => this.#stopping || this.#child !== child;
    const answers = await eventually(() => this.part.ready(), withinMs, dead);
    if (this.#stopping) throw new Error('Stopped during the start.');
    if (!answers || dead())
      throw new Error(`${this.part.name} did not start. The end of its log, ${this.#log}:\n${await this.#tail()}`);
    this.#startedOnce = true;
    this.#checks = setInterval(() => void this.#check(), checkEveryMs).unref();
  }

  /** Asks it to end, kills it when it takes longer than the part says. Resolves when the process is gone. */
  async stop(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#checks);
    await this.#restart;
    await this.#end();
  }

  /** Ends it in order and starts it at once again, for one that tidies up when it starts. Not reported. */
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
    child.kill(this.part.stopSignal);
    // A program that was paused (SIGSTOP) takes no other signal until it runs again.
    child.kill('SIGCONT');
    const patience = new AbortController();
    const late = sleep(this.part.stopMs, 'late', { signal: patience.signal }).catch(() => 'gone');
    if ((await Promise.race([gone, late])) === 'late') {
      this.#around.say(`${this.part.name} did not stop within ${this.part.stopMs / 1000} s; killing it`);
      process.kill(-child.pid, 'SIGKILL');
      await gone;
    }
    patience.abort();
  }

  async #check(): Promise<void> {
    // Not to be asked: it is busy ending, or does not answer just now.
    if (!(await this.part.stuck().catch(() => false)) || this.#stopping || this.#ending) return;
    this.#around.say(`${this.part.name} reports that it makes no progress; stopping it`);
    await this.#end();
  }

  get #log(): string {
    return path.join(this.#around.logs, `${this.part.name}.log`);
  }

  async #launch(): Promise<void> {
    await this.part.prepare();
    await mkdir(this.#around.logs, { recursive: true });
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
    const child = launch(this.part.command(), this.#around.environment, this.part.jsonLogs ? 'pipe' : file.fd);
    const { pid } = child;
    if (pid === undefined) {
      const [error] = (await once(child, 'error')) as [Error];
      await file.close();
      throw error;
    }
    // Nothing may come between its start and its being watched: a supervisor killed there would leave it running.
    this.#around.guard.watch(pid, this.part.orphanSignal);
    this.#child = child;
    child.once('exit', (code, signal) => this.#ended(pid, signal ?? `exit code ${code}`));
    this.#around.changed();
    if (this.part.jsonLogs) this.#copy(child, file.createWriteStream());
    else await file.close();
  }

  #copy(child: ChildProcess, log: WriteStream): void {
    for (const stream of [child.stdout, child.stderr]) {
      if (!stream) continue;
      createInterface({ input: stream }).on('line', (line) => {
        log.write(`${line}\n`);
        const warning = warningOf(line);
        if (warning) this.#around.say(`${this.part.name}: ${warning}`);
      });
    }
    child.once('close', () => log.end());
    this.#copied = once(log, 'finish');
  }

  #ended(pid: number, how: string): void {
    this.#child = null;
    this.#ending = false;
    this.#around.guard.forget(pid);
    this.#around.changed();
    if (this.#stopping || this.#renewing || !this.#startedOnce) return;
    this.#around.say(`${this.part.name} ended (${how}); restarting it in one second. Its log: ${this.#log}`);
    this.#restart = this.#startAgain();
  }

  async #startAgain(): Promise<void> {
    while (!this.#stopping && this.#child === null) {
      await sleep(RESTART_AFTER_MS);
      if (this.#stopping) return;
      try {
        await this.#launch();
        this.#around.say(`${this.part.name} was restarted (process ${this.pid})`);
      } catch (error) {
        this.#around.say(`${this.part.name} could not be restarted: ${reason(error)}`);
      }
    }
  }

  async #tail(): Promise<string> {
    // What it started itself may hold the pipe open for long.
    const copied = new AbortController();
    await Promise.race([this.#copied, sleep(1000, undefined, { signal: copied.signal }).catch(() => undefined)]);
    copied.abort();
    const text = await readFile(this.#log, 'utf8').catch(() => '');
    return text.trimEnd().split('\n').slice(-15).join('\n');
  }
}
