import { withMarked } from '../../generate/src/documents.ts';
import type { Mutant } from './mutant.ts';
import { mutants } from './mutants.ts';
import { titleOfTest } from './test-titles.ts';

const entryOf = ({ name, file, test }: Mutant): string =>
  `- **${name}** — \`${file}\` — held by “${titleOfTest(test.suite ?? test.file, test.name) ?? test.name}” ` +
  `(\`${test.file}\`)`;

/** The page about reliability, with the list of guards and their tests between its marks brought up to date. */
export const documentWithGuards = (document: string): Promise<string> =>
  withMarked('docs/internals/reliability.md', document, 'mutants', mutants.map(entryOf).join('\n'));
