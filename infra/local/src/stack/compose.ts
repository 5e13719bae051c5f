// The last step of `docker compose up`: an account, and stack.json as `npm start` writes it, so that whatever works
// with that stack (the demo, pf, scripts) works with this one. Ends with 0 when the file is there.
import { chown, mkdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { seedAccount } from './account.ts';
import { readStack, stackAccount, stackFile, writeStack } from './stack.ts';
import { reason, terminal } from '../processes/terminal.ts';

const environment = z.object({
  DATABASE_URL: z.string(),
  SECRETS_KEY: z.string(),
  /** With `/v1`, as programs of this machine reach it. */
  BASE_URL: z.url(),
  WEBHOOK_HOST: z.string(),
  /** Where the container of the chains has written its own stack.json. */
  CHAINS_DATA: z.string(),
  /** Mounted from this machine. */
  STACK_DATA: z.string(),
  /** A file of this machine: whose it is, theirs is what is written. */
  OWNED_LIKE: z.string(),
});

async function write(): Promise<string> {
  const env = environment.parse(process.env);
  const chains = await readStack(env.CHAINS_DATA);
  if (chains === null) throw new Error(`${stackFile(env.CHAINS_DATA)} does not exist: the chains have not started.`);
  await mkdir(env.STACK_DATA, { recursive: true });
  const former = stackAccount.safeParse(await readStack(env.STACK_DATA));
  const account = await seedAccount({
    database: env.DATABASE_URL,
    secretsKey: env.SECRETS_KEY,
    former: former.data ?? null,
  });
  // No pids: none of them is a process of this machine's. No wallet is screened.
  await writeStack(env.STACK_DATA, {
    ...chains,
    ...account,
    baseUrl: env.BASE_URL,
    webhookHost: env.WEBHOOK_HOST,
    pids: {},
    sanctionedAddresses: {},
  });
  const key = path.join(env.STACK_DATA, 'secrets-key');
  await writeFile(key, env.SECRETS_KEY, { mode: 0o600 });
  const { uid, gid } = await stat(env.OWNED_LIKE);
  for (const file of [env.STACK_DATA, stackFile(env.STACK_DATA), key]) await chown(file, uid, gid);
  return stackFile(env.STACK_DATA);
}

const out = terminal((text) => process.stderr.write(text));
try {
  out.line(`Wrote ${await write()}`);
} catch (error) {
  out.line(reason(error));
  process.exitCode = 1;
}
