import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';

const chain = z.object({
  caip2: z.string(),
  rpcUrl: z.string(),
  /** Symbol → address. */
  tokens: z.record(z.string(), z.string()),
  /** Accounts with money on this chain, keys in the chain's usual encoding. None when the chain runs elsewhere. */
  wallets: z.array(z.object({ address: z.string(), privateKey: z.string() })),
});
export type StackChain = z.infer<typeof chain>;

const stackAccountFields = {
  accountId: z.string(),
  /** API keys in plain text. They are stored nowhere else. */
  apiKeys: z.object({ test: z.string(), live: z.string() }),
  /** The secret of test mode. */
  webhookSecret: z.string(),
};
/** The owner of the account, who signs in to the dashboard. */
const person = z.object({ email: z.string(), password: z.string() });
/** The file of an older version has no person. */
export const formerAccount = z.object({ ...stackAccountFields, dashboard: person.optional() });
export type FormerAccount = z.infer<typeof formerAccount>;
export const stackAccount = z.object({ ...stackAccountFields, person });
export type StackAccount = z.infer<typeof stackAccount>;

const stack = z.object({
  ...z.object(stackAccountFields).partial().shape,
  /** The API with `/v1`; absent while it does not run. */
  baseUrl: z.string().optional(),
  /** The dashboard, and who can sign in; without `url` while it does not run. */
  dashboard: person.extend({ url: z.string().optional() }).optional(),
  /** The page on which people pay; absent while it does not run. */
  checkout: z.object({ url: z.string() }).optional(),
  /** The archive of the ledger: a folder, with the events in Parquet files below `events`. */
  archive: z.object({ path: z.string() }).optional(),
  database: z.string(),
  redis: z.string(),
  /** How each service connects to Redis, by its name; absent where all connect alike. */
  redisLogins: z.record(z.string(), z.string()).optional(),
  kafka: z.string(),
  /** The running processes: id by name. */
  pids: z.record(z.string(), z.number()),
  /** By name (infra/local/src/chains/chains.ts). The file of an older version may have fewer. */
  chains: z.record(z.string(), chain),
  /** The metrics URL by service. */
  metrics: z.record(z.string(), z.string()).optional(),
  /** By name of the chain: the first is on the list, the second is known to the provider. */
  sanctionedAddresses: z.record(z.string(), z.array(z.string())).optional(),
  /** The host name for webhook URLs, where the services run in containers: how they reach this machine. */
  webhookHost: z.string().optional(),
  /** The list and the provider that the gateway screens with. */
  sanctions: z.object({ listFile: z.string(), providerUrl: z.string(), apiKey: z.string() }).optional(),
});
/** `stack.json`: the addresses and credentials of the stack, for scripts. */
export type Stack = z.infer<typeof stack>;

export const stackFile = (data: string): string => path.join(data, 'stack.json');

/**
 * @returns null when there is none yet
 * @throws Error when another version wrote it: `npm run reset` empties the folder
 */
export async function readStack(data: string): Promise<Stack | null> {
  let text: string;
  try {
    text = await readFile(stackFile(data), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    return stack.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(`${stackFile(data)} was written by another version. Empty the folder with \`npm run reset\`.`, {
      cause,
    });
  }
}

/** Writes stack.json atomically, readable only by its owner. */
export async function writeStack(data: string, content: Stack): Promise<void> {
  const file = stackFile(data);
  await writeFile(`${file}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}
