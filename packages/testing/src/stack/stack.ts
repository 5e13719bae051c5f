import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

const wallet = z.object({ address: z.string(), privateKey: z.string() });
const chain = z.object({
  caip2: z.string(),
  rpcUrl: z.string(),
  tokens: z.record(z.string(), z.string()),
  /** None where the nodes are not the stack's own. */
  wallets: z.array(wallet),
});
export type StackChain = z.infer<typeof chain>;
export type StackWallet = z.infer<typeof wallet>;

/** The parts that a stack always has; the rest is there when its services run. */
const backing = z.looseObject({
  database: z.string(),
  redis: z.string(),
  kafka: z.string(),
  chains: z.record(z.string(), chain),
});
const running = backing.extend({
  baseUrl: z.string(),
  accountId: z.string(),
  apiKeys: z.object({ test: z.string(), live: z.string() }),
  webhookSecret: z.string(),
  /** The name that the services have for this machine, where they are containers on it. */
  webhookHost: z.string().optional(),
  pids: z.record(z.string(), z.number()),
  /** By the chains' names. */
  sanctionedAddresses: z.record(z.string(), z.array(z.string())),
});
export type BackingStack = z.infer<typeof backing>;
export type Stack = z.infer<typeof running>;

/** The file that tells where everything is: STACK_FILE, else the one of `npm start`. */
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
  // What a stack leaves behind when it ends, or has while it starts, lacks what is only true while it runs.
  const missing = [...new Set(stack.error.issues.map(({ path: [name] }) => String(name)))].join(', ');
  throw new Error(`The stack of ${file} does not run (the file lacks ${missing}). Start it with \`npm start\`.`, {
    cause: stack.error,
  });
}

/** Database, Redis, Kafka and chains of the stack. */
export const readBackingStack = (): BackingStack => read(backing);
/** The whole running stack. Read again each time: services that are restarted change their pids. */
export const readStack = (): Stack => read(running);

/** A chain of the stack by its name in stack.json: `base`. */
export function chainOf(stack: BackingStack, name: string): StackChain {
  const found = stack.chains[name];
  if (!found) throw new Error(`The stack has no chain ${name}; it has ${Object.keys(stack.chains).join(', ')}.`);
  return found;
}
