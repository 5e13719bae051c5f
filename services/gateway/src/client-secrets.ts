import { createHmac, type KeyObject } from 'node:crypto';
import { networkOf } from '@pf/chains';
import { CLIENT_SECRETS, type ClientSecretKind, readClientSecret, writeClientSecret } from '@pf/contracts';
import { derivedMacKeys, type Keyring } from '@pf/database';
import type { IntentId, PaymentIntent, PublicIntent } from '@pf/domain';
import { equalInConstantTime } from '@pf/runtime';
import { bearerOf } from './api-keys.ts';

/** What a client secret, a Solana Pay or paymaster token or an MPP challenge opens: one intent. */
export interface OpenedIntent {
  readonly access: Exclude<ClientSecretKind, 'payment_link_secret'> | 'mpp_challenge';
  readonly intentId: IntentId;
  readonly livemode: boolean;
}

/** What the secret of a payment link opens. */
interface OpenedLink {
  readonly access: 'payment_link_secret';
  readonly linkId: string;
  readonly livemode: boolean;
}

export type Opened = OpenedIntent | OpenedLink;

const MODES = [true, false] as const;

/**
 * Makes and verifies what opens one intent or payment link to its payer: an HMAC of its id and mode, with keys that are
 * derived from SECRETS_KEY. The first key makes, all verify. Nothing is stored, and nothing is looked up to refuse a
 * forged one.
 */
export class ClientSecrets {
  readonly #keys: Readonly<Record<ClientSecretKind, readonly KeyObject[]>>;
  readonly #checkoutUrl: URL | undefined;

  /** @param checkoutUrl the origin of the payment page, if there is one */
  constructor(keyring: Keyring, checkoutUrl?: URL) {
    this.#keys = {
      client_secret: derivedMacKeys(keyring, 'client_secret'),
      solana_pay_token: derivedMacKeys(keyring, 'solana_pay_token'),
      paymaster_token: derivedMacKeys(keyring, 'paymaster_token'),
      payment_link_secret: derivedMacKeys(keyring, 'payment_link_secret'),
    };
    this.#checkoutUrl = checkoutUrl;
  }

  /** What the creator of an intent passes to its payer. */
  forPayer({ id, livemode }: Pick<PublicIntent, 'id' | 'livemode'>): {
    readonly clientSecret: string;
    readonly paymentUrl: string | null;
  } {
    const clientSecret = this.#make('client_secret', id, livemode);
    return { clientSecret, paymentUrl: this.#page('pay', 'client_secret', id, clientSecret) };
  }

  /** What the creator of a payment link passes to its payer. */
  forPayerOfLink({ id, livemode }: { readonly id: string; readonly livemode: boolean }): {
    readonly clientSecret: string;
    readonly url: string | null;
  } {
    const clientSecret = this.#make('payment_link_secret', id, livemode);
    return { clientSecret, url: this.#page('link', 'payment_link_secret', id, clientSecret) };
  }

  /** For the link of a Solana Pay transaction request; null on other chains. */
  solanaPayToken({ id, livemode, chain }: Pick<PaymentIntent, 'id' | 'livemode' | 'chain'>): string | null {
    if (networkOf(chain).family !== 'solana') return null;
    return this.#make('solana_pay_token', id, livemode);
  }

  /** Where wallets ask who pays the gas (ERC-7677); null without a payment page. */
  paymasterUrl({ id, livemode }: Pick<PaymentIntent, 'id' | 'livemode'>): string | null {
    const token = this.#make('paymaster_token', id, livemode);
    return this.#checkoutUrl ? new URL(`/p/${token}`, this.#checkoutUrl).href : null;
  }

  /** What an Authorization header opens: null if it has nothing that was made here. */
  read(authorization: string | undefined): Opened | null {
    const parts = readClientSecret(bearerOf(authorization) ?? '');
    if (!parts) return null;
    const { kind, id, mac } = parts;
    for (const livemode of MODES)
      if (this.#keys[kind].some((key) => equalInConstantTime(macOf(key, kind, id, livemode), mac)))
        return kind === 'payment_link_secret'
          ? { access: kind, linkId: id, livemode }
          : { access: kind, intentId: id as IntentId, livemode };
    return null;
  }

  #make(kind: ClientSecretKind, id: string, livemode: boolean): string {
    const [first] = this.#keys[kind];
    if (first === undefined) throw new Error('SECRETS_KEY holds no key');
    return writeClientSecret({ kind, id, mac: macOf(first, kind, id, livemode) });
  }

  /** The URL of the page that a secret opens; null if there is none. */
  #page(path: 'pay' | 'link', kind: ClientSecretKind, id: string, secret: string): string | null {
    // Browsers keep what is behind the # to themselves.
    const fragment = secret.slice(id.length + CLIENT_SECRETS[kind].mark.length);
    return this.#checkoutUrl ? new URL(`/${path}/${id}#${fragment}`, this.#checkoutUrl).href : null;
  }
}

const macOf = (key: KeyObject, kind: ClientSecretKind, id: string, livemode: boolean): Buffer =>
  createHmac('sha256', key)
    .update(`${id} ${livemode ? 'live' : 'test'}`)
    .digest()
    .subarray(0, CLIENT_SECRETS[kind].bytes);
