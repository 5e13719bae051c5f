import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { AccountId, Arrival, ChainId, CommandId, DepositId, Instant, IntentId } from '@pf/domain';
import { base58 } from '@scure/base';
import { v5 as named, v7 as timeOrdered } from 'uuid';

const BYTES = 16;
const pattern = /^pi_[1-9A-HJ-NP-Za-km-z]{16,22}$/;
const depositPattern = /^dp_[1-9A-HJ-NP-Za-km-z]{16,22}$/;
const paymentLinkPattern = /^pl_[1-9A-HJ-NP-Za-km-z]{1,22}$/;

/** A new intent id: `pi_` and 16 bytes in base58. Byte 0 is the partition, the others are random. */
export function newIntentId(partition: number): IntentId {
  const bytes = randomBytes(BYTES);
  bytes[0] = partition;
  return `pi_${base58.encode(bytes)}` as IntentId;
}

/** Parses an intent id. Null if it cannot be one: malformed, or of a partition that does not exist. */
export function parseIntentId(
  text: string,
  partitions: number,
): { readonly id: IntentId; readonly partition: number } | null {
  const partition = pattern.test(text) ? partitionIn(text, partitions) : null;
  return partition === null ? null : { id: text as IntentId, partition };
}

/** The same of a deposit's id. */
export function parseDepositId(
  text: string,
  partitions: number,
): { readonly id: DepositId; readonly partition: number } | null {
  const partition = depositPattern.test(text) ? partitionIn(text, partitions) : null;
  return partition === null ? null : { id: text as DepositId, partition };
}

function partitionIn(id: string, partitions: number): number | null {
  const bytes = base58.decode(id.slice(3));
  const partition = bytes[0];
  return bytes.length !== BYTES || partition === undefined || partition >= partitions ? null : partition;
}

/** The partition of an id that `newIntentId` or `depositIdOf` made. */
export function partitionOf(id: IntentId | DepositId): number {
  const partition = base58.decode(id.slice(3))[0];
  if (partition === undefined) throw new Error(`not an id with a partition: ${id}`);
  return partition;
}

/**
 * The id of the deposit that a transfer is to an account: the same one, whoever finds it and however often. The block
 * is no part of it: after a reorg the same transfer is the same deposit.
 */
export function depositIdOf(
  accountId: AccountId,
  chain: ChainId,
  { hash, index }: Pick<Arrival, 'hash' | 'index'>,
  partitions: number,
): DepositId {
  const digest = createHash('sha256')
    .update(JSON.stringify([accountId, chain, hash, index]))
    .digest();
  const bytes = digest.subarray(4, 4 + BYTES);
  bytes[0] = digest.readUInt32BE(0) % partitions;
  return `dp_${base58.encode(bytes)}` as DepositId;
}

/** The partition of creates with this idempotency key: always the same one, so that one writer decides them all. */
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

/** A random partition, uniformly distributed. */
export const randomPartition = (partitions: number): number => randomBytes(4).readUInt32BE(0) % partitions;

/**
 * The id of an event, which is stored with it. Where a log has lost its end, versions are given out again: with its
 * time, the later event is another one to deliveries and receivers.
 *
 * @param at the event's time; null in examples
 */
export const eventIdOf = (id: IntentId | DepositId, version: number, at: Instant | null = null): string =>
  `evt_${base58.encode(
    createHash('sha256')
      .update([id, version, at ?? []].flat().join(':'))
      .digest()
      .subarray(0, BYTES),
  )}`;

/** The id of an identity at a provider, derived from what the provider knows its person by. */
export const identityIdOf = (issuer: string, subject: string): string =>
  `idn_${base58.encode(
    createHash('sha256')
      .update(JSON.stringify([issuer, subject]))
      .digest()
      .subarray(0, BYTES),
  )}`;

/** The id of an event that is of no intent. */
export const newEventId = (): string => `evt_${base58.encode(randomBytes(BYTES))}`;
export const newRequestRecordId = (): string => `rqr_${base58.encode(randomBytes(BYTES))}`;
export const newDeliveryId = (): string => `whd_${base58.encode(randomBytes(BYTES))}`;
export const newWebhookEndpointId = (): string => `whe_${base58.encode(randomBytes(BYTES))}`;
export const newWebhookReplayId = (): string => `whr_${base58.encode(randomBytes(BYTES))}`;
/** Tells the wake of a replay from that of a URL. */
export const isReplayId = (id: string): boolean => id.startsWith('whr_');
export const newPaymentLinkId = (): string => `pl_${base58.encode(randomBytes(BYTES))}`;
export const isPaymentLinkId = (text: string): boolean => paymentLinkPattern.test(text);
export const newWebhookSecretId = (): string => `whs_${base58.encode(randomBytes(BYTES))}`;
export const newAccountId = (): AccountId => `acct_${base58.encode(randomBytes(BYTES))}` as AccountId;
export const newApiKeyId = (): string => `key_${base58.encode(randomBytes(BYTES))}`;
export const newUserId = (): string => `usr_${base58.encode(randomBytes(BYTES))}`;
export const newPersonalTokenId = (): string => `tok_${base58.encode(randomBytes(BYTES))}`;
export const newPasskeyId = (): string => `pky_${base58.encode(randomBytes(BYTES))}`;
export const newDeviceRequestId = (): string => `dev_${base58.encode(randomBytes(BYTES))}`;
export const newInvitationId = (): string => `inv_${base58.encode(randomBytes(BYTES))}`;
/** Sorts behind every one that the process made before: entries of one millisecond are listed in their order. */
export const newAuditEntryId = (): string => `aud_${timeOrdered().replaceAll('-', '')}`;
export const newCommandId = (): CommandId => randomUUID() as CommandId;
/** Any UUID: names are apart from those of others. */
const MATCHES = '5a9d0d0e-7f0f-4f6e-9a53-6b1d4c1f0c38';
/**
 * The id of the command that assigns a deposit to the intent whose amount it has: however often it is sent, it is
 * decided once.
 * @param version of the deposit's event that has told of it: one that lands again may be assigned again
 */
export const matchCommandId = (intentId: IntentId, depositId: DepositId, version: number): CommandId =>
  named(`${intentId} ${depositId} ${version}`, MATCHES) as CommandId;
