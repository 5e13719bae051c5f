import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';

const LONGEST_MS = 110_000;
const MAIN = path.join(import.meta.dirname, '../../../local/src/demo/main.ts');
const run = promisify(execFile);

/** What the demo says of each chain; it exits with an error when a story does not end as told. */
async function stories(...args: string[]): Promise<string[]> {
  const { stdout } = await run(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--conditions=source', MAIN, ...args],
    { timeout: LONGEST_MS },
  );
  expect(stdout).not.toContain('INVALID');
  return stdout.split(/USDC .*on (?=Base|Solana|Tempo)/).slice(1);
}

describe('the demo on the running stack', () => {
  it(
    'shows on every chain how a lost transaction is built and signed again, and paid',
    async () => {
      const told = await stories('--drop');
      expect(told).toHaveLength(3);
      for (const story of told)
        expect(story).toMatch(
          /retryRequired: true[^]*confirmed on chain[^]*requestor 1\.250000[^]*intent\.retry_required[^]*intent\.finalized/,
        );
    },
    LONGEST_MS + 10_000,
  );

  it(
    'shows on every chain how a transaction fails, and moves nothing',
    async () => {
      const told = await stories('--fail');
      expect(told).toHaveLength(3);
      for (const story of told) expect(story).toMatch(/failed on chain[^]*requestor 0\.000000[^]*intent\.failed/);
    },
    LONGEST_MS + 10_000,
  );
});
