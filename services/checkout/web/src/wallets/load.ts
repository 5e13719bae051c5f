import type { Network } from '@pf/chains/networks';
import type { Wallet, Wallets } from './wallet.ts';

const loading = new Map<string, Promise<Wallets>>();

async function load({ family, chain }: Network): Promise<Wallets> {
  return family === 'solana'
    ? (await import('./solana.ts')).solanaWallets(chain)
    : (await import('./evm.ts')).evmWallets();
}

/** The wallets for a network. Their code is loaded for the chain at hand only. @throws where it cannot be loaded */
export async function walletsOn(network: Network): Promise<Wallets> {
  const { chain } = network;
  const present = loading.get(chain) ?? load(network);
  loading.set(chain, present);
  try {
    return await present;
  } catch (error) {
    loading.delete(chain);
    throw error;
  }
}

/** The wallet of this key, as soon as it announces itself. */
export const walletOf = (wallets: Wallets, key: string): Promise<Wallet> =>
  new Promise((resolve) => {
    const look = (): void => {
      const found = wallets.get().find((wallet) => wallet.key === key);
      if (!found) return;
      stop();
      resolve(found);
    };
    const stop = wallets.subscribe(look);
    look();
  });
