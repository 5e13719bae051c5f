import { readdir, rm } from 'node:fs/promises';
import { ownerOf } from '../processes/data-lock.ts';
import type { Terminal } from '../processes/terminal.ts';

/**
 * Empties a data folder.
 * @throws Error when a stack runs on it, or when it is not a stack's folder
 */
export async function reset(data: string, terminal: Terminal): Promise<void> {
  const pid = await ownerOf(data);
  if (pid !== null) throw new Error(`A stack runs on ${data} (process ${pid}). Stop it first.`);
  const entries = await readdir(data).catch((): string[] => []);
  if (entries.length === 0) {
    terminal.line(`${data} is already empty.`);
    return;
  }
  // PF_DATA may point to any folder by mistake.
  if (!entries.includes('logs')) throw new Error(`${data} is not the data folder of a stack. Nothing was removed.`);
  await terminal.step(`Emptied ${data}`, () => rm(data, { recursive: true }));
}
