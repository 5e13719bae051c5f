import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { AccountId, CommandId, IntentId } from '@pf/domain';
import { base58 } from '@scure/base';

const BYTES = 16;
const pattern = /^pi_[1-9A-HJ-NP-Za-km-z]{16,22}$/;

/** A new intent id in the given partition: `pi_` and base58 of 16 bytes, byte 0 the partition. */
export function newIntentId(partition: number): IntentId {
  const bytes = randomBytes(BYTES);
  bytes[0] = partition;
  return `pi_${base58.encode(bytes)}` as IntentId;
}

/** The id where `text` is one of a partition below `partitions`, else null: it can name no intent. */
export function parseIntentId(
  text: string,
  partitions: number,
): { readonly id: IntentId; readonly partition: number } | null {
  if (!pattern.test(text)) return null;
  const bytes = base58.decode(text.slice(3));
  const partition = bytes[0];
  if (bytes.length !== BYTES || partition === undefined || partition >= partitions) return null;
  return { id: text as IntentId, partition };
}

/** The partition of an id made by newIntentId. */
export function partitionOf(id: IntentId): number {
  const partition = base58.decode(id.slice(3))[0];
  if (partition === undefined) throw new Error(`no intent id: ${id}`);
  return partition;
}

/** Creates with one idempotency key go to one partition, so that one writer sees them all. */
export function partitionOfKey(
  account: AccountId,
  livemode: boolean,
  idempotencyKey: string,
  partitions: number,
): number {
  const digest = createHash('sha256')
    .update(JSON.stringify([account, livemode, idempotencyKey]))
    .digest();
  return digest.readUInt32BE(0) % partitions;
}

/** Any partition, evenly. */
export const randomPartition = (partitions: number): number => randomBytes(4).readUInt32BE(0) % partitions;

/** The id of an event: the same for ever, from the intent and the version it made. */
export const eventIdOf = (id: IntentId, version: number): string =>
  `evt_${base58.encode(createHash('sha256').update(`${id}:${version}`).digest().subarray(0, BYTES))}`;

export const newDeliveryId = (): string => `whd_${base58.encode(randomBytes(BYTES))}`;
export const newWebhookEndpointId = (): string => `whe_${base58.encode(randomBytes(BYTES))}`;
export const newWebhookSecretId = (): string => `whs_${base58.encode(randomBytes(BYTES))}`;
export const newAccountId = (): AccountId => `acct_${base58.encode(randomBytes(BYTES))}` as AccountId;
export const newApiKeyId = (): string => `key_${base58.encode(randomBytes(BYTES))}`;
export const newCommandId = (): CommandId => randomUUID() as CommandId;
