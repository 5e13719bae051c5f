import type { ChainFamily } from '@pf/chains/networks';

/** A wallet on a phone, and the link that opens the page in the browser inside it. */
export interface InAppLink {
  readonly name: string;
  readonly href: string;
}

/** The wallets whose browsers can pay on this chain. @param page the whole link, secret included */
export function inAppLinks(family: ChainFamily, page: string): readonly InAppLink[] {
  const url = new URL(page);
  const [whole, origin] = [encodeURIComponent(page), encodeURIComponent(url.origin)];
  if (family === 'solana')
    return [
      { name: 'Phantom', href: `https://phantom.app/ul/browse/${whole}?ref=${origin}` },
      { name: 'Solflare', href: `https://solflare.com/ul/v1/browse/${whole}?ref=${origin}` },
    ];
  // MetaMask opens an empty tab for an encoded address.
  const metaMask = {
    name: 'MetaMask',
    href: `https://link.metamask.io/dapp/${url.host}${url.pathname}${url.search}${url.hash}`,
  };
  return family === 'base'
    ? [{ name: 'Coinbase Wallet', href: `https://go.cb-w.com/dapp?cb_url=${whole}` }, metaMask]
    : [metaMask];
}

/** Whether it is a phone or a tablet, where wallets are apps and not extensions. */
export const isHandheld = (scope: Pick<Window, 'matchMedia'> = window): boolean =>
  scope.matchMedia('(pointer: coarse) and (hover: none)').matches;
