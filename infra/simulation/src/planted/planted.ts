import { registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** A bug that is put into the sources of a process, to see that the simulator finds it. */
export interface Planted {
  /** What the bug is, as a reader of the report understands it. */
  readonly name: string;
  readonly file: string;
  /** Exact text that stands once in the file. */
  readonly guard: string;
  readonly instead: string;
}

const ROOT = path.join(import.meta.dirname, '../../../..');

/** The source with the bug. @throws Error where the guard does not stand in it once */
export function plantedIn(source: string, { file, guard, instead }: Planted): string {
  if (source.split(guard).length !== 2) throw new Error(`${file} does not hold exactly once: ${guard}`);
  return source.replace(guard, () => instead);
}

/** Puts the bug into the module when it is loaded. Nothing is written to disk. */
export function plant(bug: Planted): void {
  const url = pathToFileURL(path.join(ROOT, bug.file)).href;
  registerHooks({
    load(loaded, context, nextLoad) {
      const result = nextLoad(loaded, context);
      if (loaded !== url) return result;
      return { ...result, source: plantedIn(Buffer.from(result.source as Uint8Array).toString('utf8'), bug) };
    },
  });
}
