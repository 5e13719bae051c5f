import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { networkOf } from '@pf/chains';
import { CLIENT_SECRETS, type ClientSecretKind, readClientSecret, writeClientSecret } from '@pf/contracts';
import { type Keyring, keysOf } from '@pf/database';
import type { IntentId, PaymentIntent, PublicIntent } from '@pf/domain';
import { bearerOf } from './api-keys.ts';

/** What a client secret or a Solana Pay token opens: one intent. */
export interface OpenedIntent {
  readonly access: ClientSecretKind;
  readonly intentId: IntentId;
  readonly livemode: boolean;
}

const MODES = [true, false] as const;

/**
 * Makes and verifies what opens one intent to its payer: an HMAC of its id and mode, with keys that are derived from
 * SECRETS_KEY. The first key makes, all verify. Nothing is stored, and nothing is looked up to refuse a forged one.
 */
export class ClientSecrets {
  readonly #keys: Readonly<Record<ClientSecretKind, readonly Buffer[]>>;
  readonly #checkoutUrl: URL | undefined;

  /** @param checkoutUrl the origin of the payment page, if there is one */
  constructor(keyring: Keyring, checkoutUrl?: URL) {
    const derived = (kind: ClientSecretKind): readonly Buffer[] =>
      keysOf(keyring).map((key) => Buffer.from(hkdfSync('sha256', key, '', `payment intents: ${kind}`, 32)));
    this.#keys = { client_secret: derived('client_secret'), solana_pay_token: derived('solana_pay_token') };
    this.#checkoutUrl = checkoutUrl;
  }

  /** What the creator of an intent passes to its payer. */
  forPayer({ id, livemode }: Pick<PublicIntent, 'id' | 'livemode'>): {
    readonly clientSecret: string;
    readonly paymentUrl: string | null;
  } {
    const clientSecret = this.#make({ access: 'client_secret', intentId: id, livemode });
    // Browsers keep what is behind the # to themselves.
    const fragment = clientSecret.slice(id.length + CLIENT_SECRETS.client_secret.mark.length);
    return {
      clientSecret,
      paymentUrl: this.#checkoutUrl ? new URL(`/pay/${id}#${fragment}`, this.#checkoutUrl).href : null,
    };
  }

  /** For the link of a Solana Pay transaction request; null on other chains. */
  solanaPayToken({ id, livemode, chain }: Pick<PaymentIntent, 'id' | 'livemode' | 'chain'>): string | null {
    if (networkOf(chain).family !== 'solana') return null;
    return this.#make({ access: 'solana_pay_token', intentId: id, livemode });
  }

  /** What an Authorization header opens: null if it has nothing that was made here. */
  read(authorization: string | undefined): OpenedIntent | null {
    const parts = readClientSecret(bearerOf(authorization) ?? '');
    if (!parts) return null;
    const { kind, intentId, mac } = parts;
    for (const livemode of MODES) {
      const opened = { access: kind, intentId, livemode };
      if (this.#keys[kind].some((key) => isEqual(macOf(key, opened), mac))) return opened;
    }
    return null;
  }

  #make(opened: OpenedIntent): string {
    const { access, intentId } = opened;
    const [first] = this.#keys[access];
    if (first === undefined) throw new Error('SECRETS_KEY holds no key');
    return writeClientSecret({ kind: access, intentId, mac: macOf(first, opened) });
  }
}

const macOf = (key: Buffer, { access, intentId, livemode }: OpenedIntent): Buffer =>
  createHmac('sha256', key)
    .update(`${intentId} ${livemode ? 'live' : 'test'}`)
    .digest()
    .subarray(0, CLIENT_SECRETS[access].bytes);

/** In constant time. */
const isEqual = (made: Uint8Array, given: Uint8Array): boolean =>
  made.length === given.length && timingSafeEqual(made, given);
