import { base58, base64 } from '@scure/base';
import { getWallets } from '@wallet-standard/app';
import { asking, type BrowserWallet, WalletError, type Wallets, wrongAccount } from './wallet.ts';

/** How the Wallet Standard calls the clusters, by CAIP-2. */
const CLUSTERS: Readonly<Record<string, `solana:${string}`>> = {
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': 'solana:mainnet',
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1': 'solana:devnet',
};

const registry = getWallets();
type Standard = ReturnType<typeof registry.get>[number];
type Account = Standard['accounts'][number];
interface Unsigned {
  readonly account: Account;
  readonly chain: `solana:${string}`;
  readonly transaction: Uint8Array;
}
interface Features {
  readonly 'standard:connect'?: { connect(): Promise<{ readonly accounts: readonly Account[] }> };
  readonly 'solana:signTransaction'?: {
    signTransaction(unsigned: Unsigned): Promise<readonly { readonly signedTransaction: Uint8Array }[]>;
  };
  readonly 'solana:signAndSendTransaction'?: {
    signAndSendTransaction(unsigned: Unsigned): Promise<readonly { readonly signature: Uint8Array }[]>;
  };
}

let found: readonly BrowserWallet[] = [];
const listeners = new Set<() => void>();

function look(): void {
  found = registry
    .get()
    .filter(({ chains, features }) => chains.some(isSolana) && 'standard:connect' in features)
    .map((wallet) => ({ id: wallet.name, name: wallet.name, icon: wallet.icon, sign: signer(wallet) }));
  listeners.forEach((listener) => listener());
}
const isSolana = (chain: string): boolean => chain.startsWith('solana:');
registry.on('register', look);
registry.on('unregister', look);
look();

export const solanaWallets: Wallets = {
  get: () => found,
  subscribe(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

function signer(wallet: Standard): BrowserWallet['sign'] {
  return async ({ chain: caip2, payer, build }) => {
    const { name } = wallet;
    const features = wallet.features as Features;
    const connected = await asking(name, async () => features['standard:connect']?.connect());
    const account = (connected?.accounts ?? wallet.accounts).find(({ address }) => address === payer);
    if (!account) throw wrongAccount(name, payer);
    const chain = CLUSTERS[caip2];
    if (!chain) throw new WalletError(`${name} does not know the network ${caip2}.`);
    const transaction = base64.decode((await build()).blob);
    const [signing, sending] = [features['solana:signTransaction'], features['solana:signAndSendTransaction']];
    if (signing) {
      const [signed] = await asking(name, () => signing.signTransaction({ account, chain, transaction }));
      if (signed) return base64.encode(signed.signedTransaction);
    } else if (sending) {
      const [sent] = await asking(name, () => sending.signAndSendTransaction({ account, chain, transaction }));
      if (sent) return base58.encode(sent.signature);
    }
    throw new WalletError(`${name} cannot sign this transaction.`);
  };
}
