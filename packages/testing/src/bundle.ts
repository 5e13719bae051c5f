import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';

const chunk = z.object({
  file: z.string(),
  imports: z.array(z.string()).default([]),
  dynamicImports: z.array(z.string()).default([]),
  css: z.array(z.string()).default([]),
  isEntry: z.boolean().default(false),
});
const manifest = z.record(z.string(), chunk);

/** What Vite has built for browsers. */
export class Bundle {
  readonly #folder: string;
  readonly #chunks: z.output<typeof manifest>;
  readonly #sizes = new Map<string, number>();

  private constructor(folder: string, chunks: z.output<typeof manifest>) {
    this.#folder = folder;
    this.#chunks = chunks;
  }

  /** @param folder with its `.vite/manifest.json` */
  static async read(folder: string): Promise<Bundle> {
    const text = await readFile(path.join(folder, '.vite/manifest.json'), 'utf8');
    return new Bundle(folder, manifest.parse(JSON.parse(text)));
  }

  /** The names of all chunks: paths of their sources. */
  get names(): readonly string[] {
    return Object.keys(this.#chunks);
  }

  /** The chunk that the page loads first. */
  get entry(): string {
    return this.names.find((name) => this.#chunks[name]?.isEntry) ?? '';
  }

  /** The chunks that the first one loads on demand. */
  get pages(): readonly string[] {
    return this.#chunks[this.entry]?.dynamicImports ?? [];
  }

  /** Bytes that a browser loads for the page with these chunks and all that they import, compressed. */
  async sizeOf(names: readonly string[]): Promise<number> {
    const files = new Set<string>(['index.html']);
    for (const name of names) this.#addFiles(name, files);
    const sizes = await Promise.all([...files].map((file) => this.#compressed(file)));
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  #addFiles(name: string, files: Set<string>): void {
    const { file, css, imports } = this.#chunks[name] ?? { file: '', css: [], imports: [] };
    if (file === '' || files.has(file)) return;
    for (const one of [file, ...css]) files.add(one);
    for (const one of imports) this.#addFiles(one, files);
  }

  async #compressed(file: string): Promise<number> {
    const size = this.#sizes.get(file) ?? gzipSync(await readFile(path.join(this.#folder, file)), { level: 9 }).length;
    this.#sizes.set(file, size);
    return size;
  }
}
