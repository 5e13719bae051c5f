import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { until } from '@pf/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Reaper, startReaper } from '../../src/processes/reaper.ts';
import type { ProcessSpec } from '../../src/processes/process-spec.ts';
import { Supervised } from '../../src/processes/supervised-process.ts';
import { isAlive } from './supervised-stack.ts';

/** A process that runs a shell script. */
const spec = (script: string, change: Partial<ProcessSpec> = {}): ProcessSpec => ({
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
  let reaper: Reaper;
  let output: string[];
  let running: Supervised[];
  beforeEach(async () => {
    logs = await mkdtemp(path.join(os.tmpdir(), 'pf-program-'));
    reaper = startReaper();
    [output, running] = [[], []];
  });
  afterEach(async () => {
    await Promise.all(running.map((program) => program.stop()));
    reaper.close();
    await rm(logs, { recursive: true });
  });
  function supervise(processSpec: ProcessSpec): Supervised {
    const program = new Supervised(processSpec, {
      logs,
      environment: process.env,
      reaper,
      say: (text) => void output.push(text),
      changed: () => undefined,
    });
    running.push(program);
    return program;
  }

  it('is restarted when it reports that it makes no progress', async () => {
    let stuck = true;
    const program = supervise(spec(RUNS, { stuck: async () => stuck }));
    await program.start({ checkEveryMs: 20 });
    const first = program.pid as number;
    await until('the first process to end', () => !isAlive(first));
    stuck = false;
    await until('a second process', () => program.pid !== null);
    expect(output[0]).toContain('makes no progress');
  });

  it('fails the start with the end of its log when it ends while starting, and is not restarted', async () => {
    const program = supervise(spec('echo "no such database" >&2; exit 3', { ready: async () => false }));
    await expect(program.start()).rejects.toThrow('no such database');
    expect(program.pid).toBeNull();
  });

  it('is killed, with its child processes, when it ignores SIGTERM', async () => {
    const program = supervise(spec(`trap '' TERM; sleep 300 & echo $!; wait; ${RUNS}`, { stopMs: 200 }));
    await program.start();
    // The log exists before its first line. An empty log is no process id: 0 would mean this test's process group.
    const child = await until(
      'its child',
      async () => Number(await readFile(path.join(logs, 'sample.log'), 'utf8')) || null,
    );
    await program.stop();
    await until('its child to be gone', () => !isAlive(child));
    expect(output.join()).toContain('did not stop within 0.2 s');
  });

  it('shows its warnings at the terminal and keeps everything in its log', async () => {
    const program = supervise(
      spec(`echo '{"level":"warn","msg":"careful"}'; echo '{"level":"info","msg":"fine"}'; ${RUNS}`),
    );
    await program.start();
    await until('the log', async () => (await readFile(path.join(logs, 'sample.log'), 'utf8')).includes('fine'));
    await until('the warning', () => output.length > 0);
    expect(output).toEqual(['sample: careful']);
  });
});
