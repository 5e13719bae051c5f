import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { type FormerAccount, stackAccount } from './stack.ts';

/** The input of prepare.ts. It has secrets, so it goes through a pipe. */
export interface Preparation {
  readonly database: string;
  readonly kafka: string;
  /** 32 bytes, base64. */
  readonly secretsKey: string;
  /** The account of the last start. */
  readonly former: FormerAccount | null;
}

const prepared = z.object({
  account: stackAccount,
  /** The connection of each role of the database; null: all services use that of the stack. */
  logins: z.record(z.string(), z.string()).nullable(),
});
/** The output of prepare.ts. */
export type Prepared = z.infer<typeof prepared>;

/**
 * Creates the topics, migrates the database, and finds or creates the account, in a separate process (prepare.ts). Safe
 * to repeat.
 * @param signal aborts it
 * @throws Error when it failed; it has printed why
 */
export async function prepareData(
  preparation: Preparation,
  environment: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Prepared> {
  const script = fileURLToPath(new URL('./prepare.ts', import.meta.url));
  const child = spawn(process.execPath, ['--conditions=source', '--disable-warning=ExperimentalWarning', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: environment,
    signal,
  });
  child.stdin.on('error', () => undefined); // It ended before it read its input: the exit code reports that.
  child.stdin.end(JSON.stringify(preparation));
  const ended = once(child, 'close').then(
    ([code]) => code as number | null,
    () => null,
  );
  const [output, code] = await Promise.all([text(child.stdout), ended]);
  if (code !== 0)
    throw new Error('The topics, the database and the account could not be prepared. See the errors above.');
  return prepared.parse(JSON.parse(output));
}
