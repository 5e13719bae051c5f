import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { lifecycleDocument } from './lifecycle-document.ts';

describe('docs/reference/lifecycle.md', () => {
  it('is the table that the tests run: write it anew with `pnpm --filter @pf/domain document`', () => {
    expect(readFileSync(new URL('../../../../docs/reference/lifecycle.md', import.meta.url), 'utf8')).toBe(
      lifecycleDocument(),
    );
  });
});
