import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Guide } from './guide.ts';

describe('the README', () => {
  let guide: Guide;
  beforeAll(async () => {
    guide = await Guide.open('README.md');
  });
  afterAll(() => guide.close());

  it('leads from a running stack to a paid intent, when it is followed word by word', async () => {
    guide.next('npm start');
    expect(await guide.run('npm run pay')).toMatch(/^confirmed$/m);
    expect(guide.left).toEqual([]);
  });
});
