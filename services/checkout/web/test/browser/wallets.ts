import type { Page } from 'playwright-core';

/** What a wallet answers to a request: it runs in the test. Thrown objects with a `code` are errors of the wallet. */
export type Answer = (method: string, params: unknown) => unknown;

const ICON =
  "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'>" +
  "<rect width='32' height='32' rx='8' fill='%23f59e0b'/></svg>";

/** What a wallet extension puts into each page. */
const inPage = (script: string): string => `(() => {
  const ask = async (method, params) => {
    const { result, error } = await window.walletRequest(method, params ?? null);
    if (error) throw Object.assign(new Error(error.message), error);
    return result;
  };
  ${script}
})()`;

async function install(page: Page, answer: Answer, script: string): Promise<void> {
  await page.exposeFunction('walletRequest', async (method: string, params: unknown) => {
    try {
      return { result: await answer(method, params) };
    } catch (error) {
      const { code, message } = error as { readonly code?: number; readonly message?: string };
      return { error: { code, message: message ?? 'failed' } };
    }
  });
  await page.addInitScript(inPage(script));
}

interface Announced {
  readonly name?: string;
  readonly rdns?: string;
}

/** A wallet by EIP-6963 and EIP-1193. */
export const installEvm = (page: Page, answer: Answer, { name = 'Amber', rdns = 'example.amber' }: Announced = {}) =>
  install(
    page,
    answer,
    `const listeners = [];
    window.walletEmit = () => listeners.forEach((listener) => listener());
    const detail = Object.freeze({
      info: { uuid: '350670db-19fa-4704-a166-e52e178b59d2', ...${JSON.stringify({ name, rdns, icon: ICON })} },
      provider: {
        request: ({ method, params }) => ask(method, params),
        on: (_event, listener) => listeners.push(listener),
      },
    });
    const announce = () => window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
    window.addEventListener('eip6963:requestProvider', announce);
    announce();`,
  );

/** A wallet by the Wallet Standard that signs, or signs and sends. It is asked for `connect` and `sign` or `send`. */
export const installSolana = (page: Page, answer: Answer, feature: 'signTransaction' | 'signAndSendTransaction') =>
  install(
    page,
    answer,
    `const chains = ['solana:devnet'];
    const features = ['solana:${feature}'];
    const bytes = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    const text = (all) => btoa(String.fromCharCode(...all));
    const account = (address) => ({ address, publicKey: new Uint8Array(32), chains, features });
    const versions = { version: '1.0.0', supportedTransactionVersions: ['legacy', 0] };
    const wallet = { version: '1.0.0', name: 'Violet', icon: ${JSON.stringify(ICON)}, chains, accounts: [], features: {
      'standard:connect': { version: '1.0.0', connect: async () =>
        ({ accounts: (await ask('connect')).map(account) }) },
      'solana:signTransaction': { ...versions, signTransaction: ({ transaction }) =>
        ask('sign', text(transaction)).then((signed) => [{ signedTransaction: bytes(signed) }]) },
      'solana:signAndSendTransaction': { ...versions, signAndSendTransaction: ({ transaction }) =>
        ask('send', text(transaction)).then((signature) => [{ signature: bytes(signature) }]) },
    } };
    for (const name of Object.keys(wallet.features))
      if (name.startsWith('solana:') && !features.includes(name)) delete wallet.features[name];
    const register = (api) => api.register(wallet);
    window.addEventListener('wallet-standard:app-ready', ({ detail }) => register(detail));
    window.dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: register }));`,
  );

/** What the person declines. */
export const declined = Object.assign(new Error('User rejected the request.'), { code: 4001 });
