import { describe, expect, it } from '@jest/globals';
import { intentEvent, parseEvent, payerEvent, payerEventOf, webhookBody } from '../src/index.ts';
import { linesOf } from './evolution/recorded.ts';

describe('the event of a payment that is claimed for other intents, too', () => {
  const alsoClaimedFor = ['pi_2other', 'pi_3other'];
  const line = linesOf('payments', 'events').find((one) => one.includes('"type":"intent.mismatched_payment"')) ?? '';
  const event = JSON.parse(line) as { readonly data: object };
  const body = webhookBody(parseEvent(JSON.stringify({ ...event, data: { ...event.data, alsoClaimedFor } }))) ?? '';

  it('names them to the account', () => {
    expect(intentEvent.parse(JSON.parse(body)).data.payment).toMatchObject({ alsoClaimedFor });
  });

  it('does not name them to payers', () => {
    const { payment } = payerEvent.parse(JSON.parse(payerEventOf(body))).data;
    expect(payment).toMatchObject({ differs: ['amount'] });
    expect(payment).not.toHaveProperty('alsoClaimedFor');
  });

  it('has no payment for payers where it has none', () => {
    const created = linesOf('payments', 'events').find((one) => one.includes('"type":"intent.created"')) ?? '';
    expect(payerEventOf(webhookBody(parseEvent(created)) ?? '')).not.toContain('"payment"');
  });
});
