import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { imageProgram } from '../../../packages/testing/src/stack/image.ts';

/** How a command of the image ended. */
interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/**
 * Runs a command of the image as a container does, until it exits.
 * @param onLog called at its first line on stdout, where logs go
 */
export async function runCommand(
  command: string,
  environment: Readonly<Record<string, string>>,
  onLog: () => void = () => undefined,
): Promise<Ended> {
  const child = spawn(process.execPath, [imageProgram(), command], {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.once('data', onLog);
  const [[code], ...output] = await Promise.all([
    once(child, 'close') as Promise<[number | null]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, output: output.join('') };
}
