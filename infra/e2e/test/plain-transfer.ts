import type { StackChain, StackWallet } from '@pf/testing';
import { evmWallet, solanaWallet, tempoWallet } from '@pf/testing/wallets';

/** What a wallet does that knows an address and an amount, and nothing else. @returns the hash */
type Send = (token: string, to: string, units: bigint) => Promise<string>;

/** Plain transfers, by the name of a chain of the stack. */
export const plainTransfers = {
  base: (chain: StackChain, key: StackWallet): Send => {
    const wallet = evmWallet(chain, key);
    return (...transfer) => wallet.transfer(...transfer);
  },
  solana: (chain: StackChain, key: StackWallet): Send => {
    const wallet = solanaWallet(chain, key);
    return (...transfer) => wallet.transfer(...transfer);
  },
  tempo: (chain: StackChain, key: StackWallet): Send => {
    const wallet = tempoWallet(chain, key);
    return (...transfer) => wallet.transfer(...transfer);
  },
} as const;
