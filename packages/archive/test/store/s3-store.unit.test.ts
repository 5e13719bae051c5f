import { describe, expect, it } from '@jest/globals';
import { openStore, S3Store, StoreUnfitError } from '../../src/index.ts';
import { BUCKET, startMemoryS3 } from './memory-s3.ts';
import { describeS3Store } from './s3-suite.ts';

const credentials = { accessKeyId: 'AKIDTEST', secretAccessKey: 'a secret of tests' };

describeS3Store('a bucket', async () => ({ ...(await startMemoryS3()), bucket: BUCKET, credentials }));

describe('a store for the archive', () => {
  it.each([
    ['ignores', false],
    ['refuses', 'refused'],
  ] as const)('is refused where it %s If-None-Match, before anything is archived', async (_what, conditional) => {
    const server = await startMemoryS3({ conditional });
    try {
      const url = new URL(`s3://${BUCKET}/a?region=us-east-1&endpoint=${server.url}`);
      const store = new S3Store(url, { credentials });
      for (let attempt = 0; attempt < 2; attempt++)
        await expect(store.create('events/a', Buffer.from('a'))).rejects.toThrow(StoreUnfitError);
      expect([...server.objects.keys()].filter((key) => !key.endsWith('probe'))).toEqual([]);
    } finally {
      await server.close();
    }
  });

  it('is a folder or a bucket, as its URL says', () => {
    expect(openStore(new URL('s3://bucket/prefix'))).toBeInstanceOf(S3Store);
    expect(openStore(new URL('file:///tmp/archive')).fileOf('a')).toBe('/tmp/archive/a');
  });
});
