import { base58 } from '@scure/base';
import type { StackChain, StackWallet } from '@pf/testing';
import {
  bundle,
  evmWallet,
  installEntryPoint,
  installPaymaster,
  newSmartWallet,
  paidOperation,
  type SmartCall,
  solanaWallet,
} from '@pf/testing/wallets';
import type { Page } from 'playwright-core';
import { createWalletClient, type Hex, http, keccak256, toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { Account } from 'viem/tempo';
import {
  type Answer,
  declined,
  installEvm,
  installSolana,
} from '../../../../services/checkout/web/test/browser/wallets.ts';
import { nodeRpc } from '../../../../packages/testing/src/chains/node-rpc.ts';
import { shapes } from '../wallets/wallet-shapes.ts';

/** A person with a wallet in the browser; the test can change what they do. */
export interface Payer {
  readonly address: string;
  mood: 'pays' | 'declines' | 'has another account';
  /** How often the wallet was asked to sign or to send. */
  asked: number;
  install(page: Page): Promise<void>;
}

const OTHER = { evm: `0x${'1'.repeat(40)}`, solana: 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB' } as const;

const payerWith = (address: string, install: (page: Page, payer: Payer) => Promise<void>): Payer => {
  const payer: Payer = { address, mood: 'pays', asked: 0, install: (page) => install(page, payer) };
  return payer;
};

/** Counts, and declines in that mood. */
function ask(payer: Payer): void {
  payer.asked += 1;
  if (payer.mood === 'declines') throw declined;
}

const chainIdOf = ({ caip2 }: StackChain): number => Number(caip2.slice('eip155:'.length));

/** What all wallets of EVM chains answer: they are on another chain until they are asked to switch. */
function accountAnswer(payer: Payer): Answer {
  let chainId = '0x1';
  return (method, params) => {
    switch (method) {
      case 'eth_requestAccounts':
      case 'eth_accounts':
        return [payer.mood === 'has another account' ? OTHER.evm : payer.address.toLowerCase()];
      case 'eth_chainId':
        return chainId;
      case 'wallet_switchEthereumChain':
        chainId = (params as readonly [{ readonly chainId: string }])[0].chainId;
        return null;
      default:
        throw Object.assign(new Error(`${method} is not supported`), { code: 4200 });
    }
  };
}

/** What a page asks a wallet to send. */
interface Call {
  readonly to: Hex;
  readonly data: Hex;
}

function clientOf(chain: StackChain, { privateKey }: StackWallet) {
  const network = {
    id: chainIdOf(chain),
    name: chain.caip2,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [chain.rpcUrl] } },
  };
  const account = privateKeyToAccount(privateKey as Hex);
  return createWalletClient({ account, chain: network, transport: http(chain.rpcUrl) });
}

/**
 * A wallet that chooses nonce, gas and fees by itself and sends, as nearly all do.
 * @param send resolves with the hash
 */
export const evmPayer = (
  chain: StackChain,
  keys: StackWallet,
  send = (call: Call): Promise<Hex> => clientOf(chain, keys).sendTransaction(call),
): Payer =>
  payerWith(keys.address, (page, payer) => {
    const ordinary = accountAnswer(payer);
    return installEvm(page, (method, params) => {
      if (method !== 'eth_sendTransaction') return ordinary(method, params);
      ask(payer);
      const [{ to, data }] = params as readonly [Call];
      return send({ to, data });
    });
  });

/** As wallets whose connection is slow: the page has the hash, and no node has the transaction before `send`. */
export function slowPayer(
  chain: StackChain,
  keys: StackWallet,
): { readonly payer: Payer; readonly send: () => Promise<Hex> } {
  const client = clientOf(chain, keys);
  let signed: Hex = '0x';
  const payer = evmPayer(chain, keys, async (call) => {
    signed = await client.signTransaction(await client.prepareTransactionRequest(call));
    return keccak256(signed);
  });
  return { payer, send: () => client.sendRawTransaction({ serializedTransaction: signed }) };
}

type Field =
  'chainId' | 'feeToken' | 'gas' | 'maxFeePerGas' | 'maxPriorityFeePerGas' | 'nonce' | 'nonceKey' | 'validBefore';
/** A transaction of type 0x76, as the page asks for it. */
interface TempoRequest extends Readonly<Partial<Record<Field, Hex>>> {
  readonly calls: readonly { readonly to: Hex; readonly data: Hex; readonly value: Hex }[];
  /** Another account signs for the fee. */
  readonly feePayer?: true;
}

/** Tempo's own wallet, which signs its transactions as they were built. */
export const tempoPayer = ({ address, privateKey }: StackWallet): Payer =>
  payerWith(address, (page, payer) => {
    const account = Account.fromSecp256k1(privateKey as Hex);
    const ordinary = accountAnswer(payer);
    const answer: Answer = (method, params) => {
      if (method !== 'eth_signTransaction') return ordinary(method, params);
      ask(payer);
      const [{ calls, feePayer, ...fields }] = params as readonly [TempoRequest];
      const read = (name: keyof typeof fields): bigint => BigInt(fields[name] ?? 0);
      return account.signTransaction({
        type: 'tempo',
        calls: calls.map(({ value, ...call }) => ({ ...call, value: BigInt(value) })),
        feeToken: fields.feeToken,
        ...(feePayer && { feePayer }),
        chainId: Number(read('chainId')),
        nonce: Number(read('nonce')),
        ...(fields.validBefore === undefined ? {} : { validBefore: Number(read('validBefore')) }),
        gas: read('gas'),
        maxFeePerGas: read('maxFeePerGas'),
        maxPriorityFeePerGas: read('maxPriorityFeePerGas'),
        nonceKey: read('nonceKey'),
      } as never);
    };
    return installEvm(page, answer, { name: 'Amber', rdns: 'xyz.tempo' });
  });

/** A wallet of Solana that does with the blob what those of a name do. */
export const solanaPayer = (chain: StackChain, keys: StackWallet, name: RegExp): Payer =>
  payerWith(keys.address, (page, payer) => {
    const kind = shapes.solana.find((one) => name.test(one.name));
    if (kind === undefined) throw new Error(`no wallet is like ${name}`);
    const sends = kind.name.includes('sends itself');
    const answer: Answer = async (method, params) => {
      if (method === 'connect') return [payer.mood === 'has another account' ? OTHER.solana : keys.address];
      ask(payer);
      const { text } = await kind.shape(chain, keys, String(params));
      return sends ? Buffer.from(base58.decode(text)).toString('base64') : text;
    };
    return installSolana(page, answer, sends ? 'signAndSendTransaction' : 'signTransaction');
  });

/** A wallet of Solana that names the signature of what it sends, and whose connection is lost before it is out. */
export const solanaLoser = (chain: StackChain, keys: StackWallet): Payer =>
  payerWith(keys.address, (page, payer) => {
    const own = solanaWallet(chain, keys);
    const answer: Answer = async (method, params) => {
      if (method === 'connect') return [keys.address];
      ask(payer);
      const signed = Buffer.from(await own.sign(String(params)), 'base64');
      return signed.subarray(1, 65).toString('base64');
    };
    return installSolana(page, answer, 'signAndSendTransaction');
  });

/** A wallet of Solana that signs what it gets, whoever pays the fee. */
export const solanaSigner = (chain: StackChain, keys: StackWallet): Payer =>
  payerWith(keys.address, (page, payer) => {
    const own = solanaWallet(chain, keys);
    const answer: Answer = async (method, params) => {
      if (method === 'connect') return [keys.address];
      ask(payer);
      return own.sign(String(params));
    };
    return installSolana(page, answer, 'signTransaction');
  });

/** The EntryPoint of Coinbase's smart wallet. */
const ENTRY_POINT = '0.6';

interface SentCalls {
  readonly calls: readonly SmartCall[];
  readonly capabilities?: { readonly paymasterService?: { readonly url: string } };
}

/** A chain whose accounts are open, with this one as bundler. */
function opened(chain: StackChain, keys: StackWallet) {
  const rpc = nodeRpc(chain.rpcUrl);
  return { wallets: [keys], rpc, mine: async () => void (await rpc('evm_mine')) };
}

/** Puts a paymaster of smart wallets on the chain. @param keys of whoever pays its deposit @param signer promises */
export async function newPaymaster(chain: StackChain, keys: StackWallet, signer: string): Promise<string> {
  const open = opened(chain, keys);
  await installEntryPoint(open, ENTRY_POINT);
  return installPaymaster(open, ENTRY_POINT, signer);
}

/**
 * A smart wallet on Base: its account is a contract, and others send its calls in a bundle.
 * @param keys of the bundler
 */
export async function smartPayer(chain: StackChain, keys: StackWallet): Promise<Payer> {
  const open = opened(chain, keys);
  await installEntryPoint(open, ENTRY_POINT);
  const wallet = await newSmartWallet(open, ENTRY_POINT);
  await evmWallet(chain, keys).transfer(chain.tokens['USDC'] ?? '', wallet.address, 100_000_000n);
  return payerWith(wallet.address, (page, payer) => {
    const ordinary = accountAnswer(payer);
    let hash: Hex | undefined;
    return installEvm(page, async (method, params) => {
      switch (method) {
        case 'wallet_getCapabilities':
          return {
            [toHex(chainIdOf(chain))]: { atomic: { status: 'supported' }, paymasterService: { supported: true } },
          };
        case 'wallet_sendCalls': {
          ask(payer);
          const [{ calls, capabilities }] = params as readonly [SentCalls];
          const calldata = wallet.calldataOf(calls.map(({ to, data }) => ({ to, data })));
          const url = capabilities?.paymasterService?.url;
          const operation = await (url === undefined
            ? wallet.operation(calldata)
            : paidOperation(wallet, ENTRY_POINT, chainIdOf(chain), calldata, url));
          hash = await bundle(open, ENTRY_POINT, [operation]);
          return { id: 'calls' };
        }
        case 'wallet_getCallsStatus':
          return { status: 200, receipts: [{ transactionHash: hash }] };
        default:
          return ordinary(method, params);
      }
    });
  });
}
