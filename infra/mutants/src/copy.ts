import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Mutant } from './mutant.ts';

const COPIED = [
  'packages',
  'services',
  'infra',
  'package.json',
  'jest.config.mjs',
  'tsconfig.base.json',
  'tsconfig.json',
  'tsconfig.tests.json',
];

/**
 * A copy of the sources in which guards are taken out. Its packages link to each other, and to the same installed
 * dependencies.
 */
export class Copy {
  readonly root = mkdtempSync(path.join(tmpdir(), 'pf-mutants-'));

  constructor(original: string) {
    for (const entry of COPIED)
      cpSync(path.join(original, entry), path.join(this.root, entry), { recursive: true, verbatimSymlinks: true });
    symlinkSync(path.join(original, 'node_modules'), path.join(this.root, 'node_modules'));
    // Services run bundled. Tests bundle them again where a source has changed since.
    execFileSync(process.execPath, ['infra/docker/bundle.mjs'], { cwd: this.root, stdio: 'inherit' });
  }

  /**
   * Runs `work` without the guard, and puts it back.
   * @throws Error where the file does not hold the guard exactly once
   */
  async without<T>({ file, guard, instead }: Mutant, work: () => Promise<T>): Promise<T> {
    const source = path.join(this.root, file);
    const text = readFileSync(source, 'utf8');
    if (text.split(guard).length !== 2) throw new Error(`${file} does not hold exactly once: ${guard}`);
    writeFileSync(
      source,
      text.replace(guard, () => instead),
    );
    try {
      return await work();
    } finally {
      writeFileSync(source, text);
    }
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
