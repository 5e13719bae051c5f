import { keccak256 } from 'ox/Hash';
import { fromNumber, type Hex } from 'ox/Hex';
import type { Network } from '@pf/chains/networks';
import type { Payment } from '../check/check.ts';
import type { Call } from '../check/evm.ts';
import type { CallsStatus } from '../pay/money.ts';
import { Problem } from '../pay/problem.ts';
import {
  accountAmong,
  asking,
  type Calls,
  cleanIcon,
  cleanName,
  codeOf,
  isUnsupported,
  type Outcome,
  problemIn,
  type Session,
  type Wallet,
  WALLETS_MAX,
  type Wallets,
} from './wallet.ts';

/** EIP-1193. */
export interface Provider {
  request(asked: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>;
  on?(event: 'accountsChanged', listener: () => void): unknown;
  removeListener?(event: 'accountsChanged', listener: () => void): unknown;
}

type EvmPayment = Extract<Payment, Call>;
const UNKNOWN_CHAIN = 4902;
const HASH = /^0x[\da-f]{64}$/i;

/** The wallets that announce themselves (EIP-6963); where none does, the one that is in the page (EIP-1193). */
export function evmWallets(scope: Window = window): Wallets {
  const announced = new Map<string, Wallet>();
  const listeners = new Set<() => void>();
  let found: readonly Wallet[] = injected(scope);
  scope.addEventListener('eip6963:announceProvider', (event) => {
    const wallet = read((event as CustomEvent<unknown>).detail);
    if (wallet === null || announced.has(wallet.id) || announced.size >= WALLETS_MAX) return;
    announced.set(wallet.id, wallet);
    found = [...announced.values()];
    listeners.forEach((listener) => listener());
  });
  scope.dispatchEvent(new Event('eip6963:requestProvider'));
  return {
    get: () => found,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** What an extension announces is whatever it likes. */
function read(detail: unknown): Wallet | null {
  const { info, provider } = (detail ?? {}) as { readonly info?: Record<string, unknown>; readonly provider?: unknown };
  const { uuid, name, icon, rdns } = info ?? {};
  if (typeof uuid !== 'string' || typeof (provider as Partial<Provider> | undefined)?.request !== 'function')
    return null;
  return walletOf({ id: uuid.slice(0, 100), name: cleanName(name), icon: cleanIcon(icon), rdns }, provider as Provider);
}

function injected(scope: Window): readonly Wallet[] {
  const { ethereum } = scope as { readonly ethereum?: Partial<Provider> };
  if (typeof ethereum?.request !== 'function') return [];
  return [walletOf({ id: 'injected', name: 'Browser wallet', icon: null, rdns: null }, ethereum as Provider)];
}

interface Info {
  readonly id: string;
  readonly name: string;
  readonly icon: string | null;
  readonly rdns: unknown;
}

function walletOf({ rdns, ...info }: Info, provider: Provider): Wallet {
  const { name } = info;
  const ask = (method: string, params?: readonly unknown[]): Promise<unknown> =>
    asking(name, () => provider.request(params === undefined ? { method } : { method, params }));
  return {
    ...info,
    key: typeof rdns === 'string' ? rdns : info.id,
    callsOf: (id) => callsOf(provider, id),
    async connect(wanted) {
      const { network } = wanted;
      const account = accountAmong(textsIn(await ask('eth_requestAccounts')), name, wanted);
      await switchTo(network, name, provider);
      const { isSmart, asksPaymasters } = await capabilitiesOf(provider, account, chainIdOf(network));
      const maySignOnly = network.signingWallet !== null && rdns === network.signingWallet;
      const paymasterUrl = isSmart && asksPaymasters ? wanted.paymasterUrl : null;
      return {
        account,
        signsOnly: maySignOnly && !isSmart,
        asksPaymaster: paymasterUrl !== null,
        async pay(payment, onAsk) {
          if (!('data' in payment)) throw new Problem('wrong_network', { wallet: name, network: network.label });
          // Between the click and the wallet's window nothing may come that takes long: browsers would block it.
          const accounts = textsIn(await ask('eth_accounts')).map((text) => text.toLowerCase());
          if (!accounts.includes(account.toLowerCase())) throw new Problem('wrong_account', { wallet: name, account });
          if (!(await isOn(network, name, provider))) await switchTo(network, name, provider);
          if (isSmart) {
            const sent = await sendCalls(provider, name, account, payment, paymasterUrl, onAsk);
            if (sent !== null) return sent;
          }
          return send(provider, name, account, payment, maySignOnly, onAsk);
        },
        onChange: (listener) => watch(provider, listener),
      } satisfies Session;
    },
  };
}

const textsIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
const chainIdOf = ({ chain }: Network): Hex => fromNumber(Number(chain.slice('eip155:'.length)));

async function isOn(network: Network, name: string, provider: Provider): Promise<boolean> {
  const chainId = await asking(name, () => provider.request({ method: 'eth_chainId' }));
  return Number(chainId) === Number(chainIdOf(network));
}

/** Brings the wallet to the network, and the network to the wallet where it does not know it (EIP-3326, EIP-3085). */
async function switchTo(network: Network, name: string, provider: Provider): Promise<void> {
  if (await isOn(network, name, provider)) return;
  const chainId = chainIdOf(network);
  const change = (): Promise<unknown> =>
    provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId }] });
  const { coin, explorer, label, publicRpcUrl } = network;
  try {
    await change();
  } catch (cause) {
    if (codeOf(cause) !== UNKNOWN_CHAIN || publicRpcUrl === null) throw problemIn(name, cause);
    const chain = {
      chainId,
      chainName: label,
      nativeCurrency: { ...coin, decimals: 18 },
      rpcUrls: [publicRpcUrl],
      blockExplorerUrls: [new URL(explorer).origin],
    };
    await asking(name, () => provider.request({ method: 'wallet_addEthereumChain', params: [chain] }));
    // Some wallets switch when they add, others must be asked again.
    if (!(await isOn(network, name, provider))) await asking(name, change);
  }
  if (!(await isOn(network, name, provider)))
    throw new Problem('wrong_network', { wallet: name, network: network.label });
}

interface Capabilities {
  /** Whether the account is a smart wallet already, which sends batches of calls (EIP-5792). */
  readonly isSmart: boolean;
  /** Whether it asks a paymaster to pay the gas (ERC-7677). */
  readonly asksPaymasters: boolean;
}

async function capabilitiesOf(provider: Provider, account: string, chainId: Hex): Promise<Capabilities> {
  try {
    const all = await provider.request({ method: 'wallet_getCapabilities', params: [account, [chainId]] });
    const { atomic, atomicBatch, paymasterService } =
      (
        (all ?? {}) as Record<
          string,
          {
            atomic?: { status?: unknown };
            atomicBatch?: { supported?: unknown };
            paymasterService?: { supported?: unknown };
          }
        >
      )[chainId] ?? {};
    return {
      isSmart: atomic?.status === 'supported' || atomicBatch?.supported === true,
      asksPaymasters: paymasterService?.supported === true,
    };
  } catch {
    // A wallet that does not know the question sends transactions.
    return { isSmart: false, asksPaymasters: false };
  }
}

/** Null where the wallet does not know how, although it said so. */
async function sendCalls(
  provider: Provider,
  name: string,
  from: string,
  { chainId, to, data }: EvmPayment,
  paymasterUrl: string | null,
  onAsk: () => void,
): Promise<Outcome | null> {
  const calls = [{ to, data, value: '0x0' }];
  const bundle = {
    version: '2.0.0',
    chainId: fromNumber(chainId),
    from,
    atomicRequired: false,
    calls,
    ...(paymasterUrl !== null && { capabilities: { paymasterService: { url: paymasterUrl } } }),
  };
  let answer: unknown;
  onAsk();
  try {
    answer = await provider.request({ method: 'wallet_sendCalls', params: [bundle] });
  } catch (cause) {
    const problem = problemIn(name, cause);
    // Why it failed is in the wallet's words: it may be for the sponsor, and the payer can pay the gas.
    if (paymasterUrl !== null && problem.kind === 'wallet_failed') throw new Problem('sponsor_refused', {}, { cause });
    if (isUnsupported(cause)) return null;
    throw problem;
  }
  // Older wallets answer the id alone.
  const id = typeof answer === 'string' ? answer : (answer as { readonly id?: unknown } | null)?.id;
  if (typeof id !== 'string') throw new Problem('wallet_failed', { wallet: name, reason: '' });
  return { kind: 'calls', id };
}

/** A wallet that does not answer, or not so that it can be read, says nothing of its calls. */
async function callsOf(provider: Provider, id: string): Promise<Calls> {
  try {
    const answer = await provider.request({ method: 'wallet_getCallsStatus', params: [id] });
    const { status: code, receipts } = (answer ?? {}) as { readonly status?: unknown; readonly receipts?: unknown };
    const status = statusIn(code);
    // What has failed by the wallet's word is not told to the service as the payment: the watcher finds it if it is.
    return { status, hash: status === 'pending' || status === 'included' ? hashIn(receipts) : null };
  } catch {
    return { status: 'pending', hash: null };
  }
}

/** The codes of EIP-5792, by their hundreds; drafts of it had words. */
function statusIn(code: unknown): CallsStatus {
  if (typeof code !== 'number') return code === 'CONFIRMED' ? 'included' : 'pending';
  switch (Math.floor(code / 100)) {
    case 2:
      return 'included';
    case 4:
      return 'given_up';
    case 5:
      return 'reverted';
    case 6:
      return 'partly';
    default:
      return 'pending';
  }
}

/** Where there are several transactions, as a call of the wallet's own before ours, which one pays is not said. */
function hashIn(receipts: unknown): string | null {
  if (!Array.isArray(receipts)) return null;
  const hashes = new Set(receipts.map((one: { readonly transactionHash?: unknown } | null) => one?.transactionHash));
  const [hash] = hashes;
  return hashes.size === 1 && typeof hash === 'string' && HASH.test(hash) ? hash : null;
}

async function send(
  provider: Provider,
  name: string,
  from: string,
  payment: EvmPayment,
  maySignOnly: boolean,
  onAsk: () => void,
): Promise<Outcome> {
  if ('envelope' in payment && maySignOnly) {
    onAsk();
    try {
      const params = [tempoRequest(payment, from)];
      const signed = await provider.request({ method: 'eth_signTransaction', params });
      if (typeof signed === 'string' && /^0x7[68]/.test(signed))
        return { kind: 'signed', transaction: signed, hash: hashOf(signed) };
    } catch (cause) {
      // Some adapters only send.
      if (!isUnsupported(cause)) throw problemIn(name, cause);
    }
  }
  // What the wallet sends by itself has it pay the fee, and the page has said otherwise.
  if (payment.isSponsored) throw new Problem('sponsor_wallet', { wallet: name });
  const transaction = { from, to: payment.to, data: payment.data, value: '0x0' };
  onAsk();
  const hash = await asking(name, () => provider.request({ method: 'eth_sendTransaction', params: [transaction] }));
  if (typeof hash !== 'string' || !HASH.test(hash)) throw new Problem('wallet_failed', { wallet: name, reason: '' });
  // Its nonce is the wallet's choice: while no node shows the transaction, nothing can be proven of it.
  return { kind: 'sent', hash, signed: () => Promise.resolve(null) };
}

/** With a fee payer (0x78) its signature is part of what is hashed. */
const hashOf = (signed: string): string | null => (signed.startsWith('0x76') ? keccak256(signed as Hex) : null);

/** The fields of a transaction of type 0x76, as JSON-RPC writes them. */
function tempoRequest(payment: Extract<EvmPayment, { envelope: unknown }>, from: string): object {
  const { chainId, envelope, isSponsored, to, data } = payment;
  const hex = (value: bigint | number | undefined): Hex | undefined =>
    value === undefined ? undefined : fromNumber(value);
  const { feeToken, gas, maxFeePerGas, maxPriorityFeePerGas, nonceKey, nonce, validBefore, validAfter } = envelope;
  const fields = {
    type: '0x76',
    from,
    chainId: hex(chainId),
    calls: [{ to, data, value: '0x0' }],
    feeToken,
    feePayer: isSponsored || undefined,
    gas: hex(gas),
    maxFeePerGas: hex(maxFeePerGas),
    maxPriorityFeePerGas: hex(maxPriorityFeePerGas),
    nonceKey: hex(nonceKey),
    nonce: hex(nonce ?? 0n),
    validBefore: hex(validBefore),
    validAfter: hex(validAfter),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Another network is noticed when the person pays: the wallet is then asked to switch. */
function watch(provider: Provider, listener: () => void): () => void {
  provider.on?.('accountsChanged', listener);
  return () => provider.removeListener?.('accountsChanged', listener);
}
