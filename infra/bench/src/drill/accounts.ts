import { apiClient, type WebhookReceiver } from '@pf/testing';
import { z } from 'zod';
import type { DrillRig } from './rig.ts';

const createdKey = z.object({ id: z.string(), key: z.string() });
const rotated = z.object({ secret: z.string() });

/** What an account changes while it goes on: after the backup, so a restored database lacks it. */
export interface AccountChanges {
  /** A key that was revoked. */
  readonly revoked: { readonly id: string; readonly key: string };
  /** The secret that signs webhooks now. */
  readonly secret: string;
  /** When the URL was removed, ms since 1970. */
  readonly removedAt: number;
  readonly count: number;
}

/** Before the backup: a key, and a URL beside the one that stays. */
export async function prepareAccount(rig: DrillRig, removed: WebhookReceiver): Promise<AccountChanges['revoked']> {
  await rig.mustPf('webhooks', 'add', removed.url);
  return createdKey.parse(await rig.mustPf('keys', 'create'));
}

/** After the backup: revokes the key, rotates the secret, removes the URL. */
export async function changeAccount(
  rig: DrillRig,
  revoked: AccountChanges['revoked'],
  removed: WebhookReceiver,
): Promise<AccountChanges> {
  const made = await makeChanges(rig, revoked.id, removed);
  return { revoked, removedAt: Date.now(), ...made };
}

/** The steps of docs/operations/database-set-back.md that are security. */
export async function makeChanges(
  rig: DrillRig,
  keyId: string,
  removed: WebhookReceiver,
): Promise<Pick<AccountChanges, 'secret' | 'count'>> {
  await rig.mustPf('keys', 'revoke', keyId);
  const { secret } = rotated.parse(await rig.mustPf('webhooks', 'rotate-secret'));
  await rig.mustPf('webhooks', 'remove', removed.url);
  return { secret, count: 3 };
}

/** True when the API refuses the key. */
export async function isRefused(rig: DrillRig, key: string): Promise<boolean> {
  return (await apiClient(await rig.api(), key).list('limit=1')).status === 401;
}
