import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type StackAccount, stackAccount } from './stack.ts';

/** What the platform is prepared with. It holds secrets, so it goes through a pipe. */
export interface Preparation {
  readonly database: string;
  readonly kafka: string;
  /** 32 bytes, base64. */
  readonly secretsKey: string;
  /** The account of the last start. */
  readonly former: StackAccount | null;
}

/**
 * Creates topics, migrates, and finds or makes the account, in a process of its own (prepare.ts). Safe to repeat.
 * @param signal ends it
 * @throws Error when it failed; it has said why on the terminal
 */
export async function prepareData(
  preparation: Preparation,
  environment: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<StackAccount> {
  const script = fileURLToPath(new URL('./prepare.ts', import.meta.url));
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: environment,
    signal,
  });
  child.stdin.on('error', () => undefined); // It ended before it read: its exit code says so.
  child.stdin.end(JSON.stringify(preparation));
  const ended = once(child, 'close').then(
    ([code]) => code as number | null,
    () => null,
  );
  const [output, code] = await Promise.all([text(child.stdout), ended]);
  if (code !== 0)
    throw new Error('The topics, the database and the account could not be prepared. See the errors above.');
  return stackAccount.parse(JSON.parse(output));
}
