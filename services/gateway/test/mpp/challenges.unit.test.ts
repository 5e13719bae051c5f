import { describe, expect, it } from '@jest/globals';
import type { MppMethod } from '@pf/chains';
import { newIntentId } from '@pf/contracts';
import type { PaymentIntent } from '@pf/domain';
import { MppChallenges, headerOf } from '../../src/mpp/challenges.ts';
import { credentialFor, readChallenge } from './credentials.ts';

const intent = {
  id: newIntentId(1),
  livemode: false,
  expiresAt: Date.parse('2026-11-21T12:00:00.000Z'),
} as PaymentIntent;
const method: MppMethod = {
  name: 'tempo',
  charge: () => ({ realm: '0x5e', request: { recipient: '0x70', amount: '7', methodDetails: { b: 1, a: ['x'] } } }),
  parse: () => ({ ok: false, problem: 'is not read here' }),
  senderOf: () => null,
};
const challenges = new MppChallenges(Buffer.alloc(32, 1));
const made = readChallenge(headerOf(challenges.make(intent, method)));
const read = (challenge: object, by = challenges) =>
  by.read(credentialFor({ ...made, ...challenge }, { type: 'hash', hash: '0x' })['Authorization']);

/** Another base64url of the same bytes: 43 characters have two bits more than 32 bytes. */
function otherSpelling(id: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return id.replace(/.$/, (last) => alphabet.charAt(alphabet.indexOf(last) + 1));
}

describe('MPP challenges', () => {
  it('expire with the intent, and ask for what its chain asks for, in canonical JSON', () => {
    expect(made).toMatchObject({
      realm: '0x5e',
      method: 'tempo',
      intent: 'charge',
      expires: '2026-11-21T12:00:00.000Z',
    });
    expect(made.id.replace(intent.id, '')).toMatch(/^_mpp_[\w-]{43}$/);
    expect(Buffer.from(made.request, 'base64url').toString()).toBe(
      '{"amount":"7","methodDetails":{"a":["x"],"b":1},"recipient":"0x70"}',
    );
  });

  it('open their intent, in its mode', () => {
    expect(read({})).toEqual({ access: 'mpp_challenge', intentId: intent.id, livemode: false });
    const live = challenges.make({ ...intent, livemode: true }, method);
    expect(read(live)).toMatchObject({ livemode: true });
  });

  it('are rejected once any part was changed', () => {
    const other = { ...intent, id: newIntentId(2) };
    const changes = [
      { id: made.id.replace(intent.id, other.id) },
      { id: made.id.slice(0, -1) },
      { id: otherSpelling(made.id) },
      { realm: '0x5f' },
      { method: 'solana' },
      { request: Buffer.from('{"amount":"1"}').toString('base64url') },
      { expires: '2026-11-21T12:00:00.001Z' },
    ];
    for (const change of changes) expect([change, read(change)]).toEqual([change, null]);
  });

  it('stay valid while the key that made them is in the keyring', () => {
    const rotated = [Buffer.alloc(32, 2), Buffer.alloc(32, 1)];
    expect(read({}, new MppChallenges(rotated))).not.toBeNull();
    expect(read({}, new MppChallenges(Buffer.alloc(32, 2)))).toBeNull();
  });

  it.each(['', 'Payment', 'Payment !', 'Payment AAAA', `Payment ${Buffer.from('[]').toString('base64url')}`])(
    'are not in the header "%s"',
    (header) => expect(challenges.read(header)).toBeNull(),
  );
});
