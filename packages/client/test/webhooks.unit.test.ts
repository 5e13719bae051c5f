import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { SignatureError, webhooks } from '../src/index.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const payload = JSON.stringify({
  eventId: 'evt_1',
  type: 'intent.confirmed',
  data: { intent: { id: 'pi_1', metadata: { café: '☕' } } },
});
const sign = (text: string, secret = SECRET): string => createHmac('sha256', secret).update(text).digest('hex');

describe('webhooks.verify', () => {
  it('parses a webhook that was signed with the secret, from a string or bytes', async () => {
    expect(await webhooks.verify(payload, sign(payload), SECRET)).toMatchObject({
      eventId: 'evt_1',
      type: 'intent.confirmed',
    });
    expect(await webhooks.verify(Buffer.from(payload), sign(payload).toUpperCase(), SECRET)).toMatchObject({
      eventId: 'evt_1',
    });
  });

  it.each([
    ['another payload', payload.replace('pi_1', 'pi_2'), sign(payload), SECRET],
    ['another secret', payload, sign(payload, 'whsec_other'), SECRET],
    ['a changed digit', payload, sign(payload).replace(/.$/, (digit) => (digit === '0' ? '1' : '0')), SECRET],
    ['a truncated signature', payload, sign(payload).slice(0, 62), SECRET],
    ['a signature that is not hexadecimal', payload, 'z'.repeat(64), SECRET],
    ['no signature', payload, null, SECRET],
  ])('refuses a webhook with %s', async (_what, body, header, secret) => {
    await expect(webhooks.verify(body, header, secret)).rejects.toBeInstanceOf(SignatureError);
  });
});
