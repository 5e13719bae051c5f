import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

/**
 * The key that encrypts webhook secrets in this data folder's database: 32 bytes, base64, generated on the first start.
 * `pf` reads the same file.
 */
export async function secretsKeyOf(data: string): Promise<string> {
  const file = path.join(data, 'secrets-key');
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const key = randomBytes(32).toString('base64');
  await writeFile(file, `${key}\n`, { mode: 0o600, flag: 'wx' });
  return key;
}
