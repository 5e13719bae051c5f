import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { at, checked, exists, existsSomewhere, files, read } from '../src/repository.ts';
import { lineOf, type Passage, passagesOf } from '../src/source-text.ts';
import { anchorsOf, linksOf, slugOf, withoutCode } from './markdown.ts';

const pages = checked.filter((file) => file.endsWith('.md'));
const citing = checked.filter((file) => !/\.(json|xml)$/.test(file));

/** Built or installed, so not tracked. */
const UNTRACKED = /(^|\/)(node_modules|dist|generated|\.local|\.tools)(\/|$)/;
/** Folders at the root whose contents prose cites by their whole path. */
const PATH = /(?<![\w./@:-]|=")(?:docs|infra|k8s|packages|services)\/[\w@.{},*$<>…/-]+/g;
/** Placeholders, globs and alternatives stand for several files. */
const TEMPLATE = /[…<>*{}$]|NNNN|\.\.\./;
/** A Markdown file by its name, with or without folders. */
const PAGE = /(?<![\w./@:<>*$-])(?:\.{1,2}\/)*(?:[\w-]+\/)*[\w-]+\.md\b/g;
/** A page and, in quotes, one of its sections: `docs/internals/kafka.md, "Topics"`. */
const SECTION = /(docs\/[\w/-]+\.md)[`)]*,?\s+(?:\*\s+|\/\/\s+)?\(?["“]([^"”\n]+)["”]/g;
/** A source file in backticks. */
const SOURCE = /`((?:[\w.-]+\/)*[\w.-]+\.(?:ts|mjs|sql|prisma|proto))`/g;

/** A link's text may be short: its target is checked as a link. Blanked out, so that the places of the rest stay. */
const withoutLinks = ({ file, text }: Passage): string =>
  file.endsWith('.md') ? text.replace(/\[[^\]]*\]\([^)]*\)/g, (link) => link.replace(/[^\n]/g, ' ')) : text;

const trimmed = (citation: string): string => citation.replace(/[.,:/]+$/, '');

describe('links of Markdown pages', () => {
  it('point to files and headings that exist', () => {
    const broken = pages.flatMap((page) =>
      linksOf(read(page)).flatMap(({ target, line }) => {
        const anchor = target.split('#')[1];
        const file = fileOf(page, target);
        if (file === undefined) return [];
        if (!exists(file)) return [at(page, line, `no file ${target}`)];
        if (anchor === undefined || anchor === '' || !file.endsWith('.md')) return [];
        return anchorsOf(read(file)).has(decodeURIComponent(anchor)) ? [] : [at(page, line, `no heading ${target}`)];
      }),
    );
    expect(broken).toEqual([]);
  });
});

describe('pages of docs/', () => {
  it('are reachable from docs/README.md', () => {
    const reached = new Set<string>();
    const follow = (page: string): void => {
      if (reached.has(page)) return;
      reached.add(page);
      for (const { target } of linksOf(read(page))) {
        const file = fileOf(page, target);
        if (file?.endsWith('.md') === true && exists(file)) follow(file);
      }
    };
    follow('docs/README.md');
    expect(files.filter((file) => /^docs\/.*\.md$/.test(file) && !reached.has(file))).toEqual([]);
  });
});

describe('references in comments, strings and prose', () => {
  const passages = citing.flatMap((file) => passagesOf(file));

  it('cite paths that exist', () => {
    const missing = passages.flatMap((passage) =>
      [...passage.text.matchAll(PATH)]
        .filter(([citation]) => !TEMPLATE.test(citation) && !UNTRACKED.test(citation))
        .filter(([citation]) => !exists(trimmed(citation)))
        .map((match) => at(passage.file, lineOf(passage, match.index), `no ${trimmed(match[0])}`)),
    );
    expect(missing).toEqual([]);
  });

  it('cite pages by their path from the root, or in Markdown from their own folder', () => {
    const missing = passages
      .filter(({ kind }) => kind !== 'string')
      .flatMap((passage) =>
        [...withoutLinks(passage).matchAll(PAGE)]
          .filter(([citation]) => !exists(citation) && !isBesideOf(passage.file, citation))
          .map((match) => at(passage.file, lineOf(passage, match.index), `no page ${match[0]}`)),
      );
    expect(missing).toEqual([]);
  });

  it('cite sections that exist', () => {
    const missing = passages.flatMap((passage) =>
      [...passage.text.matchAll(SECTION)]
        .filter(([, page = '', section = '']) => exists(page) && !anchorsOf(read(page)).has(slugOf(section)))
        .map((match) => at(passage.file, lineOf(passage, match.index), `no section “${match[2]}” in ${match[1]}`)),
    );
    expect(missing).toEqual([]);
  });

  it('cite source files that exist', () => {
    const missing = passages
      .filter(({ kind }) => kind !== 'string')
      .flatMap((passage) =>
        [...passage.text.matchAll(SOURCE)]
          .filter(([, citation = '']) => !existsSomewhere(citation))
          .map((match) => at(passage.file, lineOf(passage, match.index), `no file ${match[1]}`)),
      );
    expect(missing).toEqual([]);
  });
});

/** @returns the file that a link on a page names, from the root; undefined for a URL */
function fileOf(page: string, target: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return undefined;
  const [name = ''] = target.split('#');
  return name === '' ? page : path.posix.normalize(path.posix.join(path.posix.dirname(page), name));
}

const isBesideOf = (file: string, citation: string): boolean =>
  file.endsWith('.md') && exists(path.posix.normalize(path.posix.join(path.posix.dirname(file), citation)));

describe('anchors of headings', () => {
  it.each([
    ['Settings', 'settings'],
    ['What it costs: 3 `eth_getLogs`', 'what-it-costs-3-eth_getlogs'],
    ['[Kafka](kafka.md) 2.2.4 — its faults', 'kafka-224--its-faults'],
  ])('become slugs as GitHub makes them: %s', (heading, slug) => {
    expect(slugOf(heading)).toBe(slug);
  });

  it('number the repeats of a heading and ignore code', () => {
    const page = '# A\n\n```sh\n# not a heading\n```\n\n## B\n\n## B\n';
    expect([...anchorsOf(page)]).toEqual(['a', 'b', 'b-1']);
    expect(withoutCode(page).split('\n')).toHaveLength(page.split('\n').length);
  });
});
