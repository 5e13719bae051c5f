import path from 'node:path';
import { format, resolveConfig } from 'prettier';
import type { Mutant } from './mutant.ts';
import { mutants } from './mutants.ts';

const MARKS = ['<!-- mutants -->', '<!-- /mutants -->'] as const;
const DOCUMENT = path.join(import.meta.dirname, '../../../docs/internals/reliability.md');

const entryOf = ({ name, file, test }: Mutant): string =>
  `- **${name}** — \`${file}\` — held by “${test.name}” (\`${test.file}\`)`;

/** The page about reliability, with the list of guards and their tests between its marks brought up to date. */
export async function documentWithGuards(document: string): Promise<string> {
  const [before, rest] = document.split(MARKS[0]);
  const after = rest?.split(MARKS[1])[1];
  if (before === undefined || after === undefined) throw new Error(`${DOCUMENT} lacks the marks ${MARKS.join(' … ')}.`);
  const entries = mutants.map(entryOf).join('\n');
  const text = `${before}${MARKS[0]}\n\n${entries}\n\n${MARKS[1]}${after}`;
  return format(text, { ...(await resolveConfig(DOCUMENT)), filepath: DOCUMENT });
}
