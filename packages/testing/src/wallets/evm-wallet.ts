import {
  type Address,
  createPublicClient,
  createWalletClient,
  erc20Abi,
  type Hex,
  hexToBytes,
  http,
  parseTransaction,
  type PublicClient,
  type TransactionSerializableEIP1559,
  type TypedDataDefinition,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { StackChain, StackWallet } from '../stack/stack.ts';

/** A 32-byte word of calldata, as hex. */
const word = (hex: string): string => hex.padStart(64, '0');

/**
 * A payer's wallet on an EVM chain, made with viem: a different library than the service's, so that tests prove that
 * other libraries can sign what the service builds. It keeps its key; the service never sees it.
 */
export interface EvmWallet {
  readonly address: Address;
  /** Signs the blob of `build` unchanged; base64, as `submit` accepts it. */
  sign(
    blob: string,
    change?: (transaction: TransactionSerializableEIP1559) => TransactionSerializableEIP1559,
  ): Promise<string>;
  /** Signs what `authorization/build` returns, as a wallet does (`eth_signTypedData_v4`). */
  signTypedData(typedData: object): Promise<Hex>;
  /** The balance in base units. */
  tokenBalance(token: string): Promise<bigint>;
  /** Sends a plain transfer, with `data` appended to its calldata; resolves with the hash. */
  transfer(token: string, to: string, amount: bigint, data?: Hex): Promise<Hex>;
  readonly client: PublicClient;
}

export function evmWallet(chain: StackChain, wallet: StackWallet): EvmWallet {
  const account = privateKeyToAccount(wallet.privateKey as Hex);
  const id = Number(chain.caip2.split(':')[1]);
  const network = {
    id,
    name: chain.caip2,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [chain.rpcUrl] } },
  };
  const client = createPublicClient({ chain: network, transport: http(chain.rpcUrl) }) as PublicClient;
  const sender = createWalletClient({ account, chain: network, transport: http(chain.rpcUrl) });
  return {
    address: account.address,
    client,
    async sign(blob, change = (transaction) => transaction) {
      const unsigned = parseTransaction(
        `0x${Buffer.from(blob, 'base64').toString('hex')}`,
      ) as TransactionSerializableEIP1559;
      return Buffer.from(hexToBytes(await account.signTransaction(change(unsigned)))).toString('base64');
    },
    signTypedData: (typedData) => account.signTypedData(typedData as TypedDataDefinition),
    tokenBalance: (token) =>
      client.readContract({
        address: token as Address,
        abi: erc20Abi,
        functionName: 'balanceOf',
        args: [account.address],
      }),
    async transfer(token, to, amount, data = '0x') {
      const call = `0xa9059cbb${word(to.slice(2).toLowerCase())}${word(amount.toString(16))}${data.slice(2)}` as const;
      return sender.sendTransaction({ to: token as Address, data: call });
    },
  };
}
