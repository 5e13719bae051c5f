import { chainOf, type StackWallet, type Stack } from '@pf/testing';
import { walletOn } from '@pf/testing/wallets';
import type { Page } from 'playwright-core';
import { createWalletClient, type Hex, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

/** What the person does in the wallet: declines, signs with another account, or signs. */
type Mood = 'declines' | 'other account' | 'signs';
/** Changes how the person behaves from now on. */
type SetMood = (mood: Mood) => void;

const ICON = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>";

/** What a wallet extension puts into each page; it asks `walletRequest`, which runs in the test. */
const inPage = (script: string): string => `(() => {
  const ask = async (method, params) => {
    const { result, code, message } = await window.walletRequest(method, params ?? null);
    if (code !== undefined) throw Object.assign(new Error(message), { code });
    return result;
  };
  ${script}
})()`;

/** EIP-6963 and EIP-1193. */
const ANNOUNCED = inPage(`
  const detail = Object.freeze({
    info: {
      uuid: '350670db-19fa-4704-a166-e52e178b59d2', name: 'Test Wallet', icon: "${ICON}", rdns: 'example.wallet',
    },
    provider: { request: ({ method, params }) => ask(method, params) },
  });
  const announce = () => window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
  window.addEventListener('eip6963:requestProvider', announce);
  announce();`);

/** The Wallet Standard. */
const registered = (address: string): string =>
  inPage(`
  const chains = ['solana:devnet'];
  const features = ['solana:signTransaction'];
  const account = { address: '${address}', publicKey: new Uint8Array(32), chains, features };
  const bytes = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const text = (all) => btoa(String.fromCharCode(...all));
  const wallet = { version: '1.0.0', name: 'Test Wallet', icon: "${ICON}", chains, accounts: [], features: {
    'standard:connect': {
      version: '1.0.0',
      connect: async () => ({ accounts: (await ask('connect')) ? [account] : [] }),
    },
    'solana:signTransaction': { version: '1.0.0', supportedTransactionVersions: ['legacy', 0],
      signTransaction: ({ transaction }) =>
        ask('sign', text(transaction)).then((signed) => [{ signedTransaction: bytes(signed) }]) },
  } };
  const register = (api) => api.register(wallet);
  window.addEventListener('wallet-standard:app-ready', ({ detail }) => register(detail));
  window.dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: register }));`);

const declined = { code: 4001, message: 'User rejected the request.' };

async function install(page: Page, script: string, answer: (method: string, params: unknown) => Promise<unknown>) {
  await page.exposeFunction('walletRequest', async (method: string, params: unknown) => answer(method, params));
  await page.addInitScript(script);
}

/** A wallet on an EVM chain that sends what it signs. */
export async function installEvmWallet(
  page: Page,
  stack: Stack,
  chainName: string,
  { address, privateKey }: StackWallet,
): Promise<SetMood> {
  const chain = chainOf(stack, chainName);
  const id = Number(chain.caip2.split(':')[1]);
  const network = {
    id,
    name: chain.caip2,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [chain.rpcUrl] } },
  };
  const client = createWalletClient({
    account: privateKeyToAccount(privateKey as Hex),
    chain: network,
    transport: http(chain.rpcUrl),
  });
  let mood: Mood = 'signs';
  let chainId = '0x1';
  await install(page, ANNOUNCED, async (method, params) => {
    const [first] = (params ?? []) as readonly Record<string, Hex>[];
    switch (method) {
      case 'eth_requestAccounts':
        return { result: [mood === 'other account' ? `0x${'1'.repeat(40)}` : address.toLowerCase()] };
      case 'eth_chainId':
        return { result: chainId };
      case 'wallet_switchEthereumChain':
        chainId = first?.['chainId'] ?? '';
        return { result: null };
      case 'eth_sendTransaction': {
        if (mood === 'declines') return declined;
        const { to, data } = first as { readonly to: Hex; readonly data: Hex };
        return { result: await client.sendTransaction({ to, data }) };
      }
      default:
        return { code: 4200, message: `The wallet does not know ${method}.` };
    }
  });
  return (next) => void (mood = next);
}

/** A wallet on Solana that signs and sends nothing. */
export async function installSolanaWallet(page: Page, stack: Stack, keys: StackWallet): Promise<SetMood> {
  const wallet = walletOn(chainOf(stack, 'solana'), keys);
  let mood: Mood = 'signs';
  await install(page, registered(keys.address), async (method, params) => {
    if (method === 'connect') return { result: mood !== 'other account' };
    return mood === 'declines' ? declined : { result: await wallet.sign(String(params)) };
  });
  return (next) => void (mood = next);
}
