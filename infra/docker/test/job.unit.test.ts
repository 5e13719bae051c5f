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

  it('exits with 0 on success', async () => {
    await runJob('job', async () => undefined);
    expect(process.exitCode).toBeUndefined();
  });

  it('exits with 1 on a failure, so that it is retried', async () => {
    await runJob('job', () => Promise.reject(new Error('no broker can be reached')));
    expect(process.exitCode).toBe(1);
  });

  it('exits with 78 for an invalid configuration, which no retry helps', async () => {
    await runJob('job', () => Promise.reject(new ConfigurationError('DATABASE_URL: is not set')));
    expect(process.exitCode).toBe(78);
  });
});

describe('the commands of the image', () => {
  it('include those of the manifests, and no inherited property', () => {
    expect(Object.keys(COMMANDS)).toEqual(
      expect.arrayContaining([
        'gateway',
        'intent',
        'watcher',
        'webhook',
        'dashboard',
        'migrate',
        'topics',
        'health',
        'pf',
      ]),
    );
    expect(isCommand('toString')).toBe(false);
  });
});
