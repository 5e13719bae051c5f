import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createWebhookSecret, openAccount, secretsInForce, webhookSecrets } from '../../src/index.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';

const HOUR = 3_600_000;

describe('Webhook secrets', () => {
  const secretsKey = randomBytes(32);
  let own: OwnDatabase;
  beforeAll(async () => {
    own = await createOwnDatabase();
  });
  afterAll(() => own.close());

  it('are stored encrypted, bound to their row and to SECRETS_KEY', async () => {
    const { database } = own;
    const account = await openAccount(database, secretsKey, { name: 'secrets' });
    const owner = { accountId: account.id, livemode: false };
    expect(account.webhookSecrets.test).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await webhookSecrets(database, secretsKey, owner)).toMatchObject([{ secret: account.webhookSecrets.test }]);
    const { rows } = await database.sql.query<{ ciphertext: Buffer }>('SELECT ciphertext FROM service.webhook_secrets');
    for (const { ciphertext } of rows) expect(ciphertext.includes('whsec_')).toBe(false);

    await expect(webhookSecrets(database, Buffer.alloc(32, 1), owner)).rejects.toThrow('SECRETS_KEY is not the one');
    await database.sql.query(
      `UPDATE service.webhook_secrets s
        SET ciphertext = other.ciphertext
        FROM service.webhook_secrets other WHERE s.account_id = $1 AND other.account_id = $1 AND s.id <> other.id`,
      [account.id],
    );
    await expect(webhookSecrets(database, secretsKey, owner)).rejects.toThrow('cannot be decrypted');
  });

  it('overlap for 24 hours after a rotation, can begin later, and are deleted when they no longer sign', async () => {
    const { database } = own;
    const account = await openAccount(database, secretsKey, { name: 'rotating' });
    const owner = { accountId: account.id, livemode: true };
    const first = account.webhookSecrets.live;
    const begin = Date.now();
    const second = await createWebhookSecret(database, secretsKey, owner, new Date(begin + HOUR));
    const secrets = await webhookSecrets(database, secretsKey, owner);
    expect(secretsInForce(secrets, begin - HOUR)).toEqual([first]);
    expect(secretsInForce(secrets, begin + 10)).toEqual([first]);
    expect(secretsInForce(secrets, begin + HOUR)).toEqual([second, first]);
    expect(secretsInForce(secrets, begin + 25 * HOUR - 1)).toEqual([second, first]);
    expect(secretsInForce(secrets, begin + 25 * HOUR)).toEqual([second]);

    await database.sql.query(
      "UPDATE service.webhook_secrets SET valid_from = valid_from - interval '3 days' WHERE account_id = $1",
      [account.id],
    );
    const third = await createWebhookSecret(database, secretsKey, owner);
    expect((await webhookSecrets(database, secretsKey, owner)).map(({ secret }) => secret)).toEqual([third, second]);
  });
});
