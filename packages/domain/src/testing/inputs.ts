import type {
  Address,
  Command,
  CommandData,
  CommandType,
  CreateData,
  Input,
  IntentId,
  IntentStatus,
  Observation,
  Place,
  PreparedTransaction,
  TransactionHash,
  Transfer,
} from '../index.ts';
import {
  ACCOUNT,
  BOB,
  CAROL,
  COMMAND,
  INTENT,
  referenceOf,
  REFUND,
  request,
  signed,
  SYNTHETIC,
  transfer,
  TTL_SECONDS,
  unsigned,
} from './samples.ts';

const command = <Type extends CommandType>(type: Type, data: CommandData[Type]): Command =>
  ({
    kind: 'command',
    type,
    commandId: COMMAND,
    intentId: INTENT,
    accountId: ACCOUNT,
    livemode: false,
    data,
  }) as Command;

/** Commands of the gateway. */
export const gateway = {
  create: (change: Partial<CreateData> = {}): Command => command('create', request(change)),
  update: (data: CommandData['update']): Command => command('update', data),
  detect: (): Command => command('detect', {}),
  recordBuild: (change: { fulfiller?: Address; replaces?: number | null; blob?: string } = {}): Command =>
    command('record_build', {
      fulfiller: change.fulfiller ?? BOB,
      transaction: unsigned(change.blob ?? 'first build'),
      lifetime: { kind: 'unlimited' },
      replaces: change.replaces ?? null,
    }),
  prepare: (hash: TransactionHash, change: Partial<PreparedTransaction> = {}): Command =>
    command('prepare_submission', { transaction: signed(hash, change) }),
  recordBroadcast: (hash: TransactionHash): Command => command('record_broadcast', { hash }),
  release: (hash: TransactionHash): Command => command('release_submission', { hash, reason: 'the node refused it' }),
  /** @param alsoFor another intent for which the transfer is claimed, where it was reported for this one */
  report: (hash: TransactionHash, change: Partial<Transfer>, alsoFor?: IntentId): Command =>
    command('report_transfer', {
      landing: { hash, transfer: transfer(change) },
      ...(alsoFor !== undefined && { alsoFor }),
    }),
  cancel: (): Command => command('cancel', {}),
  refund: (refundIntentId: IntentId = REFUND, to?: Address): Command =>
    command('refund', {
      refundIntentId,
      reference: referenceOf(refundIntentId),
      ttlSeconds: TTL_SECONDS,
      ...(to && { to }),
    }),
  /** Carol is the fulfiller of an intent that has none. */
  simulate: (targetState: IntentStatus): Command =>
    command('simulate', { targetState, hash: SYNTHETIC, fulfiller: CAROL }),
};

/** Observations of a watcher. */
export const watcher = {
  landed: (
    hash: TransactionHash,
    change: Partial<Transfer> = {},
    level: 'confirmed' | 'finalized' = 'confirmed',
  ): Observation => ({
    kind: 'observation',
    type: 'landed',
    intentId: INTENT,
    data: { hash, level, transfer: transfer(change) },
  }),
  landedFinal: (hash: TransactionHash, change: Partial<Transfer> = {}): Observation =>
    watcher.landed(hash, change, 'finalized'),
  reverted: (hash: TransactionHash): Observation => ({
    kind: 'observation',
    type: 'reverted',
    intentId: INTENT,
    data: { hash, reason: 'it reverted' },
  }),
  dropped: (hash: TransactionHash): Observation => ({
    kind: 'observation',
    type: 'dropped',
    intentId: INTENT,
    data: { hash, proof: 'its nonce is used' },
  }),
  /** @param change its reference is that of another intent */
  disproved: (hash: TransactionHash, change: Partial<Transfer>): Observation => ({
    kind: 'observation',
    type: 'disproved',
    intentId: INTENT,
    data: { hash, transfer: transfer(change) },
  }),
  /** @param place of the landing that was undone */
  lost: (hash: TransactionHash, place?: Place): Observation => ({
    kind: 'observation',
    type: 'lost',
    intentId: INTENT,
    data: { hash, ...(place && { place: { block: place.block, blockHash: place.blockHash } }) },
  }),
};

/** The partition owner's own inputs: when `expiresAt` has passed, and when personal data is to be erased. */
export const owner = {
  expire: (): Input => ({ kind: 'expire', intentId: INTENT }),
  erase: (): Input => ({ kind: 'erase', intentId: INTENT }),
};

/** The same input for another intent. */
export const about = <Any extends Input>(intentId: IntentId, input: Any): Any => ({ ...input, intentId });
