import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openStore, ParquetFiles, Signer } from '@pf/archive';
import { PartitionArchive } from '../../../archive/src/partition-archive.ts';
import { toRow } from '../../../archive/src/row.ts';
import { archiveKey } from '../../../archive/test/archive-key.ts';
import { recordAt, RECORDED_PAYMENTS } from '../../../archive/test/recorded.ts';
import { BUCKET, startMemoryS3 } from '../../../archive/test/store/memory-s3.ts';
import { runPf } from '../../src/index.ts';

const signer = new Signer(Buffer.alloc(32, 7));
const EVENTS = RECORDED_PAYMENTS.length;

describe('pf ledger on an archive in a bucket', () => {
  let server: Awaited<ReturnType<typeof startMemoryS3>>;
  let folder: string;
  let url: string;

  beforeAll(async () => {
    // The SDK finds them there, as it does for the service.
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'AKIDTEST', AWS_SECRET_ACCESS_KEY: 'a secret of tests' });
    server = await startMemoryS3();
    folder = await mkdtemp(path.join(tmpdir(), 'pf-bucket-test-'));
    url = `s3://${BUCKET}/ledger?region=us-east-1&endpoint=${server.url}`;
    const parquet = await ParquetFiles.open();
    const store = openStore(new URL(url));
    await archiveKey(store, signer);
    const archive = await PartitionArchive.open(0, { store, parquet, signer });
    await archive.append(RECORDED_PAYMENTS.map((line, n) => toRow(recordAt(0, n, line))));
    await parquet.close();
  });
  afterAll(async () => {
    delete process.env['AWS_ACCESS_KEY_ID'];
    delete process.env['AWS_SECRET_ACCESS_KEY'];
    await server.close();
    await rm(folder, { recursive: true });
  });

  const pf = async (args: readonly string[], environment: NodeJS.ProcessEnv = {}) => {
    let out = '';
    let errors = '';
    const code = await runPf(['ledger', ...args, '--json'], {
      environment: { ARCHIVE_URL: url, XDG_CACHE_HOME: folder, ...environment },
      write: (text) => (out += text),
      writeError: (text) => (errors += text),
    });
    return { code, answer: out === '' ? null : (JSON.parse(out) as unknown), errors };
  };
  const count = ['query', 'SELECT count(*)::INTEGER AS events FROM events'];

  it('runs queries on copies in the cache folder', async () => {
    expect(await pf(count)).toMatchObject({ code: 0, answer: [{ events: EVENTS }] });
    const file = path.join(folder, 'november.ndjson');
    expect(await pf(['export', '--output', file, '--format', 'ndjson'])).toMatchObject({
      answer: { events: EVENTS },
    });
    expect((await readFile(file, 'utf8')).trimEnd().split('\n')).toHaveLength(EVENTS);
    const { answer } = await pf(['as-of', '2030-01-01']);
    expect(new Set((answer as { intent: { id: string } }[]).map(({ intent }) => intent.id)).size).toBeGreaterThan(1);
  });

  it('verifies it, without copies', async () => {
    const proof = await pf(['verify', '--no-log', '--key', signer.publicKey], { XDG_CACHE_HOME: '' });
    expect(proof).toMatchObject({ code: 0, answer: { partitions: [{ events: EVENTS, problems: [] }] } });
  });

  it('says what to do where copies have no place or no room', async () => {
    expect((await pf(count, { XDG_CACHE_HOME: '' })).errors).toContain('with ARCHIVE_CACHE');
    const none = { ARCHIVE_CACHE: path.join(folder, 'other'), ARCHIVE_CACHE_MB: '0.01' };
    expect((await pf(count, none)).errors).toContain('ARCHIVE_CACHE_MB');
  });

  it('reports a missing bucket', async () => {
    const { code, errors } = await pf(count, { ARCHIVE_URL: url.replace(BUCKET, 'no-such-bucket') });
    expect(code).toBe(1);
    expect(errors).toContain("The archive's bucket cannot be used: list heads/: NoSuchBucket");
  });

  it.each([
    ['s3://key:secret@bucket/a', 'must not have credentials: set AWS_ACCESS_KEY_ID'],
    ['https://bucket/a', 'must be the URL of a folder'],
    ['s3://BUCKET_/a', 'must be the URL of a folder'],
    ['s3://bucket/a?zone=1', 'has a parameter zone'],
    ['s3://bucket/a?region=a&region=b', 'has a parameter twice'],
    ['s3://bucket/a b', 'has a prefix with other characters'],
    ['s3://bucket/a?endpoint=storage.example.com', 'has an endpoint that is none'],
    ['s3://bucket/a?endpoint=https://key:secret@example.com', 'has an endpoint that is none'],
  ])('refuses %s', async (address, problem) => {
    const { code, errors } = await pf(count, { ARCHIVE_URL: address });
    expect({ code, errors }).toEqual({ code: 1, errors: expect.stringContaining(problem) });
    expect(errors).not.toContain('secret@');
  });
});
