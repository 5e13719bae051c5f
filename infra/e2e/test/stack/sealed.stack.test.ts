import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { IntentId } from '@pf/domain';
import { createEventLog, type LogReader } from '@pf/event-log';
import { apiClient, pf, readStack, until } from '@pf/testing';
import { z } from 'zod';

const PARTITIONS = 6;
const stack = readStack();
const api = apiClient(stack.baseUrl, stack.apiKeys.test);
/** Nothing else writes them. */
const [NAME, KEY] = ['Jo Doe', 'basket'].map((text) => `${text} ${Date.now().toString(36)}`);
const rows = z.array(z.object({ type: z.string(), event: z.string() }));

describe('the personal data of an intent of the local stack', () => {
  let reader: LogReader;
  let id: IntentId;
  beforeAll(async () => {
    const log = createEventLog({
      brokers: stack.kafka.split(','),
      partitions: PARTITIONS,
      clientId: 'test',
      replication: 1,
    });
    reader = await log.reader('test');
    const { body } = await api.create({
      chain: 'eip155:84532',
      token: 'USDC',
      amount: '1',
      requestor: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      metadata: { name: NAME },
      idempotencyKey: KEY,
    });
    id = body.intent.id;
  });
  afterAll(() => reader.close());

  /** Its events, as they are in the log. */
  async function logged(): Promise<readonly string[]> {
    const found: string[] = [];
    for (const [partition, end] of (await reader.endOffsets('intent.events')).entries()) {
      const start = await reader.startOffset('intent.events', partition);
      for await (const { records } of reader.read('intent.events', partition, start, end))
        found.push(...records.flatMap(({ key, value }) => (key === id && value !== null ? [value] : [])));
    }
    return found;
  }
  /** Its events, as they are in the archive. */
  const archived = async () =>
    rows.parse(
      await pf('ledger', 'query', `SELECT type, event FROM events WHERE intent_id = '${id}' ORDER BY version`),
    );

  it('is sealed in the log and the archive, and is erased without any set-up', async () => {
    expect((await api.get(id)).body.intent).toMatchObject({ metadata: { name: NAME }, idempotencyKey: KEY });
    const events = await until('the archive to have it', async () => {
      const found = await archived();
      return found.length > 0 && found;
    });
    for (const text of [...(await logged()), ...events.map(({ event }) => event)]) {
      expect(text).toContain(id);
      for (const secret of [NAME, KEY]) expect(text).not.toContain(secret);
    }

    expect(await pf('privacy', 'erase', '--intent', id, '--yes')).toMatchObject({ unsealed: 0, outstanding: 0 });
    const { intent } = (await api.get(id)).body;
    expect(intent).toMatchObject({ metadata: {}, erasedAt: expect.any(String) as unknown });
    expect(intent).not.toHaveProperty('idempotencyKey');
    await until('the archive to say so', async () =>
      (await archived()).some(({ type }) => type === 'personal_data_erased'),
    );
  });
});
