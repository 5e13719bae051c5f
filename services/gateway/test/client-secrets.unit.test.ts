import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import {
  CLIENT_SECRET,
  newIntentId,
  newPaymentLinkId,
  PAYMASTER_TOKEN,
  PAYMENT_LINK_SECRET,
  SOLANA_PAY_TOKEN,
} from '@pf/contracts';
import type { ChainId } from '@pf/domain';
import fc from 'fast-check';
import { ClientSecrets } from '../src/client-secrets.ts';

const SOLANA = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' as ChainId;
const BASE = 'eip155:84532' as ChainId;
const test = () => ({ id: newIntentId(0), livemode: false, chain: SOLANA });
const bearer = (text: string | null): string => `Bearer ${text}`;

describe('ClientSecrets', () => {
  const key = randomBytes(32);
  const secrets = new ClientSecrets(key);

  it('make a secret and a token, each of which opens its intent', () => {
    const intent = test();
    const { clientSecret } = secrets.forPayer(intent);
    expect(clientSecret).toMatch(CLIENT_SECRET);
    expect(clientSecret.startsWith(`${intent.id}_secret_`)).toBe(true);
    const opened = { intentId: intent.id, livemode: false };
    expect(secrets.read(bearer(clientSecret))).toEqual({ ...opened, access: 'client_secret' });
    const token = secrets.solanaPayToken(intent);
    expect(token).toMatch(SOLANA_PAY_TOKEN);
    expect(secrets.read(bearer(token))).toEqual({ ...opened, access: 'solana_pay_token' });
  });

  it('make the URL of a paymaster service, whose token opens its intent', () => {
    const intent = test();
    expect(secrets.paymasterUrl(intent)).toBeNull();
    const url = new ClientSecrets(key, new URL('https://pay.example')).paymasterUrl(intent) ?? '';
    const [, token = ''] = /^https:\/\/pay\.example\/p\/(.+)$/.exec(url) ?? [];
    expect(token).toMatch(PAYMASTER_TOKEN);
    const opened = { intentId: intent.id, livemode: false, access: 'paymaster_token' };
    expect(secrets.read(bearer(token))).toEqual(opened);
    expect(secrets.read(bearer(token.replace('_pm_', '_spl_')))).toBeNull();
  });

  it('make the same ones again, and others for another intent, mode or key', () => {
    const intent = test();
    const made = (by: ClientSecrets, of: ReturnType<typeof test>) => by.forPayer(of).clientSecret.split('_secret_')[1];
    expect(made(new ClientSecrets(key), intent)).toBe(made(secrets, intent));
    const all = [
      made(secrets, intent),
      made(secrets, test()),
      made(secrets, { ...intent, livemode: true }),
      made(new ClientSecrets(randomBytes(32)), intent),
    ];
    expect(new Set(all).size).toBe(all.length);
  });

  it('recognize the mode by the secret', () => {
    const live = { ...test(), livemode: true };
    expect(secrets.read(bearer(secrets.forPayer(live).clientSecret))).toMatchObject({ livemode: true });
  });

  it('reject secrets and tokens that they did not issue', () => {
    const [intent, other] = [test(), test()];
    const { clientSecret } = secrets.forPayer(intent);
    const code = clientSecret.slice(`${intent.id}_secret_`.length);
    const changed = code.startsWith('2') ? '3' : '2';
    const forged = [
      `${other.id}_secret_${code}`,
      `${intent.id}_secret_${changed}${code.slice(1)}`,
      `${intent.id}_secret_${code.slice(0, -1)}`,
      `${intent.id}_secret_${code}1`,
      `${intent.id}_spl_${code.slice(0, 22)}`,
      `${intent.id}_spl_${code}`,
      `${intent.id}_secret_${secrets.solanaPayToken(intent)?.split('_spl_')[1]}`,
      `${intent.id}_secret_`,
      `${intent.id}`,
      new ClientSecrets(randomBytes(32)).forPayer(intent).clientSecret,
      `pk_test_${'x'.repeat(32)}`,
      '',
    ];
    expect(forged.map((text) => secrets.read(bearer(text)))).toEqual(forged.map(() => null));
    expect([secrets.read(undefined), secrets.read(`Basic ${clientSecret}`)]).toEqual([null, null]);
  });

  it('reject any other text without failing', () => {
    const intent = test();
    const texts = [secrets.forPayer(intent).clientSecret, secrets.solanaPayToken(intent) ?? ''];
    const character = fc.constantFrom(...'123456789ABCxyz_-%. ⚡');
    const changed = fc
      .tuple(fc.constantFrom(...texts), fc.nat(80), fc.nat(3), fc.string({ unit: character, maxLength: 3 }))
      .map(([text, at, length, by]) => text.slice(0, at) + by + text.slice(at + length));
    fc.assert(
      fc.property(fc.oneof(fc.string(), changed), (text) => {
        fc.pre(!texts.includes(text.trim()));
        expect(secrets.read(bearer(text))).toBeNull();
      }),
      { numRuns: 2_000 },
    );
  });

  it('verify with every key of the ring, and make with the first', () => {
    const [intent, next] = [test(), randomBytes(32)];
    const before = secrets.forPayer(intent).clientSecret;
    const [added, first, alone] = [[key, next], [next, key], [next]].map((ring) => new ClientSecrets(ring)) as [
      ClientSecrets,
      ClientSecrets,
      ClientSecrets,
    ];
    expect(added.forPayer(intent).clientSecret).toBe(before);
    const after = first.forPayer(intent).clientSecret;
    expect(after).not.toBe(before);
    for (const ring of [added, first])
      for (const text of [before, after]) expect(ring.read(bearer(text))).toMatchObject({ intentId: intent.id });
    expect(alone.read(bearer(before))).toBeNull();
  });

  it('make a secret for a payment link, which opens that link in its mode and nothing else', () => {
    const [id, other] = [newPaymentLinkId(), newPaymentLinkId()];
    const at = new ClientSecrets(key, new URL('https://pay.example'));
    const { clientSecret, url } = at.forPayerOfLink({ id, livemode: true });
    const [, code = ''] = clientSecret.split('_secret_');
    expect([PAYMENT_LINK_SECRET.test(clientSecret), url]).toEqual([true, `https://pay.example/link/${id}#${code}`]);
    const opened = { access: 'payment_link_secret', linkId: id, livemode: true };
    expect(secrets.read(bearer(clientSecret))).toEqual(opened);
    expect(secrets.forPayerOfLink({ id, livemode: true }).url).toBeNull();
    const others = [
      secrets.forPayerOfLink({ id, livemode: false }).clientSecret,
      secrets.forPayerOfLink({ id: other, livemode: true }).clientSecret,
      new ClientSecrets(randomBytes(32)).forPayerOfLink({ id, livemode: true }).clientSecret,
    ];
    expect(others.map((text) => text.split('_secret_')[1])).not.toContain(code);
    // Each kind of secret has keys of its own: the code of one opens nothing of another.
    const intent = { id: id.replace('pl_', 'pi_') as ReturnType<typeof newIntentId>, livemode: true };
    const ofIntent = secrets.forPayer(intent).clientSecret;
    expect(ofIntent.split('_secret_')[1]).not.toBe(code);
    for (const forged of [`${intent.id}_secret_${code}`, `${other}_secret_${code}`, `${id}_secret_`])
      expect(secrets.read(bearer(forged))).toBeNull();
  });

  it('give a token for Solana only, and a URL only where there is a page', () => {
    expect(secrets.solanaPayToken({ ...test(), chain: BASE })).toBeNull();
    const intent = test();
    expect(secrets.forPayer(intent).paymentUrl).toBeNull();
    const { clientSecret, paymentUrl } = new ClientSecrets(key, new URL('https://pay.example')).forPayer(intent);
    expect(paymentUrl).toBe(`https://pay.example/pay/${intent.id}#${clientSecret.split('_secret_')[1]}`);
  });
});
