import { base64 } from '@scure/base';
import { createStore } from 'mipd';
import { fromBytes, fromNumber, type Hex } from 'ox/Hex';
import { deserialize as readEip1559 } from 'ox/TxEnvelopeEip1559';
import { deserialize as readTempo } from 'ox/tempo/TxEnvelopeTempo';
import { asking, type BrowserWallet, type Unsigned, WalletError, type Wallets, wrongAccount } from './wallet.ts';

/** EIP-1193. */
interface Provider {
  request(asked: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>;
}

/** The wallets that announce themselves (EIP-6963); where none does, the one that is in the page (EIP-1193). */
const store = createStore();
let found: readonly BrowserWallet[] = [];
const listeners = new Set<() => void>();

function look(): void {
  const announced = store.getProviders().map(({ info: { uuid, name, icon }, provider }) => ({
    id: uuid,
    name,
    icon,
    sign: signer(name, provider as Provider),
  }));
  const { ethereum } = globalThis as { readonly ethereum?: Provider };
  const injected = { id: 'injected', name: 'Wallet of this browser', icon: null };
  found = announced.length > 0 || !ethereum ? announced : [{ ...injected, sign: signer(injected.name, ethereum) }];
  listeners.forEach((listener) => listener());
}
store.subscribe(look);
look();

export const evmWallets: Wallets = {
  get: () => found,
  subscribe(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

function signer(name: string, provider: Provider): BrowserWallet['sign'] {
  return async ({ chain, payer, build }) => {
    const accounts = await asking(name, () => provider.request({ method: 'eth_requestAccounts' }));
    const isShared = (account: unknown): boolean =>
      typeof account === 'string' && account.toLowerCase() === payer.toLowerCase();
    if (!Array.isArray(accounts) || !accounts.some(isShared)) throw wrongAccount(name, payer);
    const chainId = fromNumber(Number(chain.slice('eip155:'.length)));
    const isThere = async (): Promise<boolean> =>
      Number(await asking(name, () => provider.request({ method: 'eth_chainId' }))) === Number(chainId);
    if (!(await isThere())) {
      await asking(name, () => provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId }] }));
      if (!(await isThere())) throw new WalletError(`${name} is on another network. Switch it, then try again.`);
    }
    // The wallet chooses nonce, gas and fees.
    const call = callIn(await build());
    const transaction = { from: payer, value: '0x0', ...call };
    const hash = await asking(name, () => provider.request({ method: 'eth_sendTransaction', params: [transaction] }));
    if (typeof hash !== 'string') throw new WalletError(`${name} did not say which transaction it has sent.`);
    return hash;
  };
}

/** The transfer in an unsigned transaction. */
function callIn({ blob, format }: Unsigned): { readonly to: string; readonly data: Hex } {
  const bytes = fromBytes(base64.decode(blob));
  const { to, data } =
    format === 'tempo_tip20'
      ? (readTempo(bytes as `0x76${string}`).calls[0] ?? {})
      : readEip1559(bytes as `0x02${string}`);
  if (!to || !data) throw new WalletError('The transaction could not be read. Reload the page, then try again.');
  return { to, data };
}
