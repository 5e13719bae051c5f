import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { imageProgram } from '../../../packages/testing/src/stack/image.ts';
import { COMMAND_VARIABLES } from '../../k8s-checks/test/command-variables.ts';

/** Invalid values, which no error may repeat: they could be secrets. */
const INVALID = {
  DATABASE_URL: 'mysql://user:invalid-but-secret@host/db',
  KAFKA_PARTITIONS: 'invalid-but-secret',
  SECRETS_KEY: 'invalid-but-secret',
};

/** Runs a command of the image as a container does, until it exits. */
async function run(
  command: string,
  environment: Readonly<Record<string, string>>,
): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn(process.execPath, [imageProgram(), command], {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [[code], ...output] = await Promise.all([
    once(child, 'close') as Promise<[number | null]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, output: output.join('') };
}

describe.each(Object.entries(COMMAND_VARIABLES).filter(([command]) => command !== 'idle'))(
  'the command %s with an invalid configuration',
  (command, shape) => {
    it('exits at once with 78 and names each missing or invalid variable, without its value', async () => {
      const missing = Object.keys(shape).filter((name) => shape[name]?.safeParse(undefined).success === false);
      const invalid = Object.keys(INVALID).filter((name) => Object.hasOwn(shape, name));
      const { code, output } = await run(command, INVALID);
      expect({ command, code, output }).toMatchObject({ code: 78 });
      const reported = [...output.matchAll(/^ {2}(\w+): (.+)$/gm)].map(([, name, problem]) => [
        name,
        problem === 'is not set',
      ]);
      expect(Object.fromEntries(reported)).toEqual(
        Object.fromEntries([...new Set([...missing, ...invalid])].map((name) => [name, !invalid.includes(name)])),
      );
      expect(output).not.toContain('invalid-but-secret');
    }, 120_000);
  },
);

describe('an invalid LOG_LEVEL', () => {
  it('is refused with the name of the variable', async () => {
    expect(await run('topics', { LOG_LEVEL: 'loud' })).toEqual({
      code: 78,
      output: expect.stringContaining('LOG_LEVEL: '),
    });
  });
});
