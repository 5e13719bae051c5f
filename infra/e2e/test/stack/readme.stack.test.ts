import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { readStack, stackFile } from '@pf/testing';

const run = promisify(execFile);
const root = path.join(import.meta.dirname, '../../../..');

/** All shell commands under a heading of the README, in order. */
async function commandsUnder(heading: string): Promise<string> {
  const readme = await readFile(path.join(root, 'README.md'), 'utf8');
  const section = readme.split(/^## /m).find((text) => text.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`README.md has no section "${heading}"`);
  return [...section.matchAll(/^```sh\n([^]*?)^```/gm)].map(([, commands = '']) => commands).join('');
}

describe("the README's first payment", () => {
  it('creates, pays and confirms an intent when its commands are run unchanged', async () => {
    const data = path.dirname(stackFile());
    const commands = await commandsUnder('Your first payment');
    expect(commands).toContain('./.local/stack.json');

    const { stdout } = await run('bash', ['-euc', commands.replaceAll('./.local/stack.json', stackFile())], {
      cwd: root,
      env: { ...process.env, PF_DATA: data },
      timeout: 150_000,
    });

    expect(stdout).toMatch(/^built .+\n^signed .+\n^submitted .+\n(?:created\n|pending\n)*confirmed$/m);
    const shown = /^\{"intent":.*\}$/m.exec(stdout)?.[0] ?? '{}';
    expect(JSON.parse(shown)).toMatchObject({
      intent: { state: expect.stringMatching(/^(confirmed|finalized)$/) as unknown, chain: chainOfBase() },
    });
  }, 180_000);
});

const chainOfBase = (): string | undefined => readStack().chains['base']?.caip2;
