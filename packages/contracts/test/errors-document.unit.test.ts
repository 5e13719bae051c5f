import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { errorsDocument } from './errors-document.ts';

describe('docs/reference/errors.md', () => {
  it('is up to date with the registry (regenerate: `pnpm --filter @pf/contracts document`)', () => {
    expect(readFileSync(new URL('../../../docs/reference/errors.md', import.meta.url), 'utf8')).toBe(errorsDocument());
  });
});
