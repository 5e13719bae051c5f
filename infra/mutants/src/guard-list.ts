import { withMarked } from '../../generate/src/documents.ts';
import type { Mutant } from './mutant.ts';
import { mutants } from './mutants.ts';

const entryOf = ({ name, file, test }: Mutant): string =>
  `- **${name}** — \`${file}\` — held by “${test.name}” (\`${test.file}\`)`;

/** The page about reliability, with the list of guards and their tests between its marks brought up to date. */
export const documentWithGuards = (document: string): Promise<string> =>
  withMarked('docs/internals/reliability.md', document, 'mutants', mutants.map(entryOf).join('\n'));
