import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  answerOnce,
  createWebhookSecret,
  decrypt,
  encrypt,
  EventSealer,
  findSponsors,
  openAccount,
  RECOVERY_DAYS,
  openColdKey,
  rotateSecretsKey,
  sealColdKey,
  setSponsor,
  verifySecretsKey,
  webhookSecrets,
} from '../../src/index.ts';
import type { ChainId } from '@pf/domain';
import { ConfigurationError } from '@pf/runtime';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';

describe('SECRETS_KEY', () => {
  const [first, second] = [randomBytes(32), randomBytes(32)];
  let own: OwnDatabase;
  beforeAll(async () => {
    own = await createOwnDatabase();
  });
  afterAll(() => own.close());

  it('is replaced while services run: all secrets are encrypted with the new key', async () => {
    const { database } = own;
    const account = await openAccount(database, first, { name: 'rotating' });
    const owner = { accountId: account.id, livemode: false };
    // With one key its id is left out, as in 1.0.0.
    await verifySecretsKey(database, first);
    await verifySecretsKey(database, [first, second]);

    const services = [second, first];
    const key = { ...owner, operation: 'test', idempotencyKey: 'key' };
    const at = new Date();
    await answerOnce(database, first, key, at, () => Promise.resolve({ secret: 'whsec_1' }));
    const made = await createWebhookSecret(database, services, owner, new Date(Date.now() + 1_000));
    // Keys of events, and what recovers them: of the days around today.
    const key1 = encrypt(first, 'pi_1/1', 'key');
    await database.sql.query(
      `INSERT INTO service.intent_keys (intent_id, version, partition, ciphertext, at)
       SELECT 'pi_1', 1, 0, $1, now()`,
      [key1],
    );
    const sponsor = {
      chain: 'solana:1' as ChainId,
      url: 'https://kora.example/key',
      headers: { a: 'b' },
      context: { policyId: 'c' },
      updatedAt: at,
    };
    await setSponsor(database, first, account.id, sponsor);
    // Keys of intents that have left: one encrypted, and one from before they were.
    const coldKey = randomBytes(32);
    await database.sql.query(
      `INSERT INTO ledger.cold_intents
         (id, partition, version, account_id, livemode, created_at, digest, bundle, first_byte, bytes, key)
       SELECT id, 0, 1, $1, false, now(), '', 'cold/1', 0, 1, key
         FROM unnest($2::text[], $3::bytea[]) AS one (id, key)`,
      [account.id, ['pi_1', 'pi_2'], [sealColdKey(first, 'pi_1', coldKey), coldKey]],
    );
    await new EventSealer(database, first).renew(Date.now());
    expect(await rotateSecretsKey(database, services)).toEqual({ rotated: 7 + RECOVERY_DAYS + 1, unreadable: [] });
    const { rows } = await database.sql.query<{ ciphertext: Buffer }>('SELECT ciphertext FROM service.intent_keys');
    expect(rows.map(({ ciphertext }) => decrypt(second, 'pi_1/1', ciphertext))).toEqual(['key']);
    const cold = await database.sql.query<{ id: string; key: Buffer }>('SELECT id, key FROM ledger.cold_intents');
    expect(cold.rows.map(({ key }) => key.length)).toEqual([77, 77]);
    expect(cold.rows.map(({ id, key }) => openColdKey(second, id, key))).toEqual([coldKey, coldKey]);
    expect(await findSponsors(database, second, account.id, [sponsor.chain])).toEqual([sponsor]);
    await new EventSealer(database, second).renew(Date.now());
    expect(await rotateSecretsKey(database, services)).toEqual({ rotated: 0, unreadable: [] });
    for (const keyring of [second, services])
      expect((await webhookSecrets(database, keyring, owner)).map(({ secret }) => secret)).toEqual([
        made,
        account.webhookSecrets.test,
      ]);
    expect(await webhookSecrets(database, second, { ...owner, livemode: true })).toMatchObject([
      { secret: account.webhookSecrets.live },
    ]);
    expect(await answerOnce(database, second, key, at, () => Promise.reject(new Error('is done already')))).toEqual({
      answer: { secret: 'whsec_1' },
      replayed: true,
    });
    await verifySecretsKey(database, second);
    await expect(verifySecretsKey(database, first)).rejects.toBeInstanceOf(ConfigurationError);
  });

  it('is refused at the start when it is not that of the others', async () => {
    // Two keys: what they encrypt is not to be rotated.
    await openAccount(own.database, [second, first], { name: 'others' });
    await verifySecretsKey(own.database, second);
    await expect(verifySecretsKey(own.database, randomBytes(32))).rejects.toThrow('SECRETS_KEY is not the one');
    // Without a canary, too: by the newest secret.
    await own.database.sql.query('DELETE FROM service.secrets_canary');
    await expect(verifySecretsKey(own.database, randomBytes(32))).rejects.toThrow('SECRETS_KEY is not the one');
    await verifySecretsKey(own.database, second);
  });

  it('leaves what no key can read as it is, and says so', async () => {
    const account = await openAccount(own.database, randomBytes(32), { name: 'foreign' });
    const { rotated, unreadable } = await rotateSecretsKey(own.database, second);
    expect([rotated, unreadable.length]).toEqual([0, 2]);
    await own.database.sql.query('DELETE FROM service.webhook_secrets WHERE account_id = $1', [account.id]);
  });
});
