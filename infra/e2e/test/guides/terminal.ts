import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { stackFile, until } from '@pf/testing';

const COMMAND_MS = 120_000;

/** A terminal of a reader: commands run one after the other, in one shell. */
export class Terminal {
  readonly #shell;
  readonly #ended;
  readonly #running: number[] = [];
  #output = '';
  #runs = 0;

  /** @param folder where it is opened */
  constructor(folder: string) {
    this.#shell = spawn('bash', { cwd: folder, env: { ...process.env, PF_DATA: path.dirname(stackFile()) } });
    this.#ended = once(this.#shell, 'close');
    for (const stream of [this.#shell.stdout, this.#shell.stderr])
      stream.on('data', (text: Buffer) => (this.#output += text.toString()));
    // Each program in the background is a group of its own, which can be ended.
    this.#shell.stdin.write('set -eum\n');
  }

  /**
   * Runs commands to their end.
   * @returns what they print
   * @throws Error with what they printed, if one of them fails
   */
  async run(commands: string): Promise<string> {
    this.#output = '';
    const end = `end-${++this.#runs}`;
    // A program that had the shell's own input would change how the shell reads it.
    this.#shell.stdin.write(`{\n${commands}\n} < /dev/null\necho; echo ${end}\n`);
    await until(
      `the end of: ${commands}`,
      () => {
        if (this.#shell.exitCode !== null) throw new Error(`a command failed: ${this.#output}`);
        return this.#output.includes(`\n${end}\n`);
      },
      COMMAND_MS,
    );
    return this.#output.slice(0, this.#output.indexOf(`\n${end}\n`));
  }

  /**
   * Runs a program in the background.
   * @param folder where it runs
   * @param log the file for what it prints
   * @returns ends it
   */
  async start(command: string, folder: string, log: string): Promise<() => void> {
    const printed = await this.run(`(cd '${folder}' && ${command}) > '${log}' 2>&1 &\necho "pid=$!"`);
    const pid = Number(/pid=(\d+)/.exec(printed)?.[1]);
    this.#running.push(pid);
    return () => this.#end(pid);
  }

  async close(): Promise<void> {
    for (const pid of [...this.#running]) this.#end(pid);
    this.#shell.stdin.end();
    await this.#ended;
  }

  #end(pid: number): void {
    const index = this.#running.indexOf(pid);
    if (index === -1) return;
    this.#running.splice(index, 1);
    try {
      process.kill(-pid);
    } catch (error) {
      // It has ended by itself.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}
