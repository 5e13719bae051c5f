import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { signatureHeaders } from '../src/signature.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OTHER = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const message = {
  eventId: 'evt_5Ttq3mAUhiX8hE3c4f5YQw',
  timestamp: 1_614_265_330,
  body: Buffer.from('{"eventId":"evt_5Ttq3mAUhiX8hE3c4f5YQw","memo":"käse"}'),
};

describe('The signatures of a delivery', () => {
  it('match the test vector of Standard Webhooks', () => {
    const headers = signatureHeaders(
      { eventId: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1_614_265_330, body: Buffer.from('{"test": 2432232314}') },
      [SECRET],
    );
    expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('match those of the reference library of Standard Webhooks', () => {
    const expected = new Webhook(SECRET).sign(
      message.eventId,
      new Date(message.timestamp * 1_000),
      message.body.toString(),
    );
    expect(signatureHeaders(message, [SECRET])).toEqual({
      'X-PF-Signature': createHmac('sha256', Buffer.from(SECRET, 'utf8')).update(message.body).digest('hex'),
      'webhook-id': message.eventId,
      'webhook-timestamp': '1614265330',
      'webhook-signature': expected,
    });
  });

  it('use both secrets in webhook-signature, and only the current one in X-PF-Signature', () => {
    const now = Math.floor(Date.now() / 1_000);
    const headers = signatureHeaders({ ...message, timestamp: now }, [SECRET, OTHER]);
    for (const secret of [SECRET, OTHER])
      expect(new Webhook(secret).verify(message.body.toString(), headers)).toMatchObject({ memo: 'käse' });
    expect(headers['X-PF-Signature']).toBe(signatureHeaders(message, [SECRET])['X-PF-Signature']);
  });
});
