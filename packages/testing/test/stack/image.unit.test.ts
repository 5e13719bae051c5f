import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { isImageStale } from '../../src/stack/image.ts';

describe('the bundle that tests run', () => {
  let root: string;
  const touch = (file: string, seconds: number): Promise<void> => utimes(path.join(root, file), seconds, seconds);
  beforeEach(async () => {
    root = await mkdtemp(path.join(os.tmpdir(), 'pf-image-'));
    await mkdir(path.join(root, 'infra/docker/dist'), { recursive: true });
    for (const source of ['one.ts', 'two.ts']) {
      await writeFile(path.join(root, source), '');
      await touch(source, 1_000);
    }
    await writeFile(path.join(root, 'infra/docker/dist/sources.json'), '["one.ts", "two.ts"]');
    await touch('infra/docker/dist/sources.json', 2_000);
  });
  afterEach(() => rm(root, { recursive: true }));

  it('is current while no source is newer', () => {
    expect(isImageStale(root)).toBe(false);
  });

  it('is stale after an edit of a source', async () => {
    await touch('two.ts', 2_001);
    expect(isImageStale(root)).toBe(true);
  });

  it('is stale without one of its sources', async () => {
    await rm(path.join(root, 'two.ts'));
    expect(isImageStale(root)).toBe(true);
  });

  it('is stale before it was built', async () => {
    await rm(path.join(root, 'infra/docker/dist/sources.json'));
    expect(isImageStale(root)).toBe(true);
  });
});
