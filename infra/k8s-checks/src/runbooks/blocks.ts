// The commands of docs/operations.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The page that says what the runbooks need. */
export const SETUP = 'runbooks/README.md';
/** It brings the cluster to where the others begin. */
const DEPLOY = 'deploy.md';
/** On a cluster of its own: infra/k8s-checks/src/chart-checks.ts. */
export const CHART = 'helm.md';

/** A block of code that a person types. */
export interface Block {
  /** `page:line`, from docs/operations. */
  readonly place: string;
  readonly language: 'sh' | 'sql';
  readonly code: string;
}

/** The languages of the other blocks: queries, which infra/observability checks, and files. */
const NOT_TYPED = ['', 'json', 'mermaid', 'promql', 'text', 'yaml'];

/** The blocks of all pages but CHART. @throws Error where no check runs a block of that language */
export function commandBlocks(root: string): readonly Block[] {
  const pagesIn = (folder: string): readonly string[] =>
    readdirSync(path.join(root, 'docs/operations', folder))
      .filter((name) => name.endsWith('.md'))
      .sort()
      .map((name) => path.join(folder, name));
  const pages = new Set([DEPLOY, SETUP, ...pagesIn('runbooks'), ...pagesIn('')]);
  pages.delete(CHART);
  return [...pages].flatMap((page) => blocksOf(root, page));
}

/** @param page from docs/operations. @throws Error where no check runs a block of that language */
export function blocksOf(root: string, page: string): readonly Block[] {
  const text = readFileSync(path.join(root, 'docs/operations', page), 'utf8');
  const fences = text.matchAll(/^(?<indent> *)```(?<language>\w*)\n(?<code>[^]*?)^ *```$/gm);
  return [...fences].flatMap(({ index, groups: { indent = '', language = '', code = '' } = {} }) => {
    if (NOT_TYPED.includes(language)) return [];
    const place = `${page}:${text.slice(0, index).split('\n').length}`;
    if (language !== 'sh' && language !== 'sql') throw new Error(`${place}: no check runs blocks of ${language}`);
    // In a list, as a browser shows it.
    return [{ place, language, code: code.replaceAll(`\n${indent}`, '\n').slice(indent.length) }];
  });
}
