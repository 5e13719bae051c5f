import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { SignatureError, type WebhookEvent, webhooks } from '../src/index.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OTHER = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const payload = JSON.stringify({
  eventId: 'evt_1',
  type: 'intent.confirmed',
  data: { intent: { id: 'pi_1', metadata: { café: '☕' } } },
});
const seconds = (): number => Math.floor(Date.now() / 1_000);

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text);
const v1 = (secret: string, text: string): string =>
  `v1,${hmac(Buffer.from(secret.replace('whsec_', ''), 'base64'), text).digest('base64')}`;

/** The headers of a delivery, as the service sends them. */
function headersOf({
  body = payload,
  secrets = [SECRET],
  timestamp = String(seconds()),
}: { body?: string; secrets?: readonly string[]; timestamp?: string } = {}) {
  return {
    'x-pf-signature': hmac(secrets[0] ?? '', body).digest('hex'),
    'webhook-id': 'evt_1',
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map((secret) => v1(secret, `evt_1.${timestamp}.${body}`)).join(' '),
  };
}

describe('webhooks.verify', () => {
  it('parses a webhook from a string or bytes', async () => {
    const expected = { eventId: 'evt_1', data: { intent: { metadata: { café: '☕' } } } };
    expect(await webhooks.verify(payload, headersOf(), SECRET)).toMatchObject(expected);
    expect(await webhooks.verify(Buffer.from(payload), headersOf(), SECRET)).toMatchObject(expected);
  });

  it('reads headers of fetch, of Node and of proxies that capitalize', async () => {
    const capitalized = Object.fromEntries(
      Object.entries(headersOf()).map(([name, value]) => [name.toUpperCase(), value]),
    );
    for (const headers of [new Headers(headersOf()), { ...headersOf(), 'set-cookie': ['a'] }, capitalized])
      expect(await webhooks.verify(payload, headers, SECRET)).toMatchObject({ eventId: 'evt_1' });
  });

  it.each([
    ['the secret that the receiver knows signed first', [SECRET, OTHER], SECRET],
    ['the secret that the receiver knows signed second', [OTHER, SECRET], SECRET],
    ['the receiver knows both secrets and one signed', [OTHER], [SECRET, OTHER]],
    ['a signature of an unknown version stands beside it', [SECRET], [OTHER, SECRET]],
  ])('accepts a webhook during a rotation when %s', async (_when, signing, known) => {
    const headers = headersOf({ secrets: signing });
    headers['webhook-signature'] = `v2,AAAA v1,%% ${headers['webhook-signature']}`;
    expect(await webhooks.verify(payload, headers, known)).toMatchObject({ eventId: 'evt_1' });
  });

  it('accepts X-PF-Signature alone when the tolerance is unlimited', async () => {
    const headers = { 'X-PF-Signature': headersOf()['x-pf-signature'] };
    expect(await webhooks.verify(payload, headers, [OTHER, SECRET], { toleranceSeconds: Infinity })).toMatchObject({
      eventId: 'evt_1',
    });
    await expect(webhooks.verify(payload, headers, SECRET)).rejects.toThrow('toleranceSeconds: Infinity');
    await expect(webhooks.verify(payload, headers, OTHER, { toleranceSeconds: Infinity })).rejects.toThrow('invalid');
  });

  it('refuses a webhook outside the tolerance of 5 minutes', async () => {
    for (const offset of [-290, 290])
      await webhooks.verify(payload, headersOf({ timestamp: String(seconds() + offset) }), SECRET);
    for (const offset of [-310, 310])
      await expect(
        webhooks.verify(payload, headersOf({ timestamp: String(seconds() + offset) }), SECRET),
      ).rejects.toThrow("more than 300 s from this machine's clock");
    const captured = headersOf({ timestamp: String(seconds() - 60) });
    await expect(webhooks.verify(payload, captured, SECRET, { toleranceSeconds: 30 })).rejects.toThrow(SignatureError);
    await expect(webhooks.verify(payload, captured, SECRET, { toleranceSeconds: NaN })).rejects.toThrow(SignatureError);
  });

  const good = headersOf();
  it.each<[string, string, Record<string, string>, string | string[]]>([
    ['another payload', payload.replace('pi_1', 'pi_2'), good, SECRET],
    ['another secret', payload, headersOf({ secrets: [OTHER] }), SECRET],
    ['another id', payload, { ...good, 'webhook-id': 'evt_2' }, SECRET],
    ['another time', payload, { ...good, 'webhook-timestamp': String(seconds() + 60) }, SECRET],
    ['a time that is no number', payload, headersOf({ timestamp: 'now' }), SECRET],
    [
      'a truncated signature',
      payload,
      { ...good, 'webhook-signature': good['webhook-signature'].slice(0, 20) },
      SECRET,
    ],
    ['an empty signature', payload, { ...good, 'webhook-signature': '' }, SECRET],
    ['no headers', payload, {}, SECRET],
    [
      'a valid X-PF-Signature but a wrong webhook-signature',
      payload,
      { ...good, 'webhook-signature': 'v1,AAAA' },
      SECRET,
    ],
    ['no secret', payload, good, []],
    ['an empty secret', payload, good, ''],
    ['a secret that is not base64', payload, good, 'whsec_%%'],
  ])('refuses a webhook with %s', async (_what, body, headers, secret) => {
    await expect(webhooks.verify(body, headers, secret)).rejects.toBeInstanceOf(SignatureError);
  });
});

/** What a program does with each type: the compiler says when one is missing, and what `data` has. */
function meaningOf(event: WebhookEvent): string {
  switch (event.type) {
    case 'intent.created':
    case 'intent.detected':
    case 'intent.pending':
    case 'intent.confirmed':
    case 'intent.finalized':
    case 'intent.failed':
    case 'intent.expired':
    case 'intent.cancelled':
    case 'intent.retry_required':
      return event.data.intent.id;
    case 'intent.extra_payment':
    case 'intent.mismatched_payment':
    case 'intent.mismatch_withdrawn':
    case 'intent.late_payment':
      return event.data.payment.sender;
    case 'intent.payment_claimed':
      return event.data.claim.intentIds.join();
    case 'intent.overpaid':
      return event.data.overpayment.amountBaseUnits;
    case 'payment_link.paid':
    case 'payment_link.extra_payment':
      return event.data.intentId;
    case 'payment_link.cancelled':
    case 'payment_link.expired':
      return event.data.paymentLink.id;
    case 'deposit.received':
    case 'deposit.finalized':
    case 'deposit.lost':
    case 'deposit.withdrawn':
    case 'deposit.ignored':
    case 'deposit.reopened':
    case 'deposit.assigned':
    case 'deposit.unassigned':
      return event.data.deposit.amountBaseUnits;
    case 'webhook_endpoint.disabled':
      return event.data.endpoint.disabledBy;
    case 'webhook_endpoint.test':
      return event.data.endpoint.url;
    default:
      return event satisfies never;
  }
}

describe('WebhookEvent', () => {
  it('has for each type what its data has', () => {
    const data = {
      intent: { id: 'pi_1' },
      payment: { sender: '0x1' },
      paymentLink: { id: 'pl_1' },
      intentId: 'pi_2',
      deposit: { amountBaseUnits: '12500000' },
      endpoint: { url: 'https://shop.example', disabledBy: 'gone' },
    };
    const meaning = (type: WebhookEvent['type']) => meaningOf({ type, data } as unknown as WebhookEvent);
    expect(
      (['intent.failed', 'intent.late_payment', 'payment_link.paid', 'webhook_endpoint.test'] as const).map(meaning),
    ).toEqual(['pi_1', '0x1', 'pi_2', 'https://shop.example']);
  });
});
