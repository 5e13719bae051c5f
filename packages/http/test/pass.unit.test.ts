import { describe, expect, it } from '@jest/globals';
import { SignJWT } from 'jose/jwt/sign';
import { type Pass, PASS_SECONDS, readPass, signPass } from '../src/pass.ts';

const SECRET = Buffer.from('a secret of at least 32 characters');
const OTHER = Buffer.from('another secret, as long as the other');
const AT = Date.parse('2026-01-01T00:00:00.000Z');
const PASS: Pass = { accountId: 'acct_1', livemode: false, plan: 'growth', userId: 'usr_1', secrets: true };
const CLAIMS = { account: 'acct_1', mode: 'live', plan: 'scale', scope: 'full', secrets: true };

/** What the dashboard would sign, with changes. */
const signed = (
  change: (token: SignJWT) => SignJWT,
  { claims = CLAIMS, typ = 'pass+jwt', alg = 'HS256' }: { claims?: object; typ?: string; alg?: string } = {},
): Promise<string> =>
  change(
    new SignJWT({ ...claims })
      .setProtectedHeader({ alg, typ })
      .setSubject('usr_1')
      .setIssuer('dashboard')
      .setAudience('gateway')
      .setIssuedAt(AT / 1_000)
      .setExpirationTime(AT / 1_000 + PASS_SECONDS),
  ).sign(SECRET);

describe('a pass', () => {
  it('says for which account, mode and person it was signed', async () => {
    for (const livemode of [true, false])
      expect(await readPass(await signPass({ ...PASS, livemode }, SECRET, AT), [SECRET], AT)).toEqual({
        ...PASS,
        livemode,
      });
  });

  it('allows access to secrets only if it says so', async () => {
    expect(await readPass(await signPass({ ...PASS, secrets: false }, SECRET, AT), [SECRET], AT)).toMatchObject({
      secrets: false,
    });
    // That of a dashboard of before says nothing of it.
    const { secrets: _, ...before } = CLAIMS;
    expect(await readPass(await signed((token) => token, { claims: before }), [SECRET], AT)).toMatchObject({
      secrets: false,
    });
    expect(
      await readPass(await signed((token) => token, { claims: { ...CLAIMS, secrets: 'yes' } }), [SECRET], AT),
    ).toBeNull();
  });

  it('is accepted under each secret, and under no other', async () => {
    const pass = await signPass(PASS, SECRET, AT);
    expect(await readPass(pass, [OTHER, SECRET], AT)).toEqual(PASS);
    expect(await readPass(pass, [OTHER], AT)).toBeNull();
    expect(await readPass(pass, [], AT)).toBeNull();
  });

  it('ends after a minute, and a little later where clocks differ or a stream goes on', async () => {
    const pass = await signPass(PASS, SECRET, AT);
    const end = AT + PASS_SECONDS * 1_000;
    expect(await readPass(pass, [SECRET], end + 4_000)).toEqual(PASS);
    expect(await readPass(pass, [SECRET], end + 6_000)).toBeNull();
    expect(await readPass(pass, [SECRET], end + 64_000, 60)).toEqual(PASS);
    expect(await readPass(pass, [SECRET], end + 66_000, 60)).toBeNull();
    expect(await readPass(pass, [SECRET], AT - 6_000)).toBeNull();
  });

  it.each([
    ['a changed payload', async () => (await signPass(PASS, SECRET, AT)).replace(/\.[^.]+\./, `.${btoa('{}')}.`)],
    ['no signature', async () => (await signPass(PASS, SECRET, AT)).replace(/[^.]+$/, '')],
    [
      'the algorithm "none"',
      async () =>
        (await signPass(PASS, SECRET, AT)).replace(
          /^[^.]+/,
          btoa('{"alg":"none","typ":"pass+jwt"}').replace(/=+$/, ''),
        ),
    ],
    ['another algorithm', () => signed((token) => token, { alg: 'HS512' })],
    ['another type', () => signed((token) => token, { typ: 'JWT' })],
    ['another issuer', () => signed((token) => token.setIssuer('gateway'))],
    ['another audience', () => signed((token) => token.setAudience('dashboard'))],
    ['no person', () => signed((token) => token.setSubject(''))],
    ['no account', () => signed((token) => token, { claims: { ...CLAIMS, account: '' } })],
    ['an unknown mode', () => signed((token) => token, { claims: { ...CLAIMS, mode: 'any' } })],
    ['an unknown plan', () => signed((token) => token, { claims: { ...CLAIMS, plan: 'all' } })],
    ['another scope', () => signed((token) => token, { claims: { ...CLAIMS, scope: 'payer' } })],
    ['a longer life', () => signed((token) => token.setIssuedAt(AT / 1_000 - 120))],
    ['another text', async () => 'pk_test_x'],
    ['three parts of nothing', async () => 'a.b.c'],
  ])('is refused with %s', async (_what, make) => {
    expect(await readPass(await make(), [SECRET], AT)).toBeNull();
  });

  it('is signed as the refused ones of this test are, but for what makes them invalid', async () => {
    expect(await readPass(await signed((token) => token), [SECRET], AT)).toEqual({
      ...PASS,
      livemode: true,
      plan: 'scale',
    });
  });
});
