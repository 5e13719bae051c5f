import { describe, expect, it } from '@jest/globals';
import { RECORDED_PER_MINUTE } from '@pf/contracts/dashboard';
import type { RequestRecord } from '@pf/database';
import type { AccountId } from '@pf/domain';
import { createLogger } from '@pf/runtime';
import { until } from '@pf/testing';
import { RequestRecords } from '../src/request-records.ts';

const NOON = Date.UTC(2026, 10, 27, 12);

const record = (accountId: string, livemode: boolean, at: number): Omit<RequestRecord, 'omitted'> => ({
  accountId: accountId as AccountId,
  livemode,
  at: new Date(at),
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
function start(write: (accounts: readonly string[], omitted: readonly number[]) => Promise<unknown>) {
  const scans = {
    query: ({ values }: { values: readonly (readonly unknown[])[] }) =>
      write((values[3] ?? []) as readonly string[], (values[15] ?? []) as readonly number[]),
  };
  const database = { scans } as unknown as ConstructorParameters<typeof RequestRecords>[0]['database'];
  const records = new RequestRecords({ database, log: createLogger('test', 'silent'), flushMs: 5 });
  const many = (count: number, accountId = 'acct_1', livemode = true, at = NOON): void => {
    for (let n = 0; n < count; n++) records.record(record(accountId, livemode, at));
  };
  /** As many, of accounts that make few requests each. */
  const ofMany = (count: number): void => {
    for (let n = 0; n < count; n++) many(1, `acct_${n}`);
  };
  return { records, many, ofMany };
}

describe('RequestRecords', () => {
  it('writes what waits in batches of 1,000, and the rest when it stops', async () => {
    const written: number[] = [];
    const { records, ofMany } = start((accounts) => Promise.resolve(written.push(accounts.length)));
    ofMany(2_500);
    records.start();
    await until('three batches', () => written.length === 3);
    expect(written).toEqual([1_000, 1_000, 500]);
    ofMany(3);
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
    for (let account = 0; account < 40; account++) many(500, `acct_${account}`);
    answer();
    await records.stop();
    expect(written.reduce((sum, count) => sum + count, 0)).toBe(1 + 10_000);
  });

  it('keeps room for others, however many requests an account or test mode makes', async () => {
    const written: string[] = [];
    const { records, many } = start((accounts) => Promise.resolve(written.push(...accounts)));
    many(50_000, 'busy');
    for (let account = 0; account < 50; account++) many(500, `test_${account}`, false);
    many(100, 'quiet');
    await records.stop();
    const of = (name: RegExp): number => written.filter((account) => name.test(account)).length;
    expect([of(/busy/), of(/test/), of(/quiet/)]).toEqual([RECORDED_PER_MINUTE, 4_000, 100]);
  });

  it('records one a second of an account that makes too many in a minute, with how many are omitted', async () => {
    const written: (readonly [account: string, omitted: number])[] = [];
    const { records, many } = start((accounts, omitted) =>
      Promise.resolve(written.push(...accounts.map((account, index) => [account, omitted[index] ?? NaN] as const))),
    );
    for (let second = 0; second < 120; second++) {
      many(100, 'busy', true, NOON + second * 1_000);
      many(1, 'quiet', true, NOON + second * 1_000);
    }
    await records.stop();
    const omitted = written.filter(([account]) => account === 'busy').map(([, count]) => count);
    const inMinute = [...Array<number>(RECORDED_PER_MINUTE).fill(0), 0, ...Array<number>(53).fill(99)];
    expect(omitted).toEqual([...inMinute, 99, ...inMinute.slice(1)]);
    expect(written.filter(([account]) => account === 'quiet').every(([, count]) => count === 0)).toBe(true);
    expect(omitted.length + omitted.reduce((sum, count) => sum + count, 0)).toBe(120 * 100 - 99);
  });

  it('drops what could not be written, and goes on with what comes', async () => {
    const written: number[] = [];
    let failed = 0;
    const { records, ofMany } = start((accounts) =>
      failed++ === 0 ? Promise.reject(new Error('no connection')) : Promise.resolve(written.push(accounts.length)),
    );
    ofMany(2_000);
    records.start();
    await until('it to fail', () => failed > 0);
    ofMany(7);
    await until('the next ones', () => written.length > 0);
    await records.stop();
    expect(written).toEqual([7]);
  });
});
