import type { IntentId } from '@pf/domain';
import { base58 } from '@scure/base';

/**
 * What opens one intent to its payer (docs/reference/contract.md): the intent's id, and an HMAC in base58. A client
 * secret allows all that payers do. A Solana Pay token allows to fetch and to build only: it is in a URL that wallets
 * request, and has 128 bits, so that its QR code stays small.
 */
export const CLIENT_SECRETS = {
  client_secret: { mark: '_secret_', bytes: 32 },
  solana_pay_token: { mark: '_spl_', bytes: 16 },
} as const;
export type ClientSecretKind = keyof typeof CLIENT_SECRETS;

export const CLIENT_SECRET = /^(pi_[1-9A-HJ-NP-Za-km-z]{16,22})_secret_([1-9A-HJ-NP-Za-km-z]{32,44})$/;
export const SOLANA_PAY_TOKEN = /^(pi_[1-9A-HJ-NP-Za-km-z]{16,22})_spl_([1-9A-HJ-NP-Za-km-z]{16,22})$/;

/** The parts of a client secret or token. Nothing is verified. */
interface ClientSecretParts {
  readonly kind: ClientSecretKind;
  readonly intentId: IntentId;
  readonly mac: Uint8Array;
}

export const writeClientSecret = ({ kind, intentId, mac }: ClientSecretParts): string =>
  `${intentId}${CLIENT_SECRETS[kind].mark}${base58.encode(mac)}`;

/** Null for a text that has the form of neither. */
export function readClientSecret(text: string): ClientSecretParts | null {
  const secret = CLIENT_SECRET.exec(text);
  const [, id, mac] = secret ?? SOLANA_PAY_TOKEN.exec(text) ?? [];
  if (id === undefined || mac === undefined) return null;
  return {
    kind: secret ? 'client_secret' : 'solana_pay_token',
    intentId: id as IntentId,
    mac: base58.decode(mac),
  };
}
