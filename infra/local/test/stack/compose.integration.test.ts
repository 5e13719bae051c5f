import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { findKeyHolder, hashApiKey, openDatabase } from '@pf/database';
import { createTestDatabase, readBackingStack, readStack, type Stack, stackFile, type TestDatabase } from '@pf/testing';
import { writeStack } from '../../src/stack/stack.ts';

const PROGRAM = path.join(import.meta.dirname, '../../src/stack/compose.ts');

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  const { database: url, redis, kafka, chains } = readBackingStack();
  database = await createTestDatabase(url);
  folder = await mkdtemp(path.join(tmpdir(), 'pf-compose-'));
  await mkdir(path.join(folder, 'chains'));
  await writeStack(path.join(folder, 'chains'), { database: url, redis, kafka, chains, pids: {} });
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});

/** What the last container writes, as the demo and the tests read it. */
async function written(secretsKey: string): Promise<Stack> {
  const env = {
    PATH: process.env['PATH'],
    DATABASE_URL: database.url,
    SECRETS_KEY: secretsKey,
    BASE_URL: 'http://127.0.0.1:4000/v1',
    DASHBOARD_URL: 'http://localhost:4004',
    CHECKOUT_URL: 'http://127.0.0.1:4007',
    WEBHOOK_HOST: 'host.docker.internal',
    CHAINS_DATA: path.join(folder, 'chains'),
    STACK_DATA: path.join(folder, 'stack'),
    OWNED_LIKE: import.meta.filename,
  };
  await promisify(execFile)(process.execPath, ['--conditions=source', PROGRAM], { env });
  const file = process.env['STACK_FILE'];
  process.env['STACK_FILE'] = path.join(env.STACK_DATA, 'stack.json');
  try {
    expect((await stat(stackFile())).mode & 0o777).toBe(0o600);
    return readStack();
  } finally {
    if (file === undefined) delete process.env['STACK_FILE'];
    else process.env['STACK_FILE'] = file;
  }
}

it('the stack.json of docker compose is that of a running stack, with the same account each time', async () => {
  const secretsKey = randomBytes(32).toString('base64');
  const { accountId, apiKeys, webhookHost, checkout } = await written(secretsKey);
  expect({ webhookHost, checkout }).toEqual({
    webhookHost: 'host.docker.internal',
    checkout: { url: 'http://127.0.0.1:4007' },
  });
  const reader = openDatabase({ url: database.url, applicationName: 'test' });
  try {
    expect(await findKeyHolder(reader, hashApiKey(apiKeys.test))).toMatchObject({ accountId, livemode: false });
  } finally {
    await reader.close();
  }
  expect(await written(secretsKey)).toMatchObject({ accountId, apiKeys });
}, 120_000);
