import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';

const chain = z.object({
  caip2: z.string(),
  rpcUrl: z.string(),
  /** Symbol → address. */
  tokens: z.record(z.string(), z.string()),
  /** Accounts with money on this chain, keys in the chain's usual encoding. None where the chain is not ours. */
  wallets: z.array(z.object({ address: z.string(), privateKey: z.string() })),
});
export type StackChain = z.infer<typeof chain>;

export const stackAccount = z.object({
  accountId: z.string(),
  /** API keys in plain text. The only place where they are kept. */
  apiKeys: z.object({ test: z.string(), live: z.string() }),
  /** Of test mode. */
  webhookSecret: z.string(),
});
export type StackAccount = z.infer<typeof stackAccount>;

const stack = z.object({
  ...stackAccount.partial().shape,
  /** With `/v1`; absent while the API does not run. */
  baseUrl: z.string().optional(),
  database: z.string(),
  redis: z.string(),
  kafka: z.string(),
  /** Process ids by name, of what runs now. */
  pids: z.record(z.string(), z.number()),
  /** By name: chains.ts. One of an older version may have fewer. */
  chains: z.record(z.string(), chain),
  /** By service: where Prometheus finds its metrics. */
  metrics: z.record(z.string(), z.string()).optional(),
  /** By the chains' names; the first is on the list, the second known to the provider. */
  sanctionedAddresses: z.record(z.string(), z.array(z.string())).optional(),
  /** The name that the services have for this machine, where they are containers on it: webhooks go there. */
  webhookHost: z.string().optional(),
  /** What the gateway screens with. */
  sanctions: z.object({ listFile: z.string(), providerUrl: z.string(), apiKey: z.string() }).optional(),
});
/** `stack.json`: where everything is, for scripts. */
export type Stack = z.infer<typeof stack>;

export const stackFile = (data: string): string => path.join(data, 'stack.json');

/**
 * @returns null where there is none yet
 * @throws Error when it is not as this version writes it: `npm run reset` is the way out
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

/** Atomic, and only its owner may read it. */
export async function writeStack(data: string, content: Stack): Promise<void> {
  const file = stackFile(data);
  await writeFile(`${file}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}
