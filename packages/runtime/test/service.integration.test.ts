import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from '@jest/globals';
import { until } from '../../testing/src/until.ts';

const SERVICE = `
  import { runService } from '@pf/runtime';
  runService('intent', async ({ onShutdown }) => {
    const running = setInterval(() => undefined, 60_000);
    onShutdown('interval', () => clearInterval(running));
  });
`;

describe('a service', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'pf-service-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('has stored what Node compiled by the time it is killed, so that the next one starts with less work', async () => {
    const child = spawn(process.execPath, ['--conditions=source', '--input-type=module', '--eval', SERVICE], {
      cwd: path.join(import.meta.dirname, '..'),
      env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: folder },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const gone = once(child, 'exit');
    try {
      // One file for each module, in a folder for this version of Node.
      await until(
        'its compiled modules in the cache',
        async () => (await readdir(folder, { recursive: true })).length > 100,
      );
    } finally {
      child.kill('SIGKILL');
      await gone;
    }
  });
});
