import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePorts, stackFile, until } from '@pf/testing';

const root = path.join(import.meta.dirname, '../../../..');

/** A terminal in which the blocks are run one after the other. */
class Terminal {
  readonly #shell = spawn('bash', { cwd: root, env: { ...process.env, PF_DATA: path.dirname(stackFile()) } });
  readonly #ended = once(this.#shell, 'close');
  readonly #running: number[] = [];
  #output = '';
  #runs = 0;

  constructor() {
    for (const stream of [this.#shell.stdout, this.#shell.stderr])
      stream.on('data', (text: Buffer) => (this.#output += text.toString()));
    // Each program in the background is a group of its own, which can be ended.
    this.#shell.stdin.write('set -eum\n');
  }

  /** Runs commands to their end. @returns what they print */
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
      120_000,
    );
    return this.#output.slice(0, this.#output.indexOf(`\n${end}\n`));
  }

  /** Runs a program in the background, and another one in its place when it is started again. */
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
    process.kill(-pid);
  }
}

describe('the guide to webhooks', () => {
  let folder: string;
  /** Its code blocks that were not run yet. */
  let blocks: string[];
  let ports: readonly number[];
  const terminal = new Terminal();
  beforeAll(async () => {
    // Where @pf/client and svix are installed.
    folder = await mkdtemp(path.join(root, 'services/webhook/node_modules/.guide-'));
    ports = await freePorts(2);
    const page = await readFile(path.join(root, 'docs/guide/webhooks.md'), 'utf8');
    const unchangedBut = (code: string): string =>
      code
        .replaceAll('./.local/stack.json', stackFile())
        .replaceAll('3000', String(ports[0]))
        .replaceAll('3001', String(ports[1]));
    blocks = [...page.matchAll(/^```(?:sh|js)\n([^]*?)^```/gm)].map(([, code = '']) => unchangedBut(code));
  });
  afterAll(async () => {
    await terminal.close();
    await rm(folder, { recursive: true });
  });

  const log = (name: string): string => path.join(folder, `${name}.log`);
  const logged = (name: string): Promise<string> => readFile(log(name), 'utf8');
  /** The next block, which contains this text. */
  const next = (text: string): string => {
    const block = blocks.shift();
    if (!block?.includes(text)) throw new Error(`expected a block with "${text}", not: ${block ?? 'the end'}`);
    return block;
  };
  const run = (text: string): Promise<string> => terminal.run(next(text));
  /** Saves the next block under the name in its first line. */
  const save = async (text: string): Promise<void> => {
    const code = next(text);
    await writeFile(path.join(folder, /^\/\/ ([\w-]+\.mjs)\n/.exec(code)?.[1] ?? ''), code);
  };
  /** Starts a receiver and waits until it listens. */
  const start = async (text: string, name: string, port = 0): Promise<() => void> => {
    const stop = await terminal.start(next(text).trim(), folder, log(name));
    await until('the receiver to listen', async () => {
      const { status } = await fetch(`http://127.0.0.1:${ports[port]}`, { method: 'POST', body: '{}' });
      return status === 400;
    });
    return stop;
  };

  it('leads to receivers that get, verify and recover every event, when it is followed word by word', async () => {
    const stopListening = await terminal.start(next('pf -- listen').trim(), root, log('listen'));
    await until('pf listen', async () => (await logged('listen')).includes('whsec_'), 60_000);
    stopListening();

    expect(await run('/webhook-endpoints')).toMatch(/^whe_\w+$/m);
    await save('webhooks.verify');
    const stop = await start('node receiver.mjs', 'first');
    expect(await run('webhooks test')).toContain('The receiver accepted it with 204.');
    expect(await logged('first')).toContain('webhook_endpoint.test');
    await run('intents simulate');
    const id = /pi_\w+/.exec(await terminal.run('echo $ID'))?.[0] ?? '';
    for (const type of ['created', 'pending', 'confirmed', 'finalized'])
      await until(type, async () => (await logged('first')).includes(`intent.${type} ${id}\n`));
    const tried = await run('webhooks attempts');
    expect(tried.match(new RegExp(`delivered +204 .+:${ports[0]}/`, 'g'))).toHaveLength(4);
    expect(tried).toMatch(/^1 +.+ 204 +\d+ +–$/m);

    // The receiver knows the former secret only.
    expect(await run('rotate-secret')).toContain('The receiver accepted it with 204.');
    stop();
    await start('node receiver.mjs', 'second');
    expect(await run('webhooks resend')).toMatch(/is sent to .+ again, as attempt 2/);
    await until('it to come again', async () => (await logged('second')).includes(id));
    expect(await run('webhooks replay --since')).toMatch(/^whr_\w+ begins/m);
    expect(await run('webhooks replays')).toMatch(/^whr_\w+ +(counting|sending|completed) /m);

    await save('svix');
    await run('webhooks create');
    await start('node other-receiver.mjs', 'other', 1);
    expect(await run('webhooks replay --since')).toMatch(/^whr_\w+ begins/m);
    for (const type of ['created', 'finalized'])
      await until(type, async () => (await logged('other')).includes(`intent.${type} ${id}\n`), 60_000);
    const received = (await logged('other')).split('\n').filter((line) => line.includes(id));
    expect(received.sort()).toEqual([`intent.created ${id}`, `intent.finalized ${id}`]);
    const removed = await run('-X DELETE');
    expect(removed.match(/"removed":true/g)).toHaveLength(2);
    expect(blocks).toEqual([]);
  }, 400_000);
});
