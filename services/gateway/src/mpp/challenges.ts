import { createHmac, type KeyObject } from 'node:crypto';
import type { MppMethod } from '@pf/chains';
import { parseIntentId } from '@pf/contracts';
import { derivedMacKeys, type Keyring } from '@pf/database';
import { type PaymentIntent, termsOf } from '@pf/domain';
import { equalInConstantTime } from '@pf/runtime';
import type { OpenedIntent } from '../client-secrets.ts';
import { type EchoedChallenge, readCredential } from './credential.ts';

/** A challenge of MPP (paymentauth.org): a charge that one intent asks for. */
type Challenge = Pick<EchoedChallenge, 'id' | 'realm' | 'method' | 'intent' | 'request' | 'expires'>;

const MODES = [true, false] as const;
/** The id of a challenge: its intent, then an HMAC of the whole challenge. */
const ID = /^(pi_[1-9A-HJ-NP-Za-km-z]{16,22})_mpp_([\w-]{43})$/;
const PARTITIONS_MAX = 256;

/**
 * Makes challenges, and finds out whether a credential answers one of them, unchanged: its id is an HMAC, with keys
 * that are derived from SECRETS_KEY. So a credential opens its intent to be paid, in place of the key or secret with
 * which the challenge was asked for. Nothing is stored.
 */
export class MppChallenges {
  readonly #keys: readonly KeyObject[];

  constructor(keyring: Keyring) {
    this.#keys = derivedMacKeys(keyring, 'mpp_challenge');
  }

  /** It expires with the intent. */
  make(intent: PaymentIntent, method: MppMethod): Challenge {
    const [key] = this.#keys;
    if (key === undefined) throw new Error('SECRETS_KEY holds no key');
    const { realm, request } = method.charge(termsOf(intent));
    const challenge = {
      realm,
      method: method.name,
      intent: 'charge',
      request: Buffer.from(canonical(request)).toString('base64url'),
      expires: new Date(intent.expiresAt).toISOString(),
    } as const;
    const mac = macOf(key, intent.id, intent.livemode, challenge);
    return { id: `${intent.id}_mpp_${mac}`, ...challenge };
  }

  /** What the credential in an Authorization header opens: null where it does not answer a challenge made here. */
  read(authorization: string | undefined): OpenedIntent | null {
    const challenge = readCredential(authorization)?.challenge;
    const [, id, given] = ID.exec(challenge?.id ?? '') ?? [];
    const intentId = id === undefined ? undefined : parseIntentId(id, PARTITIONS_MAX)?.id;
    if (challenge === undefined || intentId === undefined || given === undefined) return null;
    for (const livemode of MODES)
      // As text: decoded, the last of the 43 characters would have two bits that count for nothing.
      if (this.#keys.some((key) => equalInConstantTime(macOf(key, intentId, livemode, challenge), given)))
        return { access: 'mpp_challenge', intentId, livemode };
    return null;
  }
}

/** As a header: the values are ASCII without quotes. */
export const headerOf = (challenge: Challenge): string =>
  `Payment ${(['id', 'realm', 'method', 'intent', 'expires', 'request'] as const)
    .map((name) => `${name}="${challenge[name]}"`)
    .join(', ')}`;

const macOf = (
  key: KeyObject,
  intentId: string,
  livemode: boolean,
  { realm, method, intent, request, expires }: Omit<Challenge, 'id'>,
): string =>
  createHmac('sha256', key)
    .update(JSON.stringify([intentId, livemode, realm, method, intent, request, expires]))
    .digest('base64url');

/** RFC 8785, for objects of text, whole numbers and lists: clients write the request again in this form. */
const canonical = (value: object): string =>
  JSON.stringify(value, (_name, one: unknown) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
