import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

const wallet = z.object({ address: z.string(), privateKey: z.string() });
const chain = z.object({
  caip2: z.string(),
  rpcUrl: z.string(),
  tokens: z.record(z.string(), z.string()),
  /** None when the chain runs elsewhere. */
  wallets: z.array(wallet),
});
export type StackChain = z.infer<typeof chain>;
export type StackWallet = z.infer<typeof wallet>;

/** The fields that are always there; the others exist while the services run. */
const backing = z.looseObject({
  database: z.string(),
  redis: z.string(),
  /** By service; absent where all connect alike. */
  redisLogins: z.record(z.string(), z.string()).optional(),
  kafka: z.string(),
  chains: z.record(z.string(), chain),
});
const running = backing.extend({
  baseUrl: z.string(),
  accountId: z.string(),
  apiKeys: z.object({ test: z.string(), live: z.string() }),
  webhookSecret: z.string(),
  /** The dashboard, and who can sign in. */
  dashboard: z.object({ url: z.string(), email: z.string(), password: z.string() }),
  /** The page on which people pay. */
  checkout: z.object({ url: z.string() }),
  /** The host name for webhook URLs when the services run in containers. */
  webhookHost: z.string().optional(),
  pids: z.record(z.string(), z.number()),
  /** By name of the chain. */
  sanctionedAddresses: z.record(z.string(), z.array(z.string())),
});
export type BackingStack = z.infer<typeof backing>;
export type Stack = z.infer<typeof running>;

/** The path of stack.json: STACK_FILE, or that of `npm start`. */
export const stackFile = (): string =>
  process.env['STACK_FILE'] ??
  path.join(process.env['PF_DATA'] ?? path.join(import.meta.dirname, '../../../../.local'), 'stack.json');

function read<T>(schema: z.ZodType<T>): T {
  const file = stackFile();
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`No stack is running: ${file} cannot be read. Start one with \`npm start\`.`, { cause: error });
  }
  const stack = schema.safeParse(JSON.parse(text));
  if (stack.success) return stack.data;
  // The file of a stack that is starting or has ended lacks the fields of a running one.
  const missing = [...new Set(stack.error.issues.map(({ path: [name] }) => String(name)))].join(', ');
  throw new Error(`The stack of ${file} does not run (the file lacks ${missing}). Start it with \`npm start\`.`, {
    cause: stack.error,
  });
}

/** The database, Redis, Kafka and chains of the stack. */
export const readBackingStack = (): BackingStack => read(backing);
/** The whole running stack. Read from the file each time, since restarts change process ids. */
export const readStack = (): Stack => read(running);

/** A chain of the stack by its name in stack.json, such as `base`. */
export function chainOf(stack: BackingStack, name: string): StackChain {
  const found = stack.chains[name];
  if (!found) throw new Error(`The stack has no chain ${name}; it has ${Object.keys(stack.chains).join(', ')}.`);
  return found;
}
