import { describe, expect, it } from '@jest/globals';
import {
  type CommandMessage,
  encodeEvent,
  encodeInput,
  type EventEnvelope,
  eventIdOf,
  eventSchemaVersion,
  newCommandId,
  NoSealError,
  parseCommand,
  parseEvent,
  webhookBody,
} from '@pf/contracts';
import { evolve, type IntentEvent, type PaymentIntent, view } from '@pf/domain';
import { events, gateway, samples } from '@pf/domain/testing';
import { commandSeal, UnreadableSecretError } from '../../src/index.ts';
import {
  erasedBody,
  openEvent,
  recoveredKey,
  sealEvent,
  storedKey,
  unsealed,
  withPersonalData,
} from '../../src/privacy/sealing.ts';

const KEYRING = Buffer.alloc(32, 1);
const RECOVERY = { id: '2026-11-21', key: Buffer.alloc(32, 2) };
const AT = samples.SCENARIO_START;
const PERSONAL = { idempotencyKey: 'order of A. Person', metadata: { name: 'A. Person', '7': 'a number as its key' } };

/** An event and the intent after it. */
function logged(
  before: PaymentIntent | undefined,
  { type, data }: ReturnType<typeof events.created>,
): { readonly event: EventEnvelope; readonly intent: PaymentIntent } {
  const version = (before?.version ?? 0) + 1;
  const intent = evolve(before, { type, intentId: samples.INTENT, version, at: AT, data } as IntentEvent);
  const event: EventEnvelope = {
    eventId: eventIdOf(intent.id, version),
    type,
    schemaVersion: 1,
    intentId: intent.id,
    version,
    accountId: intent.accountId,
    livemode: intent.livemode,
    commandId: null,
    at: new Date(AT).toISOString(),
    trace: { traceparent: null, requestId: null },
    data,
    intent: view(intent),
  };
  return { event, intent };
}
const created = logged(undefined, events.created(PERSONAL));
const seal = (event: EventEnvelope) => {
  const sealed = sealEvent(event, KEYRING, RECOVERY);
  return { ...sealed, text: encodeEvent(sealed.event) };
};
const keyed = (key: ReturnType<typeof sealEvent>['key']) => {
  if (!key) throw new Error('nothing was encrypted');
  return key;
};

describe('A sealed event', () => {
  it('hides personal data, which its own key gives back, byte for byte', () => {
    const { text, key } = seal(created.event);
    expect(text).not.toContain('Person');
    const read = parseEvent(text);
    expect(read).toMatchObject({ schemaVersion: 2, data: { idempotencyKey: null, metadata: {} } });
    const opened = openEvent(read, storedKey(keyed(key), KEYRING));
    expect(opened.data).toEqual(created.event.data);
    const after = evolve(undefined, { ...opened, at: AT } as unknown as IntentEvent);
    expect(after).toEqual(created.intent);
    expect(webhookBody(unsealed(opened, after))).toBe(webhookBody(created.event));
  });

  it('keeps the version of an intent that more than its amount may pay, sealed and not', () => {
    const made = logged(undefined, events.created({ ...PERSONAL, accept: 'at_least' }));
    const event = { ...made.event, schemaVersion: eventSchemaVersion(made.event) };
    const { text, key } = seal(event);
    const opened = openEvent(parseEvent(text), storedKey(keyed(key), KEYRING));
    expect(opened.data).toEqual(event.data);
    expect([event, parseEvent(text), unsealed(opened, made.intent)].map(({ schemaVersion }) => schemaVersion)).toEqual([
      3, 3, 3,
    ]);
  });

  it('yields its key to a holder of the recovery key of its day', () => {
    const { event, key } = seal(created.event);
    const recovered = recoveredKey(event, RECOVERY.key, KEYRING);
    expect(recovered.key).toEqual(storedKey(keyed(key), KEYRING));
    expect(storedKey(recovered.stored, KEYRING)).toEqual(recovered.key);
  });

  it('cannot be opened with another key, and not in the place of another event', () => {
    const { event, key } = seal(created.event);
    const dataKey = storedKey(keyed(key), KEYRING);
    expect(() => openEvent(event, Buffer.alloc(32, 9))).toThrow(UnreadableSecretError);
    expect(() => openEvent({ ...event, version: 2 }, dataKey)).toThrow(UnreadableSecretError);
    const wrong = recoveredKey(event, Buffer.alloc(32, 9), KEYRING);
    expect(() => openEvent(event, wrong.key)).toThrow(UnreadableSecretError);
    expect(() => storedKey({ ...keyed(key), version: 2 }, KEYRING)).toThrow(UnreadableSecretError);
  });

  it('has no key where only the intent shows something, and stays as it is where nothing does', () => {
    const detected = logged(created.intent, events.detected());
    const { event, key, text } = seal(detected.event);
    expect([key, text.includes('Person')]).toEqual([null, false]);
    expect(webhookBody(unsealed(event, detected.intent))).toBe(webhookBody(detected.event));
    const plain = logged(undefined, events.created()).event;
    expect(seal(plain)).toMatchObject({ event: plain, key: null });
  });

  it('distinguishes removed metadata from hidden metadata', () => {
    const removed = logged(created.intent, events.updated({ metadata: null }));
    const { event, key } = seal(removed.event);
    expect(key).toBeNull();
    expect(event).toMatchObject({ data: { metadata: null }, intent: { metadata: null } });
  });

  it('is opened as the first version wrote it', () => {
    // Recorded: what is in logs and in Postgres stays there.
    const event = {
      ...created.event,
      sealed: {
        data:
          'AefHf/06blijUDYlwkAkw6814XA/LM28hewFGECrKziU9IKOteahnXRxq69Q9WlAzfazojGX62H2Mh82aGUGN96VCw' +
          'a3IeCTPyUFeQPswG+r2J6Vqp2C3jT4YPEKaXTuSjp9UnNMQKfq+7qDkkkjyfokuji2k32F3dUmLHJw',
        recovery: '2026-11-21',
      },
    };
    const ciphertext = Buffer.from(
      'AfKRZYaB2Ai379ba2gowNaKhefdLccLPMhSD5ic85iInN0mskKbuLtXj82GkYmH+X+nfDdlixaYycmlfwrY4rlGFSj' + 'r60CmW1A==',
      'base64',
    );
    const key = storedKey({ ...event, ciphertext }, KEYRING);
    expect(recoveredKey(event, RECOVERY.key, KEYRING).key).toEqual(key);
    const hidden = { ...event, data: { ...event.data, metadata: {}, idempotencyKey: null } } as EventEnvelope;
    expect(openEvent(hidden, key).data).toEqual(created.event.data);
  });
});

describe('The webhook of an erased intent', () => {
  it('is as before, without personal data', () => {
    const body = webhookBody(created.event) ?? '';
    const erased = erasedBody(body);
    expect(erased).not.toContain('Person');
    const shown = (JSON.parse(body) as { data: { intent: ReturnType<typeof view> } }).data.intent;
    expect(JSON.parse(erased)).toMatchObject({ data: { intent: withPersonalData(shown, null) } });
    expect(erasedBody(erased)).toBe(erased);
    const without = webhookBody(logged(undefined, events.created()).event) ?? '';
    expect(erasedBody(without)).toBe(without);
  });
});

describe('A sealed command', () => {
  const seals = commandSeal(KEYRING);
  const message = (command: ReturnType<typeof gateway.create>): CommandMessage => ({
    ...command,
    commandId: newCommandId(),
    replyTo: null,
    trace: { traceparent: null, requestId: null },
  });

  it.each([
    ['a create', gateway.create(PERSONAL)],
    ['a create with an idempotency key only', gateway.create({ idempotencyKey: 'A. Person' })],
    ['an update that sets and removes', gateway.update({ updatedAt: AT, metadata: { name: 'A. Person', more: null } })],
  ])('hides the personal data in %s, and is read as it was sent', (_what, command) => {
    const sent = message(command);
    const text = encodeInput(sent, seals);
    expect(text).not.toContain('Person');
    expect(parseCommand(text, seals)).toEqual(sent);
  });

  it('is written as before without personal data', () => {
    for (const command of [
      gateway.create(),
      gateway.update({ updatedAt: AT, metadata: null }),
      gateway.update({ updatedAt: AT, amount: '1', amountBaseUnits: 1n }),
      gateway.cancel(),
    ]) {
      const sent = message(command);
      expect(encodeInput(sent, seals)).toBe(encodeInput(sent));
    }
  });

  it('is refused without a key, with another one, and under another id', () => {
    const sent = message(gateway.create(PERSONAL));
    const text = encodeInput(sent, seals);
    expect(() => parseCommand(text)).toThrow(NoSealError);
    expect(() => parseCommand(text, commandSeal(Buffer.alloc(32, 9)))).toThrow(UnreadableSecretError);
    const other = text.replaceAll(sent.commandId, newCommandId());
    expect(() => parseCommand(other, seals)).toThrow(UnreadableSecretError);
    expect(parseCommand(text, commandSeal([Buffer.alloc(32, 9), KEYRING]))).toEqual(sent);
  });
});
