import { generateKeyPairSync } from 'node:crypto';
import { base58 } from '@scure/base';
import { type ChainFamily, networkOf } from '@pf/chains/networks';
import type { ChainId, Reference } from '@pf/domain';
import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { nodeRpc } from '../chains/node-rpc.ts';
import { evmWallet } from './evm-wallet.ts';
import { solanaWallet } from './solana-wallet.ts';
import type { StackChain, StackWallet } from '../stack/stack.ts';
import { tempoWallet } from './tempo-wallet.ts';

/** A payer's wallet on any chain. It keeps its key; the service never sees it. */
export interface ChainWallet {
  readonly address: string;
  /** Signs the blob of `build` unchanged; base64, as `submit` accepts it. */
  sign(blob: string): Promise<string>;
  /** The balance in base units. */
  tokenBalance(token: string): Promise<bigint>;
  /** Signs the blob and sends it, as wallets do that only sign and send; resolves with the hash. */
  send(blob: string): Promise<string>;
  /**
   * Sends a payment without `submit`, with the reference where the chain's payments have one; resolves with the hash.
   */
  pay(token: string, to: string, amount: bigint, reference: Reference): Promise<string>;
}

const familyOf = (chain: StackChain): ChainFamily => networkOf(chain.caip2 as ChainId).family;

/** The wallet for the chain's family. */
export function walletOn(chain: StackChain, wallet: StackWallet): ChainWallet {
  const rpc = nodeRpc(chain.rpcUrl);
  const raw = (signed: string): Promise<string> =>
    rpc('eth_sendRawTransaction', `0x${Buffer.from(signed, 'base64').toString('hex')}`);
  switch (familyOf(chain)) {
    case 'base': {
      const evm = evmWallet(chain, wallet);
      const sign = (blob: string): Promise<string> => evm.sign(blob);
      return {
        ...evm,
        sign,
        send: async (blob) => raw(await sign(blob)),
        pay: (token, to, amount, reference) => evm.transfer(token, to, amount, reference as Hex),
      };
    }
    case 'solana': {
      const solana = solanaWallet(chain, wallet);
      const sign = (blob: string): Promise<string> => solana.sign(blob);
      return {
        ...solana,
        sign,
        send: async (blob) =>
          rpc('sendTransaction', await sign(blob), { encoding: 'base64', preflightCommitment: 'confirmed' }),
        pay: (token, to, amount, reference) => solana.transfer(token, to, amount, { references: [reference] }),
      };
    }
    case 'tempo': {
      const tempo = tempoWallet(chain, wallet);
      const sign = (blob: string): Promise<string> => tempo.sign(blob);
      return {
        ...tempo,
        sign,
        send: async (blob) => raw(await sign(blob)),
        pay: (token, to, amount, reference) => tempo.transfer(token, to, amount, reference as Hex),
      };
    }
  }
}

/** A new wallet, with its key in the chain's usual encoding. */
export function newWallet(chain: StackChain): StackWallet {
  if (familyOf(chain) !== 'solana') {
    const privateKey = generatePrivateKey();
    return { address: privateKeyToAddress(privateKey), privateKey };
  }
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  // The raw keys: 32 bytes each, at the end of their DER encodings (RFC 8410).
  const address = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32);
  return { address: base58.encode(address), privateKey: base58.encode(Buffer.concat([seed, address])) };
}
