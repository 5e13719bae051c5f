import { describe, expect, it } from '@jest/globals';
import { currentContent, GENERATED_FILES } from '../src/generated-files.ts';

describe('generated files', () => {
  it.each(GENERATED_FILES)('$file is up to date', async ({ file, make }) => {
    const current = await currentContent(file);
    const hasChanged = (await make(current)) !== current;
    expect(hasChanged ? `${file} is stale. Run \`npm run generate\`.` : 'up to date').toBe('up to date');
  });
});
