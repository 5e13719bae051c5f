import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { stackFile } from '@pf/testing';
import { Terminal } from './terminal.ts';

const root = path.join(import.meta.dirname, '../../../..');
/** In the first line of a block: the file that the reader saves it as. */
const FILE = /^\/\/ ([\w-]+\.(?:mjs|ts))\n/;

/** @param page a path from the root of the repository */
export const readPage = (page: string): Promise<string> => readFile(path.join(root, page), 'utf8');

/** The blocks of code of a page that a reader runs or saves. */
const blocksOf = async (page: string): Promise<string[]> =>
  [...(await readPage(page)).matchAll(/^```(?:sh|js|ts)\n([^]*?)^```/gm)].map(([, code = '']) => code);

/**
 * A page that is followed word by word: each block of code, in its order, is run in a terminal or saved as a file. The
 * reader's folder is outside the repository.
 */
export class Guide {
  readonly folder: string;
  readonly terminal = new Terminal(root);
  readonly #blocks: string[];

  private constructor(folder: string, blocks: string[]) {
    this.folder = folder;
    this.#blocks = blocks;
  }

  /**
   * @param page a path from the root of the repository
   * @param replaced what is another thing on this machine, such as ports
   * @param packages whether those of this repository are there, or the page installs its own
   */
  static async open(
    page: string,
    replaced: Readonly<Record<string, string>> = {},
    packages: 'present' | 'installed by the page' = 'present',
  ): Promise<Guide> {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'pf-guide-'));
    if (packages === 'present')
      await symlink(path.join(import.meta.dirname, '../../node_modules'), path.join(folder, 'node_modules'));
    const everywhere = {
      './.local/stack.json': stackFile(),
      // With the space: the stack's own folder may be another `.local`.
      ' .local/': ` ${folder}/`,
      '../shop': folder,
      ...replaced,
    };
    const unchangedBut = (code: string): string =>
      Object.entries(everywhere).reduce((text, [word, other]) => text.replaceAll(word, other), code);
    return new Guide(folder, (await blocksOf(page)).map(unchangedBut));
  }

  /** Blocks that were not followed yet. */
  get left(): readonly string[] {
    return this.#blocks;
  }

  /** @returns the next block, which contains `text` */
  next(text: string): string {
    const block = this.#blocks.shift();
    if (!block?.includes(text)) throw new Error(`expected a block with "${text}", not: ${block ?? 'the end'}`);
    return block;
  }

  /** Runs the next block. @returns what it prints */
  run(text: string): Promise<string> {
    return this.terminal.run(this.next(text));
  }

  /** Saves the next block under the name in its first line. */
  async save(text: string): Promise<void> {
    const code = this.next(text);
    const name = FILE.exec(code)?.[1];
    if (name === undefined) throw new Error(`no file is named in the first line of: ${code}`);
    await writeFile(path.join(this.folder, name), code);
  }

  /** Saves the files of another page, on which this one builds. */
  async saveFilesOf(page: string): Promise<void> {
    for (const code of await blocksOf(page)) {
      const name = FILE.exec(code)?.[1];
      if (name !== undefined) await writeFile(path.join(this.folder, name), code);
    }
  }

  /** Runs the next block, a program, in the background. @returns ends it */
  start(text: string, { name = text, folder = this.folder } = {}): Promise<() => void> {
    return this.terminal.start(this.next(text).trim().replace(/ &$/, ''), folder, this.#log(name));
  }

  /** @returns what a program in the background has printed */
  printedBy(name: string): Promise<string> {
    return readFile(this.#log(name), 'utf8');
  }

  async close(): Promise<void> {
    await this.terminal.close();
    await rm(this.folder, { recursive: true });
  }

  #log(name: string): string {
    return path.join(this.folder, `${name.replaceAll(/\W+/g, '-')}.log`);
  }
}

/** @returns the rows of the table under a heading of a page, as cells without formatting of code */
export async function tableUnder(page: string, heading: string): Promise<readonly (readonly string[])[]> {
  const section = (await readPage(page)).split(/^#{2,3} /m).find((part) => part.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`${page} has no section "${heading}"`);
  return section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}
