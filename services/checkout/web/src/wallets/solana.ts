import { base58, base64 } from '@scure/base';
import { getWallets } from '@wallet-standard/app';
import { Problem } from '../pay/problem.ts';
import {
  accountAmong,
  asking,
  cleanIcon,
  cleanName,
  type Outcome,
  type Session,
  type Wallet,
  WALLETS_MAX,
  type Wallets,
} from './wallet.ts';

/** How the Wallet Standard calls the clusters, by CAIP-2. */
const CLUSTERS: Readonly<Record<string, `solana:${string}`>> = {
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': 'solana:mainnet',
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1': 'solana:devnet',
};

type Registry = ReturnType<typeof getWallets>;
type Standard = ReturnType<Registry['get']>[number];
type Account = Standard['accounts'][number];
interface Unsigned {
  readonly account: Account;
  readonly chain: `solana:${string}`;
  readonly transaction: Uint8Array;
}
interface Versions {
  readonly supportedTransactionVersions?: readonly (string | number)[];
}
interface Features {
  readonly 'standard:connect'?: { connect(): Promise<{ readonly accounts: readonly Account[] }> };
  readonly 'standard:events'?: { on(event: 'change', listener: () => void): () => void };
  readonly 'solana:signTransaction'?: Versions & {
    signTransaction(unsigned: Unsigned): Promise<readonly { readonly signedTransaction: Uint8Array }[]>;
  };
  readonly 'solana:signAndSendTransaction'?: Versions & {
    signAndSendTransaction(unsigned: Unsigned): Promise<readonly { readonly signature: Uint8Array }[]>;
  };
}

/** The wallets of this browser that can sign a version 0 transaction on a cluster. */
export function solanaWallets(caip2: string, registry: Registry = getWallets()): Wallets {
  const chain = CLUSTERS[caip2];
  let found: readonly Wallet[] = [];
  const listeners = new Set<() => void>();
  const look = (): void => {
    found = registry
      .get()
      .filter((wallet) => chain !== undefined && canSign(wallet, chain))
      .slice(0, WALLETS_MAX)
      .map((wallet, index) => walletOf(wallet, `${index}`, chain ?? 'solana:mainnet'));
    listeners.forEach((listener) => listener());
  };
  registry.on('register', look);
  registry.on('unregister', look);
  look();
  return {
    get: () => found,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

const featuresOf = ({ features }: Standard): Features => features;
const takesVersion0 = (feature: Versions | undefined): boolean =>
  feature !== undefined && (feature.supportedTransactionVersions?.includes(0) ?? true);

/** What a wallet says of itself is whatever it likes. */
function canSign(wallet: Standard, chain: string): boolean {
  try {
    const features = featuresOf(wallet);
    return (
      (wallet.chains as readonly string[]).includes(chain) &&
      'standard:connect' in features &&
      (takesVersion0(features['solana:signTransaction']) || takesVersion0(features['solana:signAndSendTransaction']))
    );
  } catch {
    // A wallet that breaks when it is looked at is none.
    return false;
  }
}

function walletOf(wallet: Standard, id: string, chain: `solana:${string}`): Wallet {
  const name = cleanName(wallet.name);
  return {
    id: `${id}:${name}`,
    key: name,
    name,
    icon: cleanIcon(wallet.icon),
    async connect(wanted) {
      const connected = await asking(name, async () => featuresOf(wallet)['standard:connect']?.connect());
      const accounts = connected?.accounts ?? wallet.accounts;
      const chosen = accountAmong(
        accounts.map(({ address }) => address),
        name,
        wanted,
      );
      const signsOnly = takesVersion0(featuresOf(wallet)['solana:signTransaction']);
      return {
        account: chosen,
        signsOnly,
        asksPaymaster: false,
        async pay(payment, onAsk) {
          if (payment.family !== 'solana')
            throw new Problem('wrong_network', { wallet: name, network: wanted.network.label });
          const account = [...wallet.accounts, ...accounts].find(({ address }) => address === chosen);
          if (account === undefined) throw new Problem('wrong_account', { wallet: name, account: chosen });
          if (payment.isSponsored && !signsOnly) throw new Problem('sponsor_wallet', { wallet: name });
          onAsk();
          return sign(wallet, name, { account, chain, transaction: payment.transaction });
        },
        onChange: (listener) => featuresOf(wallet)['standard:events']?.on('change', listener) ?? (() => undefined),
      } satisfies Session;
    },
  };
}

/** A wallet that only signs is preferred: then the service broadcasts, and again where it must. */
async function sign(wallet: Standard, name: string, unsigned: Unsigned): Promise<Outcome> {
  const features = featuresOf(wallet);
  const [signing, sending] = [features['solana:signTransaction'], features['solana:signAndSendTransaction']];
  if (signing !== undefined && takesVersion0(signing)) {
    const [signed] = await asking(name, () => signing.signTransaction(unsigned));
    if (signed !== undefined) {
      const bytes = Uint8Array.from(signed.signedTransaction);
      return { kind: 'signed', transaction: base64.encode(bytes), hash: hashOf(bytes) };
    }
  } else if (sending !== undefined) {
    const [sent] = await asking(name, () => sending.signAndSendTransaction(unsigned));
    if (sent !== undefined) {
      const signature = Uint8Array.from(sent.signature);
      return { kind: 'sent', hash: base58.encode(signature), signed: () => signedBy(unsigned, signature) };
    }
  }
  throw new Problem('wallet_failed', { wallet: name, reason: '' });
}

/** In front of the message: how many signatures there are, in one byte, and the signatures. */
const SIGNATURE_BYTES = 64;
const MESSAGE_AT = 1 + SIGNATURE_BYTES;

/** The first signature, which is the fee payer's: null while it is missing. */
function hashOf(transaction: Uint8Array): string | null {
  const signature = transaction.subarray(1, MESSAGE_AT);
  return signature.some((byte) => byte !== 0) ? base58.encode(signature) : null;
}

/** What was sent, if the signature is the payer's of just this message: a wallet may have changed it. */
async function signedBy({ account, transaction }: Unsigned, signature: Uint8Array): Promise<string | null> {
  if (transaction[0] !== 1 || signature.length !== SIGNATURE_BYTES) return null;
  try {
    const payer = Uint8Array.from(base58.decode(account.address));
    const key = await crypto.subtle.importKey('raw', payer, 'Ed25519', false, ['verify']);
    const [by, message] = [Uint8Array.from(signature), Uint8Array.from(transaction.subarray(MESSAGE_AT))];
    if (!(await crypto.subtle.verify('Ed25519', key, by, message))) return null;
    const signed = Uint8Array.from(transaction);
    signed.set(signature, 1);
    return base64.encode(signed);
  } catch {
    // The browser cannot verify it.
    return null;
  }
}
