import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
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
    // Services that a test starts as processes run compiled.
    execFileSync('node_modules/.bin/tsc', ['-b'], { cwd: this.root, stdio: 'inherit' });
  }

  /**
   * Runs `work` without the guard, in the source and in what is compiled of it, and puts both back.
   * @throws Error where the file does not hold the guard exactly once
   */
  async without<T>({ file, guard, instead }: Mutant, work: () => Promise<T>): Promise<T> {
    const source = path.join(this.root, file);
    const text = readFileSync(source, 'utf8');
    if (text.split(guard).length !== 2) throw new Error(`${file} does not hold exactly once: ${guard}`);
    const mutated = text.replace(guard, () => instead);
    const compiled = path.join(this.root, file.replace('/src/', '/dist/').replace(/\.ts$/, '.js'));
    if (!existsSync(compiled)) throw new Error(`${file} is not compiled`);
    const before = readFileSync(compiled, 'utf8');
    writeFileSync(source, mutated);
    // As the compiler does it, without its look at the types: a guard may leave an unused name behind.
    writeFileSync(compiled, stripTypeScriptTypes(mutated).replace(/((?:from|import) '\.[^']*)\.ts'/g, "$1.js'"));
    try {
      return await work();
    } finally {
      writeFileSync(source, text);
      writeFileSync(compiled, before);
    }
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
