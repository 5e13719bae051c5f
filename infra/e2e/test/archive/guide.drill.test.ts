import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, globSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readBackingStack } from '@pf/testing';
import kafkajs from 'kafkajs';
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

describe('the guide for analysts', () => {
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
