import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ledger, ParquetFiles, partitionsIn, S3Store, verifyPartition } from '@pf/archive';
import { freePorts, until } from '@pf/testing';
import { type FaultyProxy, startFaultyProxy } from '../../../../packages/archive/test/store/faulty-proxy.ts';
import { describeS3Store, type S3Server } from '../../../../packages/archive/test/store/s3-suite.ts';
import { type ArchivedCluster, startArchivedCluster } from './harness.ts';

const TEST_MS = 180_000;
const BUCKET = 'archive';
const credentials = { accessKeyId: 'AKIDTEST', secretAccessKey: 'a secret of tests' };

/** Versity's gateway over a folder: S3 with signatures, as programs that know nothing of ours speak it. */
async function startVersityGateway(): Promise<S3Server> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pf-s3-test-'));
  await mkdir(path.join(folder, BUCKET));
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(
    process.env['VERSITYGW'] ?? 'versitygw',
    ['--port', `127.0.0.1:${port}`, '--quiet', 'posix', folder],
    {
      env: { ROOT_ACCESS_KEY_ID: credentials.accessKeyId, ROOT_SECRET_ACCESS_KEY: credentials.secretAccessKey },
      stdio: 'ignore',
    },
  );
  const ended = once(child, 'close');
  await until('the S3 server', async () => (await fetch(url)).status > 0);
  return {
    url,
    bucket: BUCKET,
    credentials,
    async close() {
      child.kill();
      await ended;
      await rm(folder, { recursive: true });
    },
  };
}

describeS3Store("a bucket of Versity's gateway", startVersityGateway);

describe('the archive service with a bucket', () => {
  let server: S3Server;
  let proxy: FaultyProxy;
  let archived: ArchivedCluster;
  let store: S3Store;
  let copies: string;

  beforeAll(async () => {
    server = await startVersityGateway();
    proxy = await startFaultyProxy(server.url);
    const prefix = `s3://${BUCKET}/ledger?region=us-east-1&endpoint=`;
    store = new S3Store(new URL(prefix + server.url), { credentials });
    copies = await mkdtemp(path.join(tmpdir(), 'pf-copies-test-'));
    archived = await startArchivedCluster({
      ARCHIVE_URL: prefix + proxy.url,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    });
  }, TEST_MS);
  afterAll(async () => {
    await archived.cluster.close();
    await proxy.close();
    await server.close();
    await rm(copies, { recursive: true });
  });

  it(
    'has exactly the committed events, in their order, whatever is killed and whichever responses are lost',
    async () => {
      for (const text of ['/events/', '/manifests/', '/heads/'])
        for (let n = 0; n < 10; n++) proxy.fail('PUT', text, 'lost', { status: 503, code: 'SlowDown' });
      const creates = await archived.createWhileKilled();
      const events = await archived.logged();
      expect(events.length).toBeGreaterThanOrEqual(creates);
      const found = async (): Promise<readonly unknown[]> => {
        const ledger = await Ledger.open(store, { folder: copies, maxBytes: 1024 ** 3 });
        const { rows } = await ledger.query(
          "SELECT concat_ws(' ', partition, intent_id, version) AS row FROM events ORDER BY partition, log_offset",
        );
        ledger.close();
        return rows.map(({ row }) => row);
      };
      // Thirty writes fail on the way, each with a pause before the next try.
      await until('the archive to have every event', async () => (await found()).length >= events.length, 120_000);
      expect(await found()).toEqual(events);
      const parquet = await ParquetFiles.open();
      for (const partition of await partitionsIn(store))
        expect((await verifyPartition(partition, { store, parquet, publicKey: null, reader: null })).problems).toEqual(
          [],
        );
      await parquet.close();
    },
    TEST_MS,
  );
});
