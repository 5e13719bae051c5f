import { describe, expect, it } from '@jest/globals';
import { API_VERSIONS } from '@pf/contracts';
import type { DueDelivery } from '@pf/database';
import { createLogger } from '@pf/runtime';
import { Deliverer } from '../src/deliverer.ts';

describe('Deliverer', () => {
  const sent: string[] = [];
  const deliverer = new Deliverer({
    log: createLogger('test', 'silent'),
    now: Date.now,
    secrets: { inForce: () => Promise.resolve(['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLasw']) },
    sender: {
      send: (_url: string, _headers: unknown, body: Buffer) => {
        sent.push(body.toString());
        return Promise.resolve({ kind: 'not_sent', message: 'nothing listens' });
      },
    },
  } as never);
  const at = new Date('2026-11-21T12:00:00.000Z');
  const delivery = (change: Pick<DueDelivery, 'eventType' | 'body'>): DueDelivery => ({
    deliveryId: 'whd_1',
    endpointId: 'whe_1',
    accountId: 'acct_1',
    livemode: false,
    eventId: 'evt_1',
    eventAt: at,
    intentId: null,
    url: 'https://shop.example/hooks',
    apiVersion: API_VERSIONS[0],
    number: 1,
    firstAttemptAt: null,
    createdAt: at,
    dueAt: at,
    traceparent: null,
    requestId: null,
    ...change,
  });

  it.each([
    ['intent.finalized', '{"type":"intent.finalized"}'],
    ['payment_link.completed', '{"type":"intent.finalized"}'],
    ['payment_link.completed', '{"ty\\u0070e":"deposit.received"}'],
    ['deposit.received', '{}'],
  ])('signs no %s that is not of the ledger: %s', async (eventType, body) => {
    await expect(deliverer.attempt(delivery({ eventType, body }), 0)).rejects.toThrow('is not in the ledger');
    expect(sent).toEqual([]);
  });

  it('sends what is of a link', async () => {
    const body = '{"type":"payment_link.completed"}';
    await expect(deliverer.attempt(delivery({ eventType: 'payment_link.completed', body }), 0)).rejects.toThrow();
    expect(sent).toEqual([body]);
  });
});
