import { describe, expect, it } from '@jest/globals';
import { intentEvent, payerEvent, payerEventOf } from '../src/index.ts';
import { EVENT_EXAMPLES } from '../src/openapi/event-examples.ts';

describe('the event of a payment that is claimed for other intents, too', () => {
  const body = EVENT_EXAMPLES['intent.payment_claimed'];

  it('names them to the account, and no payment', () => {
    const { claim, payment } = intentEvent.parse(body).data;
    expect([claim?.intentIds.length, payment]).toEqual([1, undefined]);
  });

  it('does not name them to payers', () => {
    const shown = payerEventOf(JSON.stringify(body));
    expect(payerEvent.parse(JSON.parse(shown)).type).toBe('intent.payment_claimed');
    expect(shown).not.toContain('claim"');
  });
});
