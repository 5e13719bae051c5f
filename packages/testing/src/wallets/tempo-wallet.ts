import { type Address, createWalletClient, erc20Abi, type Hex, hexToBytes, http, publicActions } from 'viem';
import { tempoModerato } from 'viem/tempo/chains';
import { Account, Actions, Transaction } from 'viem/tempo';
import type { StackChain, StackWallet } from '../stack/stack.ts';

/** An unsigned or signed transaction of type 0x76, as viem represents it. */
export type TempoTransaction = Transaction.TransactionSerializableTempo;

/** A payer's wallet on Tempo, made with viem: the service never sees its key. */
export interface TempoWallet {
  readonly address: Address;
  /** Signs the blob of `build`, unchanged or changed; base64, as `submit` accepts it. */
  sign(blob: string, change?: (transaction: TempoTransaction) => TempoTransaction): Promise<string>;
  /** The balance in base units. */
  tokenBalance(token: string): Promise<bigint>;
  /** Sends a transfer, with an optional memo; resolves with the hash. */
  transfer(token: string, to: string, amount: bigint, memo?: Hex): Promise<Hex>;
}

export function tempoWallet(chain: StackChain, wallet: StackWallet): TempoWallet {
  const account = Account.fromSecp256k1(wallet.privateKey as Hex);
  const network = { ...tempoModerato, id: Number(chain.caip2.split(':')[1]) };
  const client = createWalletClient({ account, chain: network, transport: http(chain.rpcUrl) }).extend(publicActions);
  return {
    address: account.address,
    async sign(blob, change = (transaction) => transaction) {
      const unsigned = Transaction.deserialize(`0x${Buffer.from(blob, 'base64').toString('hex')}`) as TempoTransaction;
      return Buffer.from(hexToBytes(await account.signTransaction(change(unsigned)))).toString('base64');
    },
    tokenBalance: (token) =>
      client.readContract({
        address: token as Address,
        abi: erc20Abi,
        functionName: 'balanceOf',
        args: [account.address],
      }),
    transfer: (token, to, amount, memo) =>
      Actions.token.transfer(client, {
        token: token as Address,
        to: to as Address,
        amount,
        ...(memo === undefined ? {} : { memo }),
      }),
  };
}
