import { newIntentId } from '@pf/contracts';
import { until } from '@pf/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { WebhookService } from '../src/index.ts';
import { Harness, type Respond, status } from './harness.ts';

describe('The events of one intent', () => {
  let harness: Harness;
  let service: WebhookService;
  beforeAll(async () => {
    harness = await Harness.open();
    // Longer than it takes to emit all, while the first waits.
    service = await harness.start({ sendTimeoutMs: 120_000 });
  });
  afterAll(() => harness.close());

  const VERSIONS = [1, 2, 3, 4, 5];
  const emitAll = async (accountId: string, intents: readonly ReturnType<typeof newIntentId>[]): Promise<void> => {
    for (const version of VERSIONS)
      for (const intentId of intents) await harness.emit(accountId, { intentId, version });
  };
  const versionIn = (raw: string): string => (JSON.parse(raw) as { eventId: string }).eventId;

  it('are attempted one after the other, in order, while those of others go on', async () => {
    const underWay = new Map<string, number>();
    let most = 0;
    let together = 0;
    const { promise: emitted, resolve: go } = Promise.withResolvers<void>();
    const slow: Respond = (received, response) => {
      const { id } = (JSON.parse(received.raw) as { data: { intent: { id: string } } }).data.intent;
      underWay.set(id, (underWay.get(id) ?? 0) + 1);
      most = Math.max(most, ...underWay.values());
      together = Math.max(together, [...underWay.values()].filter((count) => count > 0).length);
      // Not before there is enough to attempt together.
      void emitted.then(() =>
        setTimeout(() => {
          underWay.set(id, (underWay.get(id) ?? 0) - 1);
          status(200)(received, response);
        }, 30),
      );
    };
    const { account, receiver } = await harness.account(slow);
    const intents = Array.from({ length: 6 }, () => newIntentId(0));
    await emitAll(account.id, intents);
    go();
    await until('all to arrive', () => receiver.received.length === intents.length * VERSIONS.length);
    const deliveries = await until('all to be recorded', async () => {
      const all = await harness.deliveries(account.id);
      return all.every((delivery) => delivery.status === 'delivered') ? all : null;
    });
    const versionOf = new Map(deliveries.map(({ eventId, version }) => [eventId, version]));
    for (const intentId of intents)
      expect(
        receiver.received.filter(({ raw }) => raw.includes(intentId)).map(({ raw }) => versionOf.get(versionIn(raw))),
      ).toEqual(VERSIONS);
    expect(most).toBe(1);
    expect(together).toBeGreaterThan(1);
  });

  it('overtake one whose attempt failed, which is repeated later', async () => {
    let refused = 0;
    const { account, receiver } = await harness.account((received, response) =>
      status(received.headers['x-pf-attempt'] === '1' && (refused += 1) === 2 ? 500 : 200)(received, response),
    );
    await emitAll(account.id, [newIntentId(0)]);
    await until('all to be attempted', () => receiver.received.length === VERSIONS.length);
    const waiting = await until('the second to wait', async () => {
      const pending = (await harness.deliveries(account.id)).filter((delivery) => delivery.status === 'pending');
      return pending.length === 1 ? pending[0] : null;
    });
    expect(waiting).toMatchObject({ version: 2, attemptCount: 1, responseStatus: 500 });
    harness.clock = waiting.nextAttemptAt?.getTime() ?? 0;
    await service.sweep();
    await until('it to be repeated', () => receiver.received.length === VERSIONS.length + 1);
    expect(receiver.received.at(-1)?.headers).toMatchObject({
      'x-pf-event-id': waiting.eventId,
      'x-pf-attempt': '2',
    });
  });
});
