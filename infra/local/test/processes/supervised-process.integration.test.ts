import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { until } from '@pf/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Guard, startGuard } from '../../src/processes/reaper.ts';
import type { Part } from '../../src/processes/process-spec.ts';
import { Supervised } from '../../src/processes/supervised-process.ts';
import { isAlive } from './supervised-stack.ts';

/** A program that runs until it is told to end; `script` changes what it does. */
const part = (script: string, change: Partial<Part> = {}): Part => ({
  name: 'sample',
  label: 'a sample',
  ports: [],
  stopSignal: 'SIGTERM',
  orphanSignal: 'SIGTERM',
  stopMs: 5000,
  jsonLogs: true,
  prepare: async () => undefined,
  command: () => ({ file: 'sh', args: ['-c', script] }),
  ready: async () => true,
  stuck: async () => false,
  ...change,
});
const RUNS = 'while :; do sleep 0.05; done';

describe('a supervised process', () => {
  let logs: string;
  let guard: Guard;
  let said: string[];
  let running: Supervised[];
  beforeEach(async () => {
    logs = await mkdtemp(path.join(os.tmpdir(), 'pf-program-'));
    guard = startGuard();
    [said, running] = [[], []];
  });
  afterEach(async () => {
    await Promise.all(running.map((program) => program.stop()));
    guard.close();
    await rm(logs, { recursive: true });
  });
  function supervise(of: Part): Supervised {
    const program = new Supervised(of, {
      logs,
      environment: process.env,
      guard,
      say: (text) => void said.push(text),
      changed: () => undefined,
    });
    running.push(program);
    return program;
  }

  it('is restarted when it reports that it makes no progress', async () => {
    let stuck = true;
    const program = supervise(part(RUNS, { stuck: async () => stuck }));
    await program.start({ checkEveryMs: 20 });
    const first = program.pid as number;
    await until('the first process to end', () => !isAlive(first));
    stuck = false;
    await until('a second process', () => program.pid !== null);
    expect(said[0]).toContain('makes no progress');
  });

  it('fails the start with the end of its log when it ends while starting, and is not restarted', async () => {
    const program = supervise(part('echo "no such database" >&2; exit 3', { ready: async () => false }));
    await expect(program.start()).rejects.toThrow('no such database');
    expect(program.pid).toBeNull();
  });

  it('is killed, with its child processes, when it ignores SIGTERM', async () => {
    const program = supervise(part(`trap '' TERM; sleep 300 & echo $!; wait; ${RUNS}`, { stopMs: 200 }));
    await program.start();
    // The log is there before its first line: an empty one is no process id (0 would name the whole group of this
    // test).
    const child = await until(
      'its child',
      async () => Number(await readFile(path.join(logs, 'sample.log'), 'utf8')) || null,
    );
    await program.stop();
    await until('its child to be gone', () => !isAlive(child));
    expect(said.join()).toContain('did not stop within 0.2 s');
  });

  it('shows its warnings at the terminal and keeps everything in its log', async () => {
    const program = supervise(
      part(`echo '{"level":"warn","msg":"careful"}'; echo '{"level":"info","msg":"fine"}'; ${RUNS}`),
    );
    await program.start();
    await until('the log', async () => (await readFile(path.join(logs, 'sample.log'), 'utf8')).includes('fine'));
    expect(said).toEqual(['sample: careful']);
  });
});
