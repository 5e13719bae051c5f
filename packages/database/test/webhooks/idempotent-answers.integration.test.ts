import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { answerOnce, forgetAnswers } from '../../src/index.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';

const HOUR = 3_600_000;

describe('The response to a request with an idempotency key', () => {
  const keyring = randomBytes(32);
  const now = new Date();
  const key = { accountId: 'acct_1', livemode: false, operation: 'test', idempotencyKey: 'key' };
  let own: OwnDatabase;
  let works = 0;
  beforeAll(async () => {
    own = await createOwnDatabase();
  });
  afterAll(() => own.close());

  const ask = (change: Partial<typeof key> | null = {}, at = now) =>
    answerOnce(own.database, keyring, change && { ...key, ...change }, at, () => Promise.resolve({ work: ++works }));

  it('repeats that of the first one, also to requests that come at the same time', async () => {
    const answers = await Promise.all([ask(), ask(), ask()]);
    expect(answers.map(({ answer }) => answer)).toEqual([{ work: 1 }, { work: 1 }, { work: 1 }]);
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
  });

  it('is another one for another account, mode, operation or key, and without a key', async () => {
    works = 1;
    for (const change of [
      { accountId: 'acct_2' },
      { livemode: true },
      { operation: 'x' },
      { idempotencyKey: 'x' },
      null,
    ])
      expect(await ask(change)).toEqual({ answer: { work: works }, replayed: false });
    expect(works).toBe(6);
  });

  it('is not kept if the work fails, nor is what the work has written', async () => {
    const failing = { ...key, idempotencyKey: 'failing' };
    const write = answerOnce(own.database, keyring, failing, now, async (client) => {
      await client.query(`INSERT INTO service.secrets_canary (id, ciphertext) VALUES ('left', '')`);
      throw new Error('refused');
    });
    await expect(write).rejects.toThrow('refused');
    expect(await own.database.prisma.secretsCanary.count({ where: { id: 'left' } })).toBe(0);
    expect(await ask({ idempotencyKey: 'failing' })).toMatchObject({ replayed: false });
  });

  it('is forgotten after 24 h', async () => {
    const later = new Date(now.getTime() + 24 * HOUR);
    expect(await ask({}, new Date(later.getTime() - 1))).toMatchObject({ replayed: true });
    expect(await ask({}, later)).toMatchObject({ replayed: false });
    expect(await ask({}, later)).toMatchObject({ replayed: true });
    expect(await forgetAnswers(own.database, later, 3)).toBe(3);
    expect(await forgetAnswers(own.database, later, 100)).toBe(2);
    expect(await own.database.prisma.idempotentAnswer.count()).toBe(1);
  });
});
