import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ConfigurationError } from '@pf/runtime';
import { COMMANDS, isCommand } from '../src/commands.ts';
import { runJob } from '../src/job.ts';

describe('a job of the image', () => {
  const { LOG_LEVEL } = process.env;
  beforeEach(() => {
    process.env['LOG_LEVEL'] = 'silent';
  });
  afterEach(() => {
    process.exitCode = undefined;
    if (LOG_LEVEL === undefined) delete process.env['LOG_LEVEL'];
    else process.env['LOG_LEVEL'] = LOG_LEVEL;
  });

  it('ends with 0 when it has done its work', async () => {
    await runJob('job', async () => undefined);
    expect(process.exitCode).toBeUndefined();
  });

  it('ends with 1 when it failed, so that it is tried again', async () => {
    await runJob('job', () => Promise.reject(new Error('no broker can be reached')));
    expect(process.exitCode).toBe(1);
  });

  it('ends with 78 for a configuration that no second try would make better', async () => {
    await runJob('job', () => Promise.reject(new ConfigurationError('DATABASE_URL: is not set')));
    expect(process.exitCode).toBe(78);
  });
});

describe('the commands of the image', () => {
  it('are what the manifests name, and not what every object has', () => {
    expect(Object.keys(COMMANDS)).toEqual(
      expect.arrayContaining(['gateway', 'intent', 'watcher', 'webhook', 'migrate', 'topics', 'health', 'pf']),
    );
    expect(isCommand('toString')).toBe(false);
  });
});
