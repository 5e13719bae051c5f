import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const MAIN = path.join(import.meta.dirname, '../src/main.ts');

describe('a benchmark without a running stack', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'pf-bench-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** @returns the exit code and all that is printed */
  const run = async (file: string, ...options: readonly string[]): Promise<readonly unknown[]> => {
    const ended = promisify(execFile)(process.execPath, ['--conditions=source', MAIN, 'webhooks', ...options], {
      env: { PATH: process.env['PATH'], STACK_FILE: file, NODE_NO_WARNINGS: '1' },
    });
    return ended.then(
      ({ stdout }) => [0, stdout],
      ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => [code, stdout + stderr],
    );
  };

  it('says that there is none', async () => {
    const file = path.join(folder, 'none.json');
    const message = `No stack is running: ${file} cannot be read. Start one with \`npm start\`.\n`;
    expect(await run(file)).toEqual([1, message]);
  });

  it('explains its options all the same', async () => {
    const help = expect.stringMatching(/^npm run bench:webhooks -- \[OPTION …\]\n/);
    expect(await run(path.join(folder, 'none.json'), '--help')).toEqual([0, help]);
  });

  it('says that it was stopped', async () => {
    const file = path.join(folder, 'stack.json');
    // Nothing listens on port 1.
    const database = 'postgresql://postgres@127.0.0.1:1/payments';
    await writeFile(file, JSON.stringify({ database, redis: '', kafka: '', chains: {} }));
    const message = 'does not run (connect ECONNREFUSED 127.0.0.1:1). Start it with `npm start`.\n';
    expect(await run(file)).toEqual([1, `The stack of ${file} ${message}`]);
  });
});
