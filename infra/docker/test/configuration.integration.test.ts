import { describe, expect, it } from '@jest/globals';
import { COMMAND_VARIABLES } from '../../k8s-checks/test/command-variables.ts';
import { runCommand } from './image-command.ts';

/** Invalid values, which no error may repeat: they could be secrets. */
const INVALID = {
  DATABASE_URL: 'mysql://user:invalid-but-secret@host/db',
  KAFKA_PARTITIONS: 'invalid-but-secret',
  SECRETS_KEY: 'invalid-but-secret',
};

describe.each(Object.entries(COMMAND_VARIABLES).filter(([command]) => command !== 'idle'))(
  'the command %s with an invalid configuration',
  (command, shape) => {
    it('exits at once with 78 and names each missing or invalid variable, without its value', async () => {
      const missing = Object.keys(shape).filter((name) => shape[name]?.safeParse(undefined).success === false);
      const invalid = Object.keys(INVALID).filter((name) => Object.hasOwn(shape, name));
      const { code, output } = await runCommand(command, INVALID);
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
    expect(await runCommand('topics', { LOG_LEVEL: 'loud' })).toEqual({
      code: 78,
      output: expect.stringContaining('LOG_LEVEL: '),
    });
  });
});
