import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ERROR_CODES, ERRORS } from '../src/index.ts';

const CONTRACT = path.resolve(import.meta.dirname, '../../../docs/reference/contract.md');
const WORD = /`(?<word>[a-z_]+\.[a-z_]+)`/g;

/** What the list of errors in the contract says: each status, or statuses, with codes. */
function documented(): readonly { statuses: readonly number[]; words: readonly string[] }[] {
  const [, section = ''] = readFileSync(CONTRACT, 'utf8').split(/^## Errors$|^### Conflicts by state$/m);
  return [...section.matchAll(/^- \*\*(?<statuses>[\d, ]+)\*\*:(?<text>[^]*?)(?=^- |^$)/gm)].map(({ groups }) => ({
    statuses: (groups?.['statuses'] ?? '').split(', ').map(Number),
    words: [...(groups?.['text'] ?? '').matchAll(WORD)]
      .map((found) => found.groups?.['word'] ?? '')
      .filter((word) => !word.startsWith('details.')),
  }));
}

describe('ERRORS', () => {
  it('contains exactly the codes of the contract, each with the status that it has there', () => {
    const lines = documented();
    expect(lines.flatMap(({ words }) => words).sort()).toEqual([...ERROR_CODES].sort());
    for (const { statuses, words } of lines)
      for (const code of words as (keyof typeof ERRORS)[]) expect(statuses).toContain(ERRORS[code].status);
  });

  it.each(ERROR_CODES)('has a message, a cause and a remedy for %s, each a full sentence', (code) => {
    const { message, cause, remedy } = ERRORS[code];
    for (const text of [message, cause, remedy]) expect(text).toMatch(/^[A-Z`].{15,}\.$/);
    expect(code).toMatch(/^[a-z_]+\.[a-z_]+$/);
  });
});
