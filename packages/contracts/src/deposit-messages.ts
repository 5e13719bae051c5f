import type {
  Arrival,
  ChainId,
  CommandId,
  Deposit,
  DepositCommand,
  DepositEvent,
  DepositEventData,
  DepositEventHead,
  DepositEventType,
  DepositObservation,
  DepositObservationData,
  DepositRefusal,
  PublicDeposit,
  Received,
} from '@pf/domain';
import {
  DEPOSIT_COMMAND_TYPES,
  DEPOSIT_LEVELS,
  DEPOSIT_REASONS,
  DEPOSIT_REFUSAL_CODES,
  DEPOSIT_STATES,
  isDepositEventType,
} from '@pf/domain';
import { z } from 'zod';
import { FORMATS, upcast, versionOf } from './evolution.ts';
import {
  accountId,
  address,
  bigintText,
  chainId,
  commandId,
  depositId,
  instant,
  intentId,
  reference,
  text,
  toJson,
  tokenAddress,
  trace,
  type Trace,
  transactionHash,
} from './scalars.ts';

/** Loose, as the schemas of intent-state.ts: a field that newer code has added survives. */
const arrival = z.looseObject({
  hash: transactionHash,
  index: text.max(64),
  block: bigintText,
  blockHash: z.string().nullable(),
  tokenAddress: tokenAddress.nullable(),
  token: z.looseObject({ symbol: text.max(64), decimals: z.number().int().nonnegative().max(255) }).nullable(),
  from: address.nullable(),
  to: address,
  amount: bigintText,
  reference: reference.nullable(),
  at: instant.nullable(),
}) satisfies z.ZodType<Arrival>;

const received = z.object({
  accountId,
  livemode: z.boolean(),
  chain: chainId,
  level: z.enum(['confirmed', 'finalized']),
  reason: z.enum(DEPOSIT_REASONS),
  intentId: intentId.nullable(),
  arrival,
}) satisfies z.ZodType<Received>;

const deposit = z.looseObject({
  id: depositId,
  version: z.number().int().positive(),
  state: z.enum(DEPOSIT_STATES),
  createdAt: instant,
  updatedAt: instant,
  ...received.shape,
  level: z.enum(DEPOSIT_LEVELS),
  heldFrom: z.number().int().positive().exactOptional(),
}) satisfies z.ZodType<Deposit>;

/** The domain's complete state of a deposit as JSON. Folds of the same events give the same bytes. */
export const encodeDeposit = (value: Deposit): string => toJson(value);
/** @throws SyntaxError, ZodError or NewerVersionError if the text is not a state that this code understands */
export const decodeDeposit = (value: string): Deposit => deposit.parse(upcast(FORMATS.depositState, JSON.parse(value)));

// Observations --------------------------------------------------------------------------------------------------------
const undone = z.object({
  hash: transactionHash,
  place: z.object({ block: bigintText, blockHash: z.string().nullable() }),
});
const observationData = {
  deposit_landed: received,
  deposit_lost: undone,
  deposit_withdrawn: undone.extend({ intentId }),
} satisfies { [Type in keyof DepositObservationData]: z.ZodType<DepositObservationData[Type]> };

export const DEPOSIT_OBSERVATION_TYPES = Object.keys(observationData) as readonly DepositObservation['type'][];

/**
 * An observation of a deposit on `chain.observations`. `chain` is the network of the watcher that has written it; what
 * watchers wrote before they signed has none.
 */
export type DepositMessage = DepositObservation & { readonly trace: Trace; readonly chain?: ChainId };
const from = { chain: chainId.exactOptional(), trace };
export const depositMessage = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('deposit_landed'), depositId, data: observationData.deposit_landed, ...from }),
    z.object({ type: z.literal('deposit_lost'), depositId, data: observationData.deposit_lost, ...from }),
    z.object({ type: z.literal('deposit_withdrawn'), depositId, data: observationData.deposit_withdrawn, ...from }),
  ])
  .transform((message): DepositMessage => ({ kind: 'deposit', ...message }));

// Commands ------------------------------------------------------------------------------------------------------------
/** A command about a deposit on `intent.commands`. */
export type DepositCommandMessage = DepositCommand & { readonly replyTo: string | null; readonly trace: Trace };
const commandHead = {
  commandId,
  depositId,
  accountId,
  livemode: z.boolean(),
  replyTo: z.string().max(128).nullable(),
  trace,
};
export const depositCommandMessage = z
  .discriminatedUnion('type', [
    z.object({ type: z.enum(DEPOSIT_COMMAND_TYPES).exclude(['assign_deposit']), ...commandHead }),
    z.object({ type: z.literal('assign_deposit'), intentId, ...commandHead }),
  ])
  .transform((message): DepositCommandMessage => ({ kind: 'deposit_command', ...message }));

/** What the writer decided about such a command. */
export interface DepositOutcome {
  readonly kind: 'deposit';
  readonly commandId: CommandId;
  readonly depositId: DepositCommand['depositId'];
  /** Null: accepted, and the deposit is as the command wants it. */
  readonly refusal: DepositRefusal | null;
}
export const depositOutcome = z.object({
  kind: z.literal('deposit'),
  commandId,
  depositId,
  refusal: z
    .object({
      code: z.enum(DEPOSIT_REFUSAL_CODES),
      message: z.string(),
      depositId,
      current: z.object({ state: z.enum(DEPOSIT_STATES), level: z.enum(DEPOSIT_LEVELS) }).exactOptional(),
    })
    .nullable(),
}) satisfies z.ZodType<DepositOutcome>;

// Events --------------------------------------------------------------------------------------------------------------
const none = z.object({});
const eventData = {
  'deposit.received': received,
  'deposit.finalized': none,
  'deposit.lost': none,
  'deposit.withdrawn': z.object({ intentId }),
  'deposit.ignored': none,
  'deposit.reopened': none,
  'deposit.assigned': z.object({ intentId }),
  'deposit.unassigned': z.object({ intentId }),
} satisfies { [Type in DepositEventType]: z.ZodType<DepositEventData[Type]> };

/** The schema of the data of one event type. */
export const depositDataSchema = (type: DepositEventType): z.ZodType => eventData[type];

/** A record of `intent.events` that is of a deposit: the event, its account, and the public deposit after it. */
export interface DepositEnvelope {
  readonly eventId: string;
  readonly type: DepositEventType;
  readonly schemaVersion: number;
  readonly depositId: DepositEvent['depositId'];
  readonly version: number;
  readonly accountId: Deposit['accountId'];
  readonly livemode: boolean;
  /** The command that caused it; null where a watcher saw it. */
  readonly commandId: CommandId | null;
  /** ISO 8601, milliseconds. */
  readonly at: string;
  readonly trace: Trace;
  readonly data: DepositEvent['data'];
  readonly deposit: PublicDeposit;
}

/** One that newer code wrote and this code does not understand. */
export interface ForeignDepositEvent extends Omit<DepositEnvelope, 'type' | 'data'> {
  readonly type: string;
  readonly isForeign: true;
}
/** A record of a deposit as a reader of the log finds it. */
export type LoggedDepositEvent = DepositEnvelope | ForeignDepositEvent;

// The domain's depositView() wrote it together with the event: its bytes are those of webhooks.
const publicDeposit = z.custom<PublicDeposit>(
  (value) => typeof value === 'object' && value !== null && 'id' in value && 'level' in value,
);
export const depositEnvelope = z.object({
  eventId: z.string(),
  type: z.string(),
  schemaVersion: z.number().int().positive(),
  depositId,
  version: z.number().int().positive(),
  accountId,
  livemode: z.boolean(),
  commandId: commandId.nullable(),
  at: z.iso.datetime({ precision: 3 }),
  trace,
  data: z.unknown(),
  deposit: publicDeposit,
});

/** The version of the events that this code writes. */
export const DEPOSIT_EVENT_SCHEMA_VERSION = versionOf(FORMATS.depositEvent);

/** @throws ZodError if no version of the code wrote it: the log is damaged */
export function readDepositEvent(document: object): LoggedDepositEvent {
  const parsed = depositEnvelope.parse(document);
  const { type } = parsed;
  if (!isDepositEventType(type) || parsed.schemaVersion > DEPOSIT_EVENT_SCHEMA_VERSION) {
    const { data: _data, ...head } = parsed;
    return { ...head, isForeign: true };
  }
  return { ...parsed, type, data: eventData[type].parse(parsed.data) };
}
export const encodeDepositEvent = (event: DepositEnvelope): string => toJson(event);
export const isForeignDeposit = (event: LoggedDepositEvent): event is ForeignDepositEvent => 'isForeign' in event;

/** The domain's event that an envelope carries. */
export const depositEventOf = ({ type, depositId: id, version, at, data }: DepositEnvelope): DepositEvent =>
  ({ type, depositId: id, version, at: Date.parse(at), data }) as DepositEvent;

/** What every version of an event has, for holdDeposit(). */
export const depositHeadOf = (event: LoggedDepositEvent): DepositEventHead => ({
  type: event.type,
  depositId: event.depositId,
  version: event.version,
  accountId: event.accountId,
  at: Date.parse(event.at),
  shown: event.deposit,
});

/** The body of a webhook: the exact text that is stored, signed and sent. Null for private events. */
export const depositWebhookBody = ({
  eventId,
  type,
  at,
  livemode,
  deposit: shown,
}: LoggedDepositEvent): string | null =>
  isDepositEventType(type)
    ? JSON.stringify({ eventId, type, createdAt: at, livemode, data: { deposit: shown } })
    : null;
