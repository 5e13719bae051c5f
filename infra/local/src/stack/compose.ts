// The last step of `docker compose up`: creates an account and writes stack.json as `npm start` does, so that the demo,
// pf and scripts work with this stack, too. Exits with 0 when the file is written.
import { chown, mkdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { seedAccount } from './account.ts';
import { formerAccount, readStack, stackFile, writeStack } from './stack.ts';
import { reason, terminal } from '../processes/terminal.ts';

const environment = z.object({
  DATABASE_URL: z.string(),
  SECRETS_KEY: z.string(),
  /** The API with `/v1`, as programs on the host reach it. */
  BASE_URL: z.url(),
  /** The dashboard, as browsers on the host reach it. */
  DASHBOARD_URL: z.url(),
  /** The page on which people pay, as browsers on the host reach it. */
  CHECKOUT_URL: z.url(),
  WEBHOOK_HOST: z.string(),
  /** The folder where the chains' container wrote its stack.json. */
  CHAINS_DATA: z.string(),
  /** The data folder, mounted from the host. */
  STACK_DATA: z.string(),
  /** A file of the host: the written files get its owner. */
  OWNED_LIKE: z.string(),
});

async function write(): Promise<string> {
  const env = environment.parse(process.env);
  const chains = await readStack(env.CHAINS_DATA);
  if (chains === null) throw new Error(`${stackFile(env.CHAINS_DATA)} does not exist: the chains have not started.`);
  await mkdir(env.STACK_DATA, { recursive: true });
  const former = formerAccount.safeParse(await readStack(env.STACK_DATA));
  const { person, ...account } = await seedAccount({
    database: env.DATABASE_URL,
    secretsKey: env.SECRETS_KEY,
    former: former.data ?? null,
  });
  // No process ids: containers are no processes of the host. Screening is off, so there are no sanctioned addresses.
  await writeStack(env.STACK_DATA, {
    ...chains,
    ...account,
    baseUrl: env.BASE_URL,
    dashboard: { url: env.DASHBOARD_URL, ...person },
    checkout: { url: env.CHECKOUT_URL },
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
