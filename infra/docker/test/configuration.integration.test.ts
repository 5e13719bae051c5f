import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { COMMAND_VARIABLES } from '../../k8s-checks/test/command-variables.ts';

const MAIN = path.join(import.meta.dirname, '../dist/main.js');
/** Each is wrong, and none may be repeated: they could be secrets. */
const WRONG = {
  DATABASE_URL: 'mysql://user:wrong-but-secret@host/db',
  KAFKA_PARTITIONS: 'wrong-but-secret',
  SECRETS_KEY: 'wrong-but-secret',
};

/** A command of the image, as a container starts it; resolves when it has ended. */
async function run(
  command: string,
  environment: Readonly<Record<string, string>>,
): Promise<{ readonly code: number | null; readonly said: string }> {
  const child = spawn(process.execPath, [MAIN, command], {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [[code], ...said] = await Promise.all([
    once(child, 'close') as Promise<[number | null]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, said: said.join('') };
}

describe.each(Object.entries(COMMAND_VARIABLES))('%s with a configuration that cannot be used', (command, shape) => {
  it('ends at once with 78, and names each variable that is missing or wrong, and no value', async () => {
    const needed = Object.keys(shape).filter((name) => shape[name]?.safeParse(undefined).success === false);
    const wrong = Object.keys(WRONG).filter((name) => Object.hasOwn(shape, name));
    const { code, said } = await run(command, WRONG);
    expect({ command, code, said }).toMatchObject({ code: 78 });
    const named = [...said.matchAll(/^ {2}(\w+): (.+)$/gm)].map(([, name, problem]) => [
      name,
      problem === 'is not set',
    ]);
    expect(Object.fromEntries(named)).toEqual(
      Object.fromEntries([...new Set([...needed, ...wrong])].map((name) => [name, !wrong.includes(name)])),
    );
    expect(said).not.toContain('wrong-but-secret');
  }, 120_000);
});

describe('what every command reads first', () => {
  it('is refused by name too: how much is logged', async () => {
    expect(await run('topics', { LOG_LEVEL: 'loud' })).toEqual({
      code: 78,
      said: expect.stringContaining('LOG_LEVEL: '),
    });
  }, 120_000);
});
