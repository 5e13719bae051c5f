import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';

const LONGEST_MS = 110_000;
const MAIN = createRequire(import.meta.url).resolve('@pf/local/demo');
const run = promisify(execFile);

/** The output of the demo, by chain. The demo exits with an error when a scenario does not end as expected. */
async function runDemo(...args: string[]): Promise<string[]> {
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
    'shows on every chain how a dropped transaction is built again, signed again and paid',
    async () => {
      const sections = await runDemo('--drop');
      expect(sections).toHaveLength(3);
      for (const section of sections)
        expect(section).toMatch(
          new RegExp(
            String.raw`retryRequired: true[^]*confirmed on chain` +
              String.raw`[^]*requestor 1\.250000[^]*intent\.retry_required[^]*intent\.finalized`,
          ),
        );
    },
    LONGEST_MS + 10_000,
  );

  it(
    'pays an intent whose id was heard',
    async () => {
      const [section] = await runDemo('--sound', 'base');
      expect(section).toMatch(/(pi_\w+) created[^]*the phone hears +\1\n[^]*requestor 1\.250000[^]*intent\.detected/);
    },
    LONGEST_MS + 10_000,
  );

  it(
    'shows on every chain a transaction that fails and moves nothing',
    async () => {
      const sections = await runDemo('--fail');
      expect(sections).toHaveLength(3);
      for (const section of sections)
        expect(section).toMatch(/failed on chain[^]*requestor 0\.000000[^]*intent\.failed/);
    },
    LONGEST_MS + 10_000,
  );
});
