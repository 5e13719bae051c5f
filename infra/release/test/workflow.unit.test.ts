import { accessSync, constants, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';

const ROOT = path.join(import.meta.dirname, '../../..');
const text = readFileSync(path.join(ROOT, '.github/workflows/ci.yml'), 'utf8');
/** What GitHub's runner has. */
const ON_THE_RUNNER = ['docker', 'gh'];

const rights = z.record(z.enum(['contents', 'id-token']), z.enum(['read', 'write'])).optional();
const variables = z.record(z.string(), z.string());
const step = z.union([
  z.strictObject({ uses: z.string(), with: z.record(z.string(), z.unknown()).optional() }),
  z.strictObject({ run: z.string(), env: variables.optional() }),
]);
/** GitHub's syntax, as far as it is used. */
const workflow = z.strictObject({
  name: z.string(),
  on: z.strictObject({
    push: z.strictObject({ branches: z.array(z.string()), tags: z.array(z.string()) }),
    pull_request: z.null(),
    schedule: z.array(z.strictObject({ cron: z.string().regex(/^(\S+ ){4}\S+$/) })),
  }),
  permissions: z.strictObject({ contents: z.literal('read') }),
  concurrency: z.strictObject({ group: z.string(), 'cancel-in-progress': z.string() }),
  jobs: z.record(
    z.string(),
    z.strictObject({
      if: z.string().optional(),
      needs: z.array(z.string()).default([]),
      'runs-on': z.string(),
      'timeout-minutes': z.number().int().max(120),
      environment: z.string().optional(),
      permissions: rights,
      steps: z.array(step).min(1),
    }),
  ),
});
const { jobs } = workflow.parse(parse(text));
const steps = Object.values(jobs).flatMap((job) => job.steps);
const { scripts } = z
  .object({ scripts: variables })
  .parse(JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')));

/** @returns what is wrong with the command, or null */
function problemOf(command: string): string | null {
  const [program = '', verb, script = ''] = command.split(/\s+/);
  if (program === 'npm') return verb === 'run' && script in scripts ? null : `package.json has no script "${script}"`;
  if (ON_THE_RUNNER.includes(program)) return null;
  try {
    accessSync(path.join(ROOT, program), constants.X_OK);
    return null;
  } catch {
    return `${program} cannot be run`;
  }
}

describe('the workflow of GitHub Actions', () => {
  it('runs commands that exist', () => {
    const commands = steps.flatMap((one) => ('run' in one ? [one.run] : []));
    expect(commands).toEqual(expect.arrayContaining(['.ci/run', 'npm run audit', 'npm run release']));
    expect(commands.map(problemOf).filter((problem) => problem !== null)).toEqual([]);
    expect(['npm run no-such-script', '.ci/no-such-file'].map(problemOf)).not.toContain(null);
  });

  it('pins each action by its commit, with the release beside it', () => {
    const used = text.match(/uses: .*/g) ?? [];
    expect(used).toHaveLength(steps.filter((one) => 'uses' in one).length);
    for (const line of used) expect(line).toMatch(/^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('leaves no login in a checkout, and lets only the release write', () => {
    for (const [name, job] of Object.entries(jobs)) {
      for (const one of job.steps)
        if ('uses' in one && one.uses.startsWith('actions/checkout'))
          expect(one.with).toMatchObject({ 'persist-credentials': false });
      expect([name, job.permissions, job.environment]).toEqual(
        name === 'release'
          ? [name, { contents: 'write', 'id-token': 'write' }, 'release']
          : [name, undefined, undefined],
      );
    }
  });

  it('releases a tag only after all other jobs have passed', () => {
    expect(jobs['release']?.if).toBe("startsWith(github.ref, 'refs/tags/v')");
    expect(jobs['release']?.needs.toSorted()).toEqual(
      Object.keys(jobs)
        .filter((name) => name !== 'release')
        .sort(),
    );
  });

  it('passes values into a shell only through variables', () => {
    for (const one of steps) if ('run' in one) expect(one.run).not.toContain('${{');
  });
});
