import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createKey, revokeKey } from '@pf/database';
import type { IntentId } from '@pf/domain';
import { given, events, samples } from '@pf/domain/testing';
import { until } from '@pf/testing';
import { isDueAgain, isOver } from '../../src/events/feeds.ts';
import { Streaming } from './streaming.ts';

const { FIRST } = samples;
/** So long that no comment comes during a test of something else. */
const SELDOM_MS = 3_600_000;

describe('event streams', () => {
  let streaming: Streaming;
  beforeAll(async () => {
    streaming = await Streaming.open(SELDOM_MS);
  });
  afterAll(() => streaming.close());

  it('cost one query per notice of an intent, however many clients follow it', async () => {
    const id = await streaming.intent();
    const streams = await Promise.all(Array.from({ length: 25 }, () => streaming.follow(id)));
    await until('all snapshots', () => streams.every(({ messages }) => messages.length === 1));
    streaming.queries = 0;
    await streaming.append(id, events.detected());
    await streaming.notice(id);
    await until('the event everywhere', () => streams.every(({ messages }) => messages.length === 2));
    expect(streaming.queries).toBe(1);
    for (const stream of streams) stream.close();
  });

  it('share a few queries among many intents with simultaneous notices', async () => {
    const ids: IntentId[] = [];
    for (let n = 0; n < 20; n++) ids.push(await streaming.intent());
    const streams = await Promise.all(ids.map((id) => streaming.follow(id)));
    await until('all snapshots', () => streams.every(({ messages }) => messages.length === 1));
    for (const id of ids) await streaming.append(id, events.detected());
    streaming.queries = 0;
    await Promise.all(ids.map((id) => streaming.notice(id)));
    await until('each its event', () => streams.every(({ messages }) => messages.length === 2));
    expect(streaming.queries).toBeLessThanOrEqual(5);
    expect(streams.map(({ messages }) => messages.map(({ id }) => id))).toEqual(ids.map(() => ['1', '2']));
    for (const stream of streams) stream.close();
  });

  it('have all events of many intents, also where one query cannot return them together', async () => {
    const ids: IntentId[] = [];
    for (let n = 0; n < 5; n++) ids.push(await streaming.intent());
    const streams = await Promise.all(ids.map((id) => streaming.follow(id)));
    await until('all snapshots', () => streams.every(({ messages }) => messages.length === 1));
    const length = 5 * 1024 * 1024;
    for (const id of ids) await streaming.append(id, events.detected(), length);
    for (const id of ids) await streaming.append(id, events.cancelled());
    await Promise.all(ids.map((id) => streaming.notice(id)));
    expect(await Promise.all(streams.map(({ ended }) => ended))).toEqual(ids.map(() => true));
    expect(streams.map(({ messages }) => messages.map(({ id }) => id))).toEqual(ids.map(() => ['1', '2', '3']));
  });

  it('send a client that joins late or resumes the events it has missed', async () => {
    const id = await streaming.intent();
    await streaming.append(id, events.detected());
    const first = await streaming.follow(id);
    await until('the snapshot', () => first.messages.length === 1);
    await streaming.append(id, events.pending(FIRST));
    const [fresh, back, behind] = [
      await streaming.follow(id),
      await streaming.follow(id, { lastEventId: 2 }),
      await streaming.follow(id, { lastEventId: 0 }),
    ];
    await streaming.notice(id);
    await until('all of it', () => [first, fresh, back, behind].every(({ messages }) => messages.at(-1)?.id === '3'));
    expect(
      [first, fresh, back, behind].map(({ messages }) =>
        messages.map(({ event, id: version }) => `${version} ${event}`),
      ),
    ).toEqual([
      ['2 snapshot', '3 intent.pending'],
      ['3 snapshot'],
      ['3 intent.pending'],
      ['1 intent.created', '2 intent.detected', '3 intent.pending'],
    ]);
    for (const stream of [first, fresh, back, behind]) stream.close();
  });

  it('continue when the database is available again', async () => {
    const id = await streaming.intent();
    const stream = await streaming.follow(id);
    await until('the snapshot', () => stream.messages.length === 1);
    streaming.failure = new Error('Connection terminated');
    streaming.queries = 0;
    await streaming.append(id, events.detected());
    await streaming.notice(id);
    await until('several failed queries', () => streaming.queries > 2);
    streaming.failure = null;
    await until('the event', () => stream.messages.length === 2);
    stream.close();
  });

  it('go on with the events of all intents while the row of one cannot be decoded', async () => {
    const ids = [await streaming.intent(), await streaming.intent()] as const;
    const streams = await Promise.all(ids.map((id) => streaming.follow(id)));
    await until('all snapshots', () => streams.every(({ messages }) => messages.length === 1));
    for (const id of ids) await streaming.append(id, events.detected());
    const repair = await streaming.damage(ids[0]);
    await Promise.all(ids.map((id) => streaming.notice(id)));
    await until('the event of both', () => streams.every(({ messages }) => messages.length === 2));
    await repair();
    for (const id of ids) {
      await streaming.append(id, events.cancelled());
      await streaming.notice(id);
    }
    await until('the end of both', () => streams.every(({ messages }) => messages.length === 3));
    expect(await Promise.all(streams.map(({ ended }) => ended))).toEqual([true, true]);
  });

  it('end with a reconnect time when the gateway stops, as do new ones meanwhile', async () => {
    const stopping = await Streaming.open(SELDOM_MS);
    const id = await stopping.intent();
    const stream = await stopping.follow(id);
    await until('the snapshot', () => stream.messages.length === 1);
    stopping.feeds.close();
    expect([await stream.ended, stream.messages.length]).toEqual([true, 1]);
    const late = await stopping.follow(id, { lastEventId: 1 });
    expect([late.status, await late.ended, late.messages]).toEqual([200, true, []]);
    for (const { retryMs } of [stream, late]) expect(retryMs()).toBeGreaterThanOrEqual(200);
    await stopping.close();
  });
});

describe('an event stream at each comment', () => {
  let streaming: Streaming;
  beforeAll(async () => {
    streaming = await Streaming.open(100);
  });
  afterAll(() => streaming.close());

  it('reads changes for which no notice came', async () => {
    const id = await streaming.intent();
    const stream = await streaming.follow(id);
    await until('the snapshot', () => stream.messages.length === 1);
    await streaming.append(id, events.detected());
    await until('the event', () => stream.messages.at(-1)?.event === 'intent.detected');
    stream.close();
  });

  it('closes if its key was revoked, and stays open otherwise', async () => {
    const { key, id: keyId } = await createKey(streaming.database, {
      accountId: streaming.account.id,
      livemode: false,
    });
    const id = await streaming.intent();
    const [stream, other] = [await streaming.follow(id, { key }), await streaming.follow(id)];
    await until('comments', () => stream.comments() > 1);
    await revokeKey(streaming.database, { accountId: streaming.account.id, keyId });
    expect(await stream.ended).toBe(true);
    const before = other.comments();
    await until('others to live on', () => other.comments() > before);
    other.close();
  });

  it('ends when the last transaction of an expired intent is dropped, for which there is no event', async () => {
    const id = await streaming.intent();
    for (const event of [events.prepared(FIRST), events.pending(FIRST)]) await streaming.append(id, event);
    const stream = await streaming.follow(id);
    // Otherwise the snapshot may be the expired intent already, and no event follows it.
    await until('the snapshot', () => stream.messages.length === 1);
    await streaming.append(id, events.expired(true));
    await until('the expiry', () => stream.messages.at(-1)?.event === 'intent.expired');
    const before = stream.comments();
    await until('it to stay open', () => stream.comments() > before + 1);
    await streaming.append(id, events.dropped(FIRST));
    expect(await stream.ended).toBe(true);
  });

  it('disconnects a client that reads nothing, and buffers at most one event for it', async () => {
    const id = await streaming.intent();
    const idle = connect(streaming.port, '127.0.0.1').pause();
    idle.on('error', () => undefined);
    idle.write(
      [
        `GET /intents/${id}/events HTTP/1.1`,
        `Authorization: Bearer ${streaming.account.apiKeys.test}`,
        'Accept: text/event-stream',
        'Host: x\r\n\r\n',
      ].join('\r\n'),
    );
    const another = await streaming.intent();
    const reader = await streaming.follow(another);
    await until('both to be connected', () => streaming.isConnected(idle.localPort) && reader.messages.length === 1);
    // More than all buffers between two processes can hold.
    const length = 16 * 1024 * 1024;
    for (const event of [events.detected(), events.pending(FIRST)]) {
      await streaming.append(id, event, length);
      await streaming.notice(id);
    }
    await streaming.append(another, events.detected());
    await until('the idle one to be dropped', () => !streaming.isConnected(idle.localPort), 30_000);
    await until('one who reads to be served', () => reader.messages.length === 2);
    let bytes = 0;
    idle.on('data', (chunk: Buffer) => (bytes += chunk.length)).resume();
    await once(idle, 'close');
    expect(bytes).toBeLessThan(length);
    reader.close();
  });
});

describe('isDueAgain', () => {
  const intent = given(events.created()).ledger.intent(samples.INTENT) ?? null;
  const event = { version: 2, type: 'intent.detected', body: '{}' };
  it.each([
    ['has more events than were read', { intent }, { intent: null, events: [event], more: true }, true],
    ['has no more', { intent }, { intent: null, events: [event], more: false }, false],
    ['got no room beside others', { intent: null }, { intent: null, events: [], more: true }, true],
    ['has a row that cannot be decoded', { intent: null }, { intent: null, events: [event], more: true }, false],
    ['is not projected', { intent: null }, undefined, false],
  ])('decides whether an intent is looked at again at once: one that %s', (_name, feed, seen, isDue) => {
    expect(isDueAgain(feed, seen)).toBe(isDue);
  });
});

describe('isOver', () => {
  it.each([
    ['created', [events.created()], false],
    ['confirmed', [events.created(), events.confirmed(FIRST)], false],
    ['finalized', [events.created(), events.confirmed(FIRST), events.finalized(FIRST)], true],
    ['cancelled', [events.created(), events.cancelled()], true],
    ['expired', [events.created(), events.expired()], true],
    [
      'expired with a live submission',
      [events.created(), events.prepared(FIRST), events.pending(FIRST), events.expired(true)],
      false,
    ],
    ['failed', [events.created(), events.prepared(FIRST), events.pending(FIRST), events.failed(FIRST)], true],
  ])('decides whether the stream of an intent ends: %s', (_name, past, over) => {
    const intent = given(...past).ledger.intent(samples.INTENT);
    expect(intent && isOver(intent)).toBe(over);
  });
});
