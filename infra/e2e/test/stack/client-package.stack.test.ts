import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readStack } from '@pf/testing';

const run = promisify(execFile);
const root = path.join(import.meta.dirname, '../../../..');
const PNPM = path.join(root, '.tools/pnpm/node_modules/pnpm/bin/pnpm.cjs');
const { baseUrl } = readStack();

const PROGRAM = `
import { PaymentClient, webhooks } from '@pf/client';
import { announce } from '@pf/client/sound';
import { decode, encode } from '@pf/client/sound/node';
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
const script = statSync(fileURLToPath(import.meta.resolve('@pf/client/sound/script.js')));
console.log(new PaymentClient({ baseUrl: '${baseUrl}', apiKey: 'pk_test_' }).intents.create.name);
console.log([webhooks.verify, announce, decode, encode].every((part) => typeof part === 'function'), script.size > 1e5);
`;

describe('the client that a deployment serves', () => {
  let folder: string;
  beforeAll(async () => {
    // Outside the repository: nothing but what is installed resolves.
    folder = await mkdtemp(path.join(os.tmpdir(), 'pf-shop-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it.each([
    ['npm', 'npm', ['install', '--no-audit', '--no-fund']],
    ['pnpm', process.execPath, [PNPM, 'add']],
  ])(
    'is installed by %s into an empty folder, with all that it exports',
    async (name, program, args) => {
      const shop = await mkdtemp(path.join(folder, name));
      await writeFile(path.join(shop, 'package.json'), '{}');
      await run(program, [...args, `${baseUrl}/client.tgz`], { cwd: shop });
      await writeFile(path.join(shop, 'program.mjs'), PROGRAM);
      const { stdout } = await run(process.execPath, ['program.mjs'], { cwd: shop });
      expect(stdout).toBe('create\ntrue true\n');
    },
    180_000,
  );
});
