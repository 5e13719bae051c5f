import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { until } from '@pf/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { callRpc } from '@pf/rpc/client';
import { listens } from '../../src/processes/sockets.ts';
import { isAlive, type SupervisedStack, supervisedStack } from './supervised-stack.ts';

const run = promisify(execFile);
const MAIN = path.join(import.meta.dirname, '../../src/main.ts');

describe('the supervisor of the local stack', () => {
  let stack: SupervisedStack;
  beforeEach(async () => {
    stack = await supervisedStack();
  });
  afterEach(() => stack.close());

  const height = async (chain: 'base' | 'tempo' = 'base'): Promise<number> =>
    Number(await callRpc(stack.file().chains[chain].rpcUrl, 'eth_blockNumber'));

  it('restarts a process that died, reports it and keeps stack.json current; SIGTERM leaves no process', async () => {
    const supervisor = stack.start();
    await supervisor.up();
    const { pids, mode } = stack.file();
    expect(Object.keys(pids).sort()).toEqual(['base', 'redis', 'tempo']);
    expect(mode).toBe(0o600);

    process.kill(pids['redis'] as number, 'SIGKILL');
    const again = await until('another Redis', () => {
      const pid = stack.file().pids['redis'];
      return pid !== undefined && pid !== pids['redis'] && pid;
    });
    await until('the new Redis to listen', () => listens(stack.redisPort));
    await until('the report', () => /redis ended \(SIGKILL\); restarting it/.test(supervisor.output()));

    expect(await supervisor.end('SIGTERM')).toBe(0);
    expect([again, pids['base'] as number].filter(isAlive)).toEqual([]);
    expect(stack.file().pids).toEqual({});
  });

  it('takes every process with it when killed with SIGKILL; the next start continues the same chains', async () => {
    const first = stack.start();
    await first.up();
    await until('some blocks', async () => (await height()) > 20 && (await height('tempo')) > 14);
    const { pids } = stack.file();
    await first.end('SIGKILL');

    const second = stack.start();
    await second.up();
    expect(Object.values(pids).filter(isAlive)).toEqual([]);
    expect(await height()).toBeGreaterThan(20);
    expect(await height('tempo')).toBeGreaterThan(14);
  });

  it('refuses to start on or to empty a data folder in use, and names the process that uses it', async () => {
    const first = stack.start();
    await first.up();
    const second = stack.start({ REDIS_PORT: '1', BASE_PORT: '2', TEMPO_PORT: '3' });
    expect(await second.exited).toBe(1);
    await until('the reason', () => second.output().includes(`(process ${first.pid})`));

    const reset = run(
      process.execPath,
      ['--conditions=source', '--disable-warning=ExperimentalWarning', MAIN, 'reset'],
      { env: { ...process.env, PF_DATA: stack.data } },
    );
    await expect(reset).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining(`(process ${first.pid})`) });
    expect(await first.end('SIGINT')).toBe(0);
    await run(process.execPath, ['--conditions=source', MAIN, 'reset'], {
      env: { ...process.env, PF_DATA: stack.data },
    });
    expect(() => stack.file()).toThrow('ENOENT');
  });

  it('names a port in use and the variable that moves it, and starts nothing', async () => {
    const first = stack.start();
    await first.up();
    const elsewhere = await supervisedStack();
    try {
      const second = elsewhere.start({ REDIS_PORT: String(stack.redisPort) });
      expect(await second.exited).toBe(1);
      await until('the reason', () => second.output().includes(`port ${stack.redisPort} (redis): set REDIS_PORT`));
    } finally {
      await elsewhere.close();
    }
  });

  it('stops what it had started when it is ended during the start', async () => {
    const supervisor = stack.start();
    const pids = await until('a first process', () => {
      const children = stack.children();
      return children.length > 0 && children;
    });
    await supervisor.end('SIGTERM');
    expect(pids.filter(isAlive)).toEqual([]);
  });
});
