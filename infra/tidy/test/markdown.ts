/** @returns the anchors of a page, made from its headings as GitHub makes them, and from `<a id="…">` */
export function anchorsOf(markdown: string): ReadonlySet<string> {
  const seen = new Map<string, number>();
  const anchors = new Set<string>();
  for (const line of withoutCode(markdown).split('\n')) {
    const heading = /^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$/.exec(line)?.[1];
    if (heading !== undefined) {
      const slug = slugOf(heading);
      const repeats = seen.get(slug) ?? 0;
      seen.set(slug, repeats + 1);
      anchors.add(repeats === 0 ? slug : `${slug}-${repeats}`);
    }
    for (const [, id] of line.matchAll(/<a (?:id|name)="([^"]+)"/g)) if (id !== undefined) anchors.add(id);
  }
  return anchors;
}

/** GitHub's slug: formatting away, lower case, no punctuation but `-` and `_`, spaces as `-`. */
export const slugOf = (heading: string): string =>
  heading
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/<[^>]+>/g, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');

export interface Link {
  readonly target: string;
  readonly line: number;
}

/** Targets of inline links, images and reference definitions, outside code. */
export function linksOf(markdown: string): readonly Link[] {
  const text = withoutCode(markdown).replace(/`[^`\n]*`/g, (code) => ' '.repeat(code.length));
  const found = [
    ...text.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g),
    ...text.matchAll(/^ {0,3}\[[^\]]+\]:\s*(\S+)/gm),
  ];
  return found.map((match) => ({
    target: match[1] ?? '',
    line: text.slice(0, match.index).split('\n').length,
  }));
}

/** Fenced code blanked out, so that the numbers of the lines stay. */
export const withoutCode = (markdown: string): string =>
  markdown.replace(/^( {0,3})(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:^ {0,3}\2[`~]*\s*$|(?![\s\S]))/gm, (block) =>
    block.replace(/[^\n]/g, ' '),
  );
