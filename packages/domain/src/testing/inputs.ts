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

/** What the gateway sends. */
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
  cancel: (): Command => command('cancel', {}),
  refund: (refundIntentId: IntentId = REFUND): Command =>
    command('refund', { refundIntentId, reference: referenceOf(refundIntentId), ttlSeconds: TTL_SECONDS }),
  /** Where nobody is known to pay, Carol is made the fulfiller. */
  simulate: (targetState: IntentStatus): Command =>
    command('simulate', { targetState, hash: SYNTHETIC, fulfiller: CAROL }),
};

/** What a watcher sees. */
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
  landedForGood: (hash: TransactionHash, change: Partial<Transfer> = {}): Observation =>
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
  lost: (hash: TransactionHash): Observation => ({
    kind: 'observation',
    type: 'lost',
    intentId: INTENT,
    data: { hash },
  }),
};

/** What the partition's owner says when an intent's time has run out. */
export const owner = { expire: (): Input => ({ kind: 'expire', intentId: INTENT }) };

/** The same for another intent of the story. */
export const about = <Any extends Input>(intentId: IntentId, input: Any): Any => ({ ...input, intentId });
