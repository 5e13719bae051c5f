import path from 'node:path';
import { Copy } from './copy.ts';
import { mutants } from './mutants.ts';
import { runTests } from './tests.ts';
const words = process.argv.slice(2);
const root = path.join(import.meta.dirname, '../../..');
const copy = new Copy(root);
const signal = new AbortController().signal;
try {
  for (const mutant of mutants.filter(({ name }) => words.some((word) => name.includes(word)))) {
    const run = () => runTests({ root: copy.root, file: mutant.test.file, names: [mutant.test.name], env: process.env, signal });
    const before = (await run()).get(mutant.test.name);
    const after = await copy.without(mutant, async () => (await run()).get(mutant.test.name));
    console.log(mutant.name, '| with:', before?.passed, before?.reason, '| without:', after?.passed, after?.reason);
  }
} finally {
  copy.remove();
}
