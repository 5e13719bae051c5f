import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';

/** Below this many bytes, what compression saves is not worth a file. */
const COMPRESSED_FROM = 1_024;

/**
 * A plugin of Vite that writes `.br` and `.gz` beside each file, so that no request waits for compression.
 * @param {string} outDir
 */
export const compressed = (outDir) => ({
  name: 'compressed',
  async closeBundle() {
    const entries = await readdir(outDir, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => path.join(parentPath, name));
    await Promise.all(
      files.map(async (file) => {
        const content = await readFile(file);
        if (content.length < COMPRESSED_FROM) return;
        await writeFile(`${file}.br`, await promisify(brotliCompress)(content));
        await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }));
      }),
    );
  },
});
