import { describe, expect, it } from '@jest/globals';
import type { RequestRecord } from '@pf/database';
import type { AccountId } from '@pf/domain';
import { createLogger } from '@pf/runtime';
import { until } from '@pf/testing';
import { RequestRecords } from '../src/request-records.ts';

const record = (accountId: string, livemode: boolean): RequestRecord => ({
  accountId: accountId as AccountId,
  livemode,
  at: new Date(),
  method: 'GET',
  route: '/v1/intents',
  path: '/v1/intents',
  status: 200,
  errorCode: null,
  keyId: 'key_1',
  userId: null,
  intentId: null,
  durationMs: 1,
  requestId: 'req_1',
});

/** Records on a database that takes as long as `write` says. */
function start(write: (accounts: readonly string[]) => Promise<unknown>) {
  const scans = { query: ({ values }: { values: readonly string[][] }) => write(values[3] ?? []) };
  const database = { scans } as unknown as ConstructorParameters<typeof RequestRecords>[0]['database'];
  const records = new RequestRecords({ database, log: createLogger('test', 'silent'), flushMs: 5 });
  const many = (count: number, accountId = 'acct_1', livemode = true): void => {
    for (let n = 0; n < count; n++) records.record(record(accountId, livemode));
  };
  return { records, many };
}

describe('RequestRecords', () => {
  it('writes what waits in batches of 1,000, and the rest when it stops', async () => {
    const written: number[] = [];
    const { records, many } = start((accounts) => Promise.resolve(written.push(accounts.length)));
    many(2_500);
    records.start();
    await until('three batches', () => written.length === 3);
    expect(written).toEqual([1_000, 1_000, 500]);
    many(3);
    await records.stop();
    expect(written.reduce((sum, count) => sum + count, 0)).toBe(2_503);
  });

  it('keeps 10,000 in all while Postgres does not respond, and drops the others at once', async () => {
    let answer = (): void => undefined;
    let calls = 0;
    const written: number[] = [];
    const { records, many } = start((accounts) => {
      written.push(accounts.length);
      return calls++ === 0 ? new Promise<void>((resolve) => (answer = resolve)) : Promise.resolve();
    });
    many(1);
    records.start();
    await until('the first statement', () => calls === 1);
    for (let account = 0; account < 20; account++) many(1_000, `acct_${account}`);
    answer();
    await records.stop();
    expect(written.reduce((sum, count) => sum + count, 0)).toBe(1 + 10_000);
  });

  it('keeps room for others, however many requests an account or test mode makes', async () => {
    const written: string[] = [];
    const { records, many } = start((accounts) => Promise.resolve(written.push(...accounts)));
    many(50_000, 'busy');
    for (let account = 0; account < 50; account++) many(1_000, `test_${account}`, false);
    many(100, 'quiet');
    await records.stop();
    const of = (name: RegExp): number => written.filter((account) => name.test(account)).length;
    expect([of(/busy/), of(/test/), of(/quiet/)]).toEqual([4_000, 4_000, 100]);
  });

  it('drops what could not be written, and goes on with what comes', async () => {
    const written: number[] = [];
    let failed = 0;
    const { records, many } = start((accounts) =>
      failed++ === 0 ? Promise.reject(new Error('no connection')) : Promise.resolve(written.push(accounts.length)),
    );
    many(2_000);
    records.start();
    await until('it to fail', () => failed > 0);
    many(7);
    await until('the next ones', () => written.length > 0);
    await records.stop();
    expect(written).toEqual([7]);
  });
});
