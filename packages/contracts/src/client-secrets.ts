import { base58 } from '@scure/base';

/**
 * What opens one intent or payment link to its payer (docs/reference/contract.md): its id, and an HMAC in base58. A
 * client secret allows all that payers do. A Solana Pay token allows to fetch and to build only: it is in a URL that
 * wallets request, and has 128 bits, so that its QR code stays small. A paymaster token is in a URL, too, and only asks
 * who pays the gas.
 */
export const CLIENT_SECRETS = {
  client_secret: { mark: '_secret_', bytes: 32 },
  solana_pay_token: { mark: '_spl_', bytes: 16 },
  paymaster_token: { mark: '_pm_', bytes: 16 },
  payment_link_secret: { mark: '_secret_', bytes: 32 },
} as const;
export type ClientSecretKind = keyof typeof CLIENT_SECRETS;

export const CLIENT_SECRET = /^(pi_[1-9A-HJ-NP-Za-km-z]{16,22})_secret_([1-9A-HJ-NP-Za-km-z]{32,44})$/;
export const PAYMENT_LINK_SECRET = /^(pl_[1-9A-HJ-NP-Za-km-z]{16,22})_secret_([1-9A-HJ-NP-Za-km-z]{32,44})$/;
export const SOLANA_PAY_TOKEN = /^(pi_[1-9A-HJ-NP-Za-km-z]{16,22})_spl_([1-9A-HJ-NP-Za-km-z]{16,22})$/;
export const PAYMASTER_TOKEN = /^(pi_[1-9A-HJ-NP-Za-km-z]{16,22})_pm_([1-9A-HJ-NP-Za-km-z]{16,22})$/;

/** The parts of a client secret or token. Nothing is verified. */
interface ClientSecretParts {
  readonly kind: ClientSecretKind;
  /** What it opens: an intent, or a payment link. */
  readonly id: string;
  readonly mac: Uint8Array;
}

const PATTERNS: Readonly<Record<ClientSecretKind, RegExp>> = {
  client_secret: CLIENT_SECRET,
  solana_pay_token: SOLANA_PAY_TOKEN,
  paymaster_token: PAYMASTER_TOKEN,
  payment_link_secret: PAYMENT_LINK_SECRET,
};

export const writeClientSecret = ({ kind, id, mac }: ClientSecretParts): string =>
  `${id}${CLIENT_SECRETS[kind].mark}${base58.encode(mac)}`;

/** Null for a text that has the form of none. */
export function readClientSecret(text: string): ClientSecretParts | null {
  for (const kind of Object.keys(PATTERNS) as ClientSecretKind[]) {
    const [, id, mac] = PATTERNS[kind].exec(text) ?? [];
    if (id !== undefined && mac !== undefined) return { kind, id, mac: base58.decode(mac) };
  }
  return null;
}
