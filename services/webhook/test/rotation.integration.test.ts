import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { webhooks } from '@pf/client';
import { createWebhookSecret, type OpenedAccount } from '@pf/database';
import { until } from '@pf/testing';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { Harness, status } from './harness.ts';

const HOUR_MS = 3_600_000;

/** Whether it returns: svix returns nothing, all throw. */
const accepts = (verify: () => Promise<unknown>): Promise<boolean> =>
  verify().then(
    () => true,
    () => false,
  );

describe('A delivery around the rotation of its secret', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await Harness.open();
    await harness.start();
  });
  afterAll(() => harness.close());

  /** Rotates now or later. @returns the new secret */
  const rotate = ({ id }: OpenedAccount, inMs = 0): Promise<string> =>
    createWebhookSecret(
      harness.cluster.database,
      harness.cluster.secretsKey,
      { accountId: id, livemode: false },
      new Date(Date.now() + inMs),
    );

  /** Libraries compare the time of a delivery with the machine's, so the secrets move into the past instead. */
  const age = ({ id }: OpenedAccount, ms: number): Promise<unknown> =>
    harness.cluster.database.sql.query(
      `UPDATE service.webhook_secrets SET valid_from = valid_from - $2 * interval '1 ms' WHERE account_id = $1`,
      [id, ms],
    );

  it.each([
    { when: 'before', later: HOUR_MS, aged: 0, old: true, next: false },
    { when: 'during', later: 0, aged: HOUR_MS, old: true, next: true },
    { when: 'after', later: 0, aged: 25 * HOUR_MS, old: false, next: true },
  ])('verifies with svix, standardwebhooks and our client $when it', async ({ later, aged, old, next }) => {
    const { account, receiver } = await harness.account(status(204));
    const oldSecret = account.webhookSecrets.test;
    const nextSecret = await rotate(account, later);
    await age(account, aged);
    await harness.emit(account.id);
    await until('the delivery to arrive', () => receiver.received.length === 1);
    const { raw, headers } = receiver.received[0] ?? { raw: '', headers: {} };

    for (const [secret, valid] of [
      [oldSecret, old],
      [nextSecret, next],
    ] as const) {
      const verifications = {
        svix: async () => new SvixWebhook(secret).verify(raw, headers as Record<string, string>),
        standardwebhooks: async () => new StandardWebhook(secret).verify(raw, headers as Record<string, string>),
        client: () => webhooks.verify(raw, headers, secret),
      };
      for (const [library, verify] of Object.entries(verifications))
        expect({ library, valid: await accepts(verify) }).toEqual({ library, valid });
    }
    const both = [oldSecret, nextSecret];
    expect(await webhooks.verify(raw, headers, both)).toMatchObject({ type: 'intent.detected' });
    // A proxy that passes on only X-PF-Signature, which the secret that is current signs alone.
    const bare = { 'x-pf-signature': headers['x-pf-signature'] };
    expect(await webhooks.verify(raw, bare, both, { toleranceSeconds: Infinity })).toMatchObject({
      type: 'intent.detected',
    });
  });
});
