import { copyFile, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { z } from 'zod';

/** The empty blocks that stay: two minutes of the testnet, more than any reader's lag. */
const RECENT = 600n;

const hex = z.string().regex(/^0x[0-9a-f]+$/i);
// The fields of anvil's dump that we change; all others pass through.
const dump = z.looseObject({
  best_block_number: z.union([hex, z.number()]),
  blocks: z.array(
    z.looseObject({ header: z.looseObject({ number: hex, timestamp: hex }), transactions: z.array(z.unknown()) }),
  ),
});

/**
 * Prepares anvil's saved state for a start. Drops old blocks without transactions (2 KB each, five a second) and all
 * genesis blocks but the oldest (each start adds one, and anvil may pick any of them). Replaces a file that a kill
 * truncated by the last complete copy.
 */
export async function tidyState(file: string): Promise<void> {
  const good = `${file}.good`;
  const state = await read(file);
  if (state === null) {
    // Absent is normal on the first start; then there is no copy either.
    await rm(file, { force: true });
    await copyFile(good, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    return;
  }
  const oldest = BigInt(state.best_block_number) - RECENT;
  const [genesis] = state.blocks
    .filter(({ header }) => BigInt(header.number) === 0n)
    .sort((one, other) => Number(BigInt(one.header.timestamp) - BigInt(other.header.timestamp)));
  const kept = state.blocks.filter((block) => {
    const number = BigInt(block.header.number);
    return number === 0n ? block === genesis : number > oldest || block.transactions.length > 0;
  });
  if (kept.length < state.blocks.length) {
    await writeFile(`${file}.new`, JSON.stringify({ ...state, blocks: kept }));
    await rename(`${file}.new`, file);
  }
  await copyFile(file, `${good}.new`);
  await rename(`${good}.new`, good);
}

async function read(file: string): Promise<z.infer<typeof dump> | null> {
  try {
    return dump.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
