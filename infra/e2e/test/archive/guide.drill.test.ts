import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, globSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readBackingStack, until } from '@pf/testing';
import kafkajs from 'kafkajs';
import { type ArchivedCluster, startArchivedCluster } from './harness.ts';
import { createTopic } from './topic.ts';

const run = promisify(execFile);
const ROOT = path.join(import.meta.dirname, '../../../..');
/** Where infra/local/setup/analysts.mjs has unpacked what the machine lacks. */
const TOOLS = path.join(ROOT, '.tools/analysts/usr');
const env = existsSync(TOOLS)
  ? {
      PATH: [path.join(TOOLS, 'bin'), '/usr/bin', '/bin'].join(path.delimiter),
      LD_LIBRARY_PATH: globSync(`${TOOLS}/lib/*-linux-gnu`).join(path.delimiter),
      PYTHONPATH: path.join(TOOLS, 'lib/python3/dist-packages'),
    }
  : process.env;

/** DuckDB for Python. */
const PYTHONPATH = [path.join(ROOT, '.tools/analysts-duckdb'), env['PYTHONPATH'] ?? ''].join(path.delimiter);

const guide = await readFile(path.join(ROOT, 'docs/guide/analysts.md'), 'utf8');
/** A block of the guide, of the log of this test. */
function block(language: string, mark: string): string {
  const found = [...guide.matchAll(new RegExp(`\`\`\`${language}\n([^\`]+)\n\`\`\``, 'g'))]
    .map(([, text = '']) => text)
    .filter((text) => text.includes(mark));
  expect([mark, found.length]).toEqual([mark, 1]);
  return (found[0] ?? '')
    .replaceAll('127.0.0.1:4012', readBackingStack().kafka)
    .replaceAll('intent.events', topic)
    .replaceAll('"analysis"', `"${topic}"`);
}

const topic = `guide-${randomUUID()}`;
const eventOf = (version: number): string => JSON.stringify({ intentId: 'pi_1', version, type: 'intent.updated' });
const kafka = new kafkajs.Kafka({
  clientId: 'guide',
  brokers: readBackingStack().kafka.split(','),
  logLevel: kafkajs.logLevel.NOTHING,
});
const admin = kafka.admin();
let folder: string;

/** Three committed events, and between them some of a transaction that was aborted. */
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'pf-analysts-'));
  const producer = kafka.producer({ transactionalId: topic, maxInFlightRequests: 1, idempotent: true });
  await Promise.all([admin.connect(), producer.connect()]);
  await createTopic(admin, topic);
  for (const [versions, ends] of [
    [[1, 2], 'commit'],
    [[3, 4], 'abort'],
    [[3], 'commit'],
  ] as const) {
    const transaction = await producer.transaction();
    await transaction.send({ topic, messages: versions.map((version) => ({ key: 'pi_1', value: eventOf(version) })) });
    await transaction[ends]();
  }
  await producer.disconnect();
});
afterAll(async () => {
  await admin.deleteTopics({ topics: [topic] });
  await admin.disconnect();
  await rm(folder, { recursive: true });
});

describe('the guide for analysts of the archive', () => {
  let archived: ArchivedCluster;
  beforeAll(async () => {
    archived = await startArchivedCluster();
  });
  afterAll(() => archived.cluster.close());

  it('counts with DuckDB for Python what a committed read of the log has, after kills under load', async () => {
    const least = await archived.createWhileKilled();
    const program = path.join(folder, 'archive.py');
    const each = 'for row in events.project("partition, intent_id, version").fetchall(): print("event", *row)';
    const text = block('python', 'import duckdb').replace('.local/archive', archived.cluster.archive);
    await writeFile(program, `${text}\n${each}\n`);
    const expected = [...(await archived.logged())].sort();
    expect(expected.length).toBeGreaterThanOrEqual(least);
    await until('the archive to have them all', async () => {
      const { stdout } = await run('python3', [program], { env: { ...env, PYTHONPATH } });
      const found = [...stdout.matchAll(/^event (.+)$/gm)].map(([, event]) => event).sort();
      if (found.length < expected.length) return false;
      expect(found).toEqual(expected);
      const counts = [...stdout.matchAll(/^│ [a-z_.]+ +│ +(\d+) │$/gm)].map(([, count]) => Number(count));
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(expected.length);
      return true;
    });
  });
});

describe('the guide for analysts of the log', () => {
  it('reads committed records with kcat', async () => {
    const { stdout } = await run('sh', ['-c', block('sh', 'kcat')], { env });
    expect(stdout.trim().split('\n')).toEqual([1, 2, 3].map(eventOf));
  });

  it('reads committed records with Python', async () => {
    const program = path.join(folder, 'read.py');
    await writeFile(program, block('python', 'confluent_kafka'));
    const { stdout } = await run('python3', [program], { env });
    expect(stdout.trim().split('\n')).toEqual([1, 2, 3].map((version) => `pi_1 ${version} intent.updated`));
  });
});
