import type {
  Build,
  ChainId,
  Command,
  CommandData,
  CreateData,
  Erase,
  EventData,
  EventHead,
  EventType,
  Expire,
  IntentEvent,
  Observation,
  ObservationData,
  PublicIntent,
  Refusal,
} from '@pf/domain';
import {
  claimOf,
  DEPOSIT_STANDINGS,
  INTENT_STATUSES,
  isEventType,
  isPublicType,
  LATE_STATES,
  overpaymentOf,
  PAYMENT_TERMS,
  paymentOf,
} from '@pf/domain';
import { z } from 'zod';
import {
  type DepositCommandMessage,
  depositCommandMessage,
  type DepositMessage,
  depositMessage,
  type DepositOutcome,
  depositOutcome,
  type LoggedDepositEvent,
  readDepositEvent,
} from './deposit-messages.ts';
import { FORMATS, NewerVersionError, upcast, versionOf } from './evolution.ts';
import { build, lifetime, metadata, preparedTransaction, transfer, unsignedTransaction } from './intent-state.ts';
import { signObservation } from './observation-signature.ts';
import {
  accountId,
  address,
  baseUnits,
  bigintText,
  chainId,
  depositId,
  commandId,
  instant,
  intentId,
  isWithin,
  reference,
  text,
  tokenAddress,
  toJson,
  trace,
  type Trace,
  transactionHash,
  ttlSeconds,
} from './scalars.ts';

const none = z.object({});
const networkFee = z.object({ payer: address, amount: bigintText, tokenAddress: tokenAddress.nullable() });
const landing = z.object({ hash: transactionHash, transfer, depositId: depositId.exactOptional() });
/** The first that is told of a landing. */
const newLanding = landing.extend({ fee: networkFee.exactOptional() });
/** How a deposit that is assigned to an intent stands for it. */
const toldDeposit = z.object({
  depositId,
  version: z.number().int().positive(),
  standing: z.enum(DEPOSIT_STANDINGS),
});
const createData = z.object({
  idempotencyKey: text.refine((key) => isWithin(key, 255)).nullable(),
  chain: chainId,
  token: text.max(64),
  tokenAddress,
  decimals: z.number().int(),
  amount: text,
  amountBaseUnits: baseUnits,
  requestor: address,
  fulfiller: address.nullable(),
  direction: z.enum(['request', 'send']),
  attribution: z.literal('amount').exactOptional(),
  accept: z.literal('at_least').exactOptional(),
  reference,
  ttlSeconds,
  metadata: metadata.nullable(),
});

// Commands ------------------------------------------------------------------------------------------------------------
const commandData = {
  create: createData,
  update: z.object({
    updatedAt: instant,
    metadata: z.record(text, text.nullable()).nullable().exactOptional(),
    amount: text.exactOptional(),
    amountBaseUnits: baseUnits.exactOptional(),
    ttlSeconds: ttlSeconds.exactOptional(),
  }),
  detect: none,
  record_build: z.object({
    fulfiller: address,
    transaction: unsignedTransaction,
    lifetime,
    replaces: z.number().int().nullable(),
  }),
  prepare_submission: z.object({ transaction: preparedTransaction }),
  record_broadcast: z.object({ hash: transactionHash }),
  release_submission: z.object({ hash: transactionHash, reason: z.string() }),
  report_transfer: z.object({ landing, alsoFor: intentId.exactOptional() }),
  cancel: none,
  refund: z.object({ refundIntentId: intentId, reference, ttlSeconds, to: address.exactOptional() }),
  simulate: z.object({ targetState: z.enum(INTENT_STATUSES), hash: transactionHash, fulfiller: address }),
} satisfies { [Type in keyof CommandData]: z.ZodType<CommandData[Type]> };

const observationData = {
  landed: newLanding.extend({ level: z.enum(['confirmed', 'finalized']) }),
  reverted: z.object({ hash: transactionHash, reason: z.string() }),
  dropped: z.object({ hash: transactionHash, proof: z.string() }),
  disproved: landing,
  lost: z.object({ hash: transactionHash, place: transfer.pick({ block: true, blockHash: true }).exactOptional() }),
  assigned: toldDeposit.extend({ hash: transactionHash, transfer: transfer.omit({ reference: true }) }),
} satisfies { [Type in keyof ObservationData]: z.ZodType<ObservationData[Type]> };

export const COMMAND_TYPES = Object.keys(commandData) as readonly Command['type'][];
export const OBSERVATION_TYPES = Object.keys(observationData) as readonly Observation['type'][];

const at = { intentId };
const commandHead = {
  commandId,
  intentId,
  accountId,
  livemode: z.boolean(),
  replyTo: z.string().max(128).nullable(),
  trace,
};

/** A command on `intent.commands`. `replyTo` is the Redis channel of the gateway that waits for the outcome. */
export type CommandMessage = Command & { readonly replyTo: string | null; readonly trace: Trace };
const commandMessage = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('create'), data: commandData.create, ...commandHead }),
    z.object({ type: z.literal('update'), data: commandData.update, ...commandHead }),
    z.object({ type: z.literal('detect'), data: commandData.detect, ...commandHead }),
    z.object({ type: z.literal('record_build'), data: commandData.record_build, ...commandHead }),
    z.object({ type: z.literal('prepare_submission'), data: commandData.prepare_submission, ...commandHead }),
    z.object({ type: z.literal('record_broadcast'), data: commandData.record_broadcast, ...commandHead }),
    z.object({ type: z.literal('release_submission'), data: commandData.release_submission, ...commandHead }),
    z.object({ type: z.literal('report_transfer'), data: commandData.report_transfer, ...commandHead }),
    z.object({ type: z.literal('cancel'), data: commandData.cancel, ...commandHead }),
    z.object({ type: z.literal('refund'), data: commandData.refund, ...commandHead }),
    z.object({ type: z.literal('simulate'), data: commandData.simulate, ...commandHead }),
  ])
  .transform((message): CommandMessage => ({ kind: 'command', ...message }));

/**
 * An observation on `chain.observations`. `chain` is the network of the watcher that has written it; what the intent
 * service tells (`assigned`), and what watchers wrote before they signed, has none.
 */
export type ObservationMessage = Observation & { readonly trace: Trace; readonly chain?: ChainId };
const from = { chain: chainId.exactOptional(), trace };
const observationMessage = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('landed'), data: observationData.landed, ...at, ...from }),
    z.object({ type: z.literal('reverted'), data: observationData.reverted, ...at, ...from }),
    z.object({ type: z.literal('dropped'), data: observationData.dropped, ...at, ...from }),
    z.object({ type: z.literal('disproved'), data: observationData.disproved, ...at, ...from }),
    z.object({ type: z.literal('lost'), data: observationData.lost, ...at, ...from }),
    z.object({ type: z.literal('assigned'), data: observationData.assigned, ...at, ...from }),
  ])
  .transform((message): ObservationMessage => ({ kind: 'observation', ...message }));

/** The writer drops a command older than this, except the two without a deadline, which the gateway repeats. */
export const COMMAND_DEADLINE_MS = 8_000;
export const hasDeadline = (type: Command['type'] | DepositCommandMessage['type']): boolean =>
  type !== 'record_broadcast' && type !== 'release_submission';

/** Encrypts what commands say of a person, on their way to the writer. Each text is bound to the command's id. */
export interface CommandSeal {
  seal(commandId: string, text: string): string;
  /** @throws Error if it was not sealed for this command, or with another key */
  open(commandId: string, sealed: string): string;
}
/** Of inputs that are not sealed. */
const UNSEALED_VERSION = 1;
/** Of those that are. */
const SEALED_VERSION = 2;
const sealedCommand = z.looseObject({ commandId: z.string(), data: z.looseObject({}), sealed: z.string() });

/**
 * Both throw SyntaxError, ZodError or NewerVersionError if the text is not such a message: it is dead-lettered.
 * @param seal null: a sealed command is refused
 */
export function parseCommand(text: string, seal: CommandSeal | null = null): CommandMessage | DepositCommandMessage {
  const document = upcast(FORMATS.command, JSON.parse(text));
  if (isOfDeposit(document)) return depositCommandMessage.parse(document);
  const { data: sealed } = sealedCommand.safeParse(document);
  if (!sealed) return commandMessage.parse(document);
  if (seal === null) throw new NoSealError('a sealed command needs SECRETS_KEY: that of the gateways');
  const personal = JSON.parse(seal.open(sealed.commandId, sealed.sealed)) as object;
  return commandMessage.parse({ ...sealed, data: { ...sealed.data, ...personal } });
}
/** A sealed command, and nothing that opens it. */
export class NoSealError extends Error {
  override readonly name = 'NoSealError';
}
export const parseObservation = (text: string): ObservationMessage | DepositMessage => {
  const document = upcast(FORMATS.observation, JSON.parse(text));
  return isOfDeposit(document) ? depositMessage.parse(document) : observationMessage.parse(document);
};
/** Tells what is of a deposit from what is of an intent: messages, and records of the log. */
const isOfDeposit = (document: unknown): document is { readonly depositId: unknown } =>
  typeof document === 'object' && document !== null && 'depositId' in document;
/**
 * `kind` is not encoded: the topic determines it.
 * @param seal encrypts what a command says of a person; null: it is written as it is
 */
export function encodeInput(
  { kind: _, ...message }: CommandMessage | DepositCommandMessage | ObservationMessage | DepositMessage,
  seal: CommandSeal | null = null,
): string {
  if (message.type !== 'create' && message.type !== 'update')
    return toJson({ ...message, schemaVersion: UNSEALED_VERSION });
  const { idempotencyKey = null, metadata: map = null, accept } = message.data as Partial<CreateData>;
  const versionWith = (version: number): number => (accept === undefined ? version : versionOf(FORMATS.command));
  if (seal === null || (idempotencyKey === null && map === null))
    return toJson({ ...message, schemaVersion: versionWith(UNSEALED_VERSION) });
  const data = {
    ...message.data,
    ...(idempotencyKey !== null && { idempotencyKey: null }),
    ...(map !== null && { metadata: {} }),
  };
  const personal = { ...(idempotencyKey !== null && { idempotencyKey }), ...(map !== null && { metadata: map }) };
  const sealed = seal.seal(message.commandId, JSON.stringify(personal));
  return toJson({ ...message, data, sealed, schemaVersion: versionWith(SEALED_VERSION) });
}
/** An observation on the wire. @param key that of its author, which signs it; null: it is not signed */
export function encodeObservation(message: ObservationMessage | DepositMessage, key: Uint8Array | null): string {
  const text = encodeInput(message);
  return key === null ? text : signObservation(key, text);
}
export type InputMessage = CommandMessage | ObservationMessage | ((Expire | Erase) & { readonly trace: Trace });

// Events --------------------------------------------------------------------------------------------------------------
/** Of a payment with another amount than its intent asks for. */
const paidAmount = { amount: text.exactOptional() };
const eventData = {
  'intent.created': createData.extend({ accountId, livemode: z.boolean(), refundOf: intentId.nullable() }),
  'intent.detected': none,
  'intent.updated': z.object({
    metadata: metadata.nullable().exactOptional(),
    amount: text.exactOptional(),
    amountBaseUnits: baseUnits.exactOptional(),
    ttlSeconds: ttlSeconds.exactOptional(),
  }),
  transaction_built: z.object({ fulfiller: address, transaction: unsignedTransaction, lifetime }),
  submission_prepared: z.object({
    transaction: preparedTransaction,
    attempts: z.number().int(),
    claims: z.number().int().positive().exactOptional(),
  }),
  submission_released: z.object({ hash: transactionHash, outcome: z.enum(['refused', 'dropped']), reason: z.string() }),
  'intent.pending': z.object({ hash: transactionHash, fulfiller: address, simulated: z.boolean() }),
  'intent.confirmed': z.object({
    hash: transactionHash,
    fulfiller: address,
    landing: newLanding.nullable(),
    late: z.enum(LATE_STATES).nullable(),
    simulated: z.boolean(),
    ...paidAmount,
  }),
  'intent.finalized': z.object({ hash: transactionHash, landing: landing.nullable(), simulated: z.boolean() }),
  'intent.failed': z.object({ hash: transactionHash.nullable(), reason: z.string(), simulated: z.boolean() }),
  'intent.expired': z.object({ pendingAtExpiry: z.boolean(), simulated: z.boolean() }),
  'intent.cancelled': z.object({ cause: z.enum(['requested', 'superseded', 'simulated']) }),
  'intent.retry_required': z.object({ hash: transactionHash, proof: z.string(), simulated: z.boolean() }),
  refund_linked: z.object({ refundIntentId: intentId }),
  refund_released: z.object({ refundIntentId: intentId }),
  confirmation_lost: z.object({ hash: transactionHash }),
  confirmation_restored: z.object({ landing: newLanding, ...paidAmount }),
  'intent.extra_payment': z.object({ landing: newLanding, ...paidAmount }),
  'intent.mismatched_payment': z.object({
    landing: newLanding,
    amount: text.nullable(),
    differs: z.array(z.enum(PAYMENT_TERMS)),
    claimed: z.literal(true).exactOptional(),
  }),
  'intent.mismatch_withdrawn': z.object({
    landing: newLanding,
    amount: text.nullable().exactOptional(),
    differs: z.array(z.enum(PAYMENT_TERMS)).exactOptional(),
  }),
  'intent.payment_claimed': z.object({ hash: transactionHash, intentIds: z.array(intentId) }),
  'intent.late_payment': z.object({ landing, late: z.enum(LATE_STATES), ...paidAmount }),
  'intent.overpaid': z.object({ hash: transactionHash, amount: text, amountBaseUnits: baseUnits }),
  extra_payment_observed: z.object({ landing, refundIntentId: intentId.exactOptional(), ...paidAmount }),
  mismatched_payment_observed: z.object({ landing, differs: z.array(z.enum(PAYMENT_TERMS)) }),
  deposit_told: toldDeposit.extend({ landing }),
  personal_data_erased: none,
} satisfies { [Type in EventType]: z.ZodType<EventData[Type]> };

/** The schema of the data of one event type. */
export const eventDataSchema = (type: EventType): z.ZodType => eventData[type];

/**
 * Of an event of an intent with personal data (docs/internals/decisions/0034-erasable-events.md): its `data` and
 * `intent` have the empty object for `metadata` and no idempotency key.
 */
export const sealedPart = z.object({
  /** What `data` lacks, encrypted; null where it lacks nothing. Base64. */
  data: z.string().nullable(),
  /** The recovery key that the key of `data` was made from, by its id: it is deleted after some days. */
  recovery: z.string().nullable(),
});
export type SealedPart = z.infer<typeof sealedPart>;

/** What `sealed.data` is, as JSON: what the event says of a person. */
export const personalData = z.object({
  idempotencyKey: z.string().exactOptional(),
  metadata: metadata.exactOptional(),
});
export type PersonalData = z.infer<typeof personalData>;

/** A record of `intent.events`: the event, its account, its cause, and the public intent after it. */
export interface EventEnvelope {
  readonly eventId: string;
  readonly type: EventType;
  readonly schemaVersion: number;
  readonly intentId: IntentEvent['intentId'];
  readonly version: number;
  readonly accountId: Command['accountId'];
  readonly livemode: boolean;
  /** The command that caused it; null if an observation or the clock did. */
  readonly commandId: Command['commandId'] | null;
  /** ISO 8601, milliseconds. */
  readonly at: string;
  readonly trace: Trace;
  readonly data: IntentEvent['data'];
  readonly intent: PublicIntent;
  readonly sealed?: SealedPart;
}
/** Of events that are not sealed. */
export const EVENT_SCHEMA_VERSION = 1;
/** Of events that are. */
export const SEALED_SCHEMA_VERSION = 2;
/** The version of an event before it is sealed. */
export const eventSchemaVersion = ({ data }: Pick<EventEnvelope, 'data'>): number =>
  'accept' in data ? versionOf(FORMATS.event) : EVENT_SCHEMA_VERSION;

// The domain's view() wrote it together with the event. It is passed on unchanged, including the order of its keys:
// webhooks are signed over these bytes, whether they come from the writer's memory or from the log.
const publicIntent = z.custom<PublicIntent>(
  (value) => typeof value === 'object' && value !== null && 'id' in value && 'state' in value,
);

export const eventEnvelope = z.object({
  eventId: z.string(),
  type: z.string(),
  schemaVersion: z.number().int().positive(),
  intentId,
  version: z.number().int().positive(),
  accountId,
  livemode: z.boolean(),
  commandId: commandId.nullable(),
  at: z.iso.datetime({ precision: 3 }),
  trace,
  data: z.unknown(),
  intent: publicIntent,
  sealed: sealedPart.exactOptional(),
});

/**
 * An event that newer code wrote and this code does not understand: its type is unknown, or its schema version newer.
 * What every version has is known: whose it is, its place in the intent's history, and the public intent after it.
 */
export interface ForeignEvent extends Omit<EventEnvelope, 'type' | 'data'> {
  readonly type: string;
  readonly isForeign: true;
}

/** A record of `intent.events` as a reader finds it. */
export type LoggedEvent = EventEnvelope | ForeignEvent;
export const isForeign = (event: LoggedEvent): event is ForeignEvent => 'isForeign' in event;

/** Any record of `intent.events`. */
export type LoggedRecord = LoggedEvent | LoggedDepositEvent;
export const isDepositEvent = (record: LoggedRecord): record is LoggedDepositEvent => 'depositId' in record;
export const isIntentEvent = (record: LoggedRecord): record is LoggedEvent => !isDepositEvent(record);

/**
 * Reads a record of `intent.events`: for readers that can pass over an event that they do not understand.
 * @throws SyntaxError or ZodError if no version of the code wrote it: the log is damaged
 */
export function readRecord(text: string): LoggedRecord {
  const document: unknown = JSON.parse(text);
  return isOfDeposit(document) ? readDepositEvent(document) : readIntentEvent(document);
}

/** Reads a record of an intent. @throws as readRecord, and for a record of a deposit */
export const readEvent = (text: string): LoggedEvent => readIntentEvent(JSON.parse(text));

function readIntentEvent(document: unknown): LoggedEvent {
  const envelope = eventEnvelope.parse(document);
  const { type } = envelope;
  if (!isEventType(type) || envelope.schemaVersion > versionOf(FORMATS.event)) {
    const { data: _data, ...head } = envelope;
    return { ...head, isForeign: true };
  }
  const current = upcast(FORMATS.event, document);
  const parsed = current === document ? envelope : eventEnvelope.parse(current);
  // The schema has made it, so it is no one else's; a copy would cost every reader of the log.
  return Object.assign(parsed, { type, data: eventData[type].parse(parsed.data) });
}

/**
 * Parses a record of `intent.events`, and its data by the schema of its type.
 * @throws SyntaxError, ZodError or NewerVersionError
 */
export function parseEvent(text: string): EventEnvelope {
  const event = readEvent(text);
  if (isForeign(event))
    throw new NewerVersionError(`${event.type} of schema version ${event.schemaVersion} was written by newer code`);
  return event;
}
export const encodeEvent = (event: EventEnvelope): string => toJson(event);

/** The domain's event that an envelope carries. */
export const eventOf = (event: EventEnvelope): IntentEvent =>
  ({
    type: event.type,
    intentId: event.intentId,
    version: event.version,
    at: Date.parse(event.at),
    data: event.data,
  }) as IntentEvent;

/** What every version of an event has, for hold(). */
export const headOf = ({ type, intentId, version, accountId, at, intent }: LoggedEvent): EventHead => ({
  type,
  intentId,
  version,
  accountId,
  at: Date.parse(at),
  shown: intent,
});

/** The body of a webhook: the exact text that is stored, signed, sent, streamed and listed. Null for private events. */
export function webhookBody(event: LoggedEvent): string | null {
  if (!isPublicType(event.type)) return null;
  // Of a foreign event only the intent is known.
  const own = isForeign(event) ? null : eventOf(event);
  const payment = own && paymentOf(own, event.intent);
  const claim = own && claimOf(own);
  const overpayment = own && overpaymentOf(own);
  return JSON.stringify({
    eventId: event.eventId,
    type: event.type,
    createdAt: event.at,
    livemode: event.livemode,
    data: {
      intent: event.intent,
      ...(payment !== null && { payment }),
      ...(claim !== null && { claim }),
      ...(overpayment !== null && { overpayment }),
    },
  });
}

// Outcomes and replies ------------------------------------------------------------------------------------------------
/**
 * What the writer decided about a command. Stored in Postgres for 24 h, and sent to the gateway's reply channel
 * together with the intent after the command; a gateway that reads it from Postgres reads the current intent as well.
 */
export type Outcome =
  | {
      readonly kind: 'accepted';
      readonly commandId: Command['commandId'];
      readonly intentId: Command['intentId'];
      readonly replayed: boolean;
      readonly build: Build | null;
      readonly attempts: number | null;
    }
  | {
      readonly kind: 'refused';
      readonly commandId: Command['commandId'];
      readonly intentId: Command['intentId'];
      readonly refusal: Refusal;
    }
  /** The command could not be processed and is on `intent.dead`; the client receives a 500. */
  | { readonly kind: 'dead'; readonly commandId: Command['commandId']; readonly intentId: Command['intentId'] }
  | DepositOutcome;

const refusal = z.object({
  code: z.string(),
  message: z.string(),
  param: z.string().exactOptional(),
  intentId,
  currentState: z.enum(INTENT_STATUSES).exactOptional(),
  details: z.record(z.string(), z.unknown()).exactOptional(),
}) as unknown as z.ZodType<Refusal>;
const outcome = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('accepted'),
    commandId,
    intentId,
    replayed: z.boolean(),
    build: build.nullable(),
    attempts: z.number().int().nullable(),
  }),
  z.object({ kind: z.literal('refused'), commandId, intentId, refusal }),
  z.object({ kind: z.literal('dead'), commandId, intentId }),
  depositOutcome,
]);
export const parseOutcome = (text: string): Outcome => outcome.parse(upcast(FORMATS.outcome, JSON.parse(text)));
export const encodeOutcome = (value: Outcome): string => toJson(value);

/** An outcome on a gateway's reply channel, which carries a batch of them; with the public intent if accepted. */
export interface Reply {
  readonly outcome: Outcome;
  readonly intent: PublicIntent | null;
}
const replies = z.array(z.object({ outcome, intent: publicIntent.nullable() }));
export const parseReplies = (text: string): readonly Reply[] => replies.parse(JSON.parse(text));
export const encodeReplies = (value: readonly Reply[]): string => toJson(value);
