// The commands of docs/operations/runbooks, and of the procedures beside them.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Procedures that are followed in an emergency, too. What is not here is tried by the checks of its subject. */
const PROCEDURES = ['archive', 'database-set-back', 'growth', 'log-set-back', 'privacy'];
/** The page that says what the others need. */
export const SETUP = 'runbooks/README.md';

/** A block of code that a person types. */
export interface Block {
  /** `page:line`, from docs/operations. */
  readonly place: string;
  readonly language: 'sh' | 'sql';
  readonly code: string;
}

/** The languages of the other blocks: queries, which infra/observability checks, and files. */
const NOT_TYPED = ['', 'json', 'mermaid', 'promql', 'text', 'yaml'];

/** All blocks, those of SETUP first. @throws Error where no check runs a block of that language */
export function commandBlocks(root: string): readonly Block[] {
  const operations = path.join(root, 'docs/operations');
  const runbooks = readdirSync(path.join(operations, 'runbooks')).sort();
  const pages = [
    SETUP,
    ...runbooks.map((name) => `runbooks/${name}`).filter((page) => page !== SETUP),
    ...PROCEDURES.map((name) => `${name}.md`),
  ];
  return pages.flatMap((page) => blocksOf(page, readFileSync(path.join(operations, page), 'utf8')));
}

function blocksOf(page: string, text: string): readonly Block[] {
  const fences = text.matchAll(/^(?<indent> *)```(?<language>\w*)\n(?<code>[^]*?)^ *```$/gm);
  return [...fences].flatMap(({ index, groups: { indent = '', language = '', code = '' } = {} }) => {
    if (NOT_TYPED.includes(language)) return [];
    const place = `${page}:${text.slice(0, index).split('\n').length}`;
    if (language !== 'sh' && language !== 'sql') throw new Error(`${place}: no check runs blocks of ${language}`);
    // In a list, as a browser shows it.
    return [{ place, language, code: code.replaceAll(`\n${indent}`, '\n').slice(indent.length) }];
  });
}
