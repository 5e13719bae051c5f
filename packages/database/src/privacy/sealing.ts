import { createHmac } from 'node:crypto';
import {
  EVENT_SCHEMA_VERSION,
  type EventEnvelope,
  isForeign,
  type LoggedEvent,
  type PersonalData,
  personalData,
  SEALED_SCHEMA_VERSION,
} from '@pf/contracts';
import type { EventData, IntentId, Metadata, PaymentIntent, PublicIntent } from '@pf/domain';
import { withoutContent } from '@pf/domain';
import { decrypt, encrypt, type Keyring } from '../webhooks/keyring.ts';

/** The key of a sealed event as it is stored: encrypted. */
export interface IntentKey {
  readonly intentId: IntentId;
  /** Of the event. */
  readonly version: number;
  readonly ciphertext: Buffer;
  /** When the event was decided, ISO 8601. */
  readonly at: string;
}

/** A key that lives for some days, in the clear: the keys of events are made from it. */
export interface RecoveryKey {
  readonly id: string;
  readonly key: Buffer;
}

const hasContent = (map: Metadata | null | undefined): map is Metadata =>
  map !== null && map !== undefined && Object.keys(map).length > 0;
/** What sealed data and keys are bound to. */
export const placeOf = ({ intentId, version }: { readonly intentId: string; readonly version: number }): string =>
  `${intentId}/${version}`;

/** The key of an event: of 32 bytes, and of no other event. */
const keyFrom = (recoveryKey: Buffer, place: string): Buffer =>
  createHmac('sha256', recoveryKey).update(place).digest();

/**
 * The event as the log gets it: without what it says of a person, but for what only its own key reads. An event
 * that says nothing of a person, and whose intent shows nothing, stays as it is.
 * @returns the key, to be stored in the transaction that projects the event; null where nothing was encrypted
 */
export function sealEvent(
  event: EventEnvelope,
  keyring: Keyring,
  recoveryKey: RecoveryKey,
): { readonly event: EventEnvelope; readonly key: IntentKey | null } {
  const personal = personalDataOf(event);
  const { intent } = event;
  if (personal === null && intent.idempotencyKey === undefined && !hasContent(intent.metadata))
    return { event, key: null };
  const schemaVersion = Math.max(event.schemaVersion, SEALED_SCHEMA_VERSION);
  const withheld = { ...event, schemaVersion, intent: withPersonalData(intent, null) };
  if (personal === null) return { event: { ...withheld, sealed: { data: null, recovery: null } }, key: null };
  const place = placeOf(event);
  const key = keyFrom(recoveryKey.key, place);
  return {
    event: {
      ...withheld,
      data: withoutPersonalData(event.data as EventData['intent.created'] | EventData['intent.updated']),
      sealed: {
        data: encrypt(key, place, JSON.stringify(personal)).toString('base64'),
        recovery: recoveryKey.id,
      },
    },
    key: {
      intentId: event.intentId,
      version: event.version,
      ciphertext: encrypt(keyring, place, key.toString('base64')),
      at: event.at,
    },
  };
}

function personalDataOf({ type, data }: EventEnvelope): PersonalData | null {
  if (type !== 'intent.created' && type !== 'intent.updated') return null;
  const { idempotencyKey = null, metadata: map } = data as Partial<EventData['intent.created']>;
  if (idempotencyKey === null && !hasContent(map)) return null;
  return { ...(idempotencyKey !== null && { idempotencyKey }), ...(hasContent(map) && { metadata: map }) };
}

const withoutPersonalData = (
  data: EventData['intent.created'] | EventData['intent.updated'],
): EventEnvelope['data'] => ({
  ...data,
  ...('idempotencyKey' in data && { idempotencyKey: null }),
  ...(data.metadata !== undefined && { metadata: withoutContent(data.metadata) }),
});

/**
 * A sealed event with what it was written with, as far as its data goes; fold() adds the rest.
 * @throws UnreadableSecretError, SyntaxError or ZodError if the key is not the event's, or the event is damaged
 */
export function openEvent(event: EventEnvelope, key: Buffer): EventEnvelope {
  const { data: box = null } = event.sealed ?? {};
  if (box === null) return event;
  const text = decrypt(key, placeOf(event), Buffer.from(box, 'base64'));
  return { ...event, data: { ...event.data, ...personalData.parse(JSON.parse(text)) } };
}

/** The key of an event from the row that stores it. @throws UnreadableSecretError */
export const storedKey = (key: Pick<IntentKey, 'intentId' | 'version' | 'ciphertext'>, keyring: Keyring): Buffer =>
  Buffer.from(decrypt(keyring, placeOf(key), key.ciphertext), 'base64');

/** The key of an event from its recovery key, to be stored again. Opening the event shows whether it is the one. */
export function recoveredKey(
  event: Pick<EventEnvelope, 'intentId' | 'version' | 'at'>,
  recoveryKey: Buffer,
  keyring: Keyring,
): { readonly key: Buffer; readonly stored: IntentKey } {
  const place = placeOf(event);
  const key = keyFrom(recoveryKey, place);
  const { intentId, version, at } = event;
  return { key, stored: { intentId, version, at, ciphertext: encrypt(keyring, place, key.toString('base64')) } };
}

/** True for an event whose data lacks something that a key adds. */
export const isSealed = (event: LoggedEvent): event is EventEnvelope =>
  !isForeign(event) && typeof event.sealed?.data === 'string';

/**
 * What is shown of an intent, with the personal data of another state of it. The order of the keys is that of view().
 * @param state null: without any
 */
export function withPersonalData(
  { idempotencyKey: _, ...shown }: PublicIntent,
  state: Pick<PaymentIntent, 'idempotencyKey' | 'metadata'> | null,
): PublicIntent {
  const { id, ...rest } = shown;
  const idempotencyKey = state?.idempotencyKey ?? null;
  return {
    id,
    ...(idempotencyKey !== null && { idempotencyKey }),
    ...rest,
    metadata: state === null ? withoutContent(shown.metadata) : state.metadata,
  };
}

/** The event as it was before it was sealed. @param state the intent after the event */
export const unsealed = <Event extends LoggedEvent>(
  event: Event,
  state: Pick<PaymentIntent, 'idempotencyKey' | 'metadata'>,
): Event => {
  if (event.sealed === undefined) return event;
  const schemaVersion = event.schemaVersion === SEALED_SCHEMA_VERSION ? EVENT_SCHEMA_VERSION : event.schemaVersion;
  return { ...event, schemaVersion, intent: withPersonalData(event.intent, state) };
};

/** The body of an event's webhook after its intent was erased. */
export function erasedBody(body: string): string {
  const document = JSON.parse(body) as { readonly data: { readonly intent: PublicIntent } };
  const intent = withPersonalData(document.data.intent, null);
  return JSON.stringify({ ...document, data: { ...document.data, intent } });
}
