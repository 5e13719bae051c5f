import type { Intent } from '../api/schemas.ts';
import type { Terms } from '../check/terms.ts';

/** A QR code that pays an intent, or leads to the page. */
export interface Code {
  readonly kind: 'solana_request' | 'solana_transfer' | 'tempo' | 'page' | 'transfer' | 'address';
  readonly content: string;
}

interface Place {
  /** Of this page. */
  readonly origin: string;
  /** The whole link, secret included. */
  readonly page: string;
  readonly merchant: string;
  readonly solanaPayToken: string | null;
}

/** The codes of a payment, the best one first. @param terms of the intent */
export function codesOf(
  intent: Intent,
  terms: Terms,
  { origin, page, merchant, solanaPayToken }: Place,
): readonly Code[] {
  const link: Code = { kind: 'page', content: page };
  switch (terms.network.family) {
    case 'solana': {
      const requests: Code[] =
        solanaPayToken === null ? [] : [{ kind: 'solana_request', content: `solana:${origin}/s/${solanaPayToken}` }];
      return [...requests, link, ...(hasTokenAccount(intent) ? [solanaTransfer(intent, merchant)] : [])];
    }
    case 'tempo':
      // Whether wallets keep the memo of such a code is not proven, so it is not the first.
      return [link, { kind: 'tempo', content: tempoTransfer(terms) }];
    case 'base':
      // EIP-681 has no place for the reference: two payments of one amount could not be told apart.
      return [link];
  }
}

/** The codes of a plain transfer, which pays an intent by its amount; the best one first. */
export function transferCodesOf(intent: Intent, { network }: Terms): readonly Code[] {
  const address: Code = { kind: 'address', content: intent.requestor };
  // EIP-681 names network and token, but many wallets read the address alone or send on the network that they are on:
  // a code that fills in half of it is worse than one that fills in nothing.
  if (network.family !== 'solana') return [address];
  const { requestor, amount, tokenAddress } = intent;
  return [{ kind: 'transfer', content: solanaUrl(requestor, { amount, 'spl-token': tokenAddress }) }, address];
}

/** Whether the requestor's token account is known to exist: without it such a transfer fails. A build finds out. */
const hasTokenAccount = ({ direction, fulfiller, ataRentLamports }: Intent): boolean =>
  direction === 'request' && fulfiller !== null && ataRentLamports === null;

/** Solana Pay's transfer request. */
function solanaTransfer({ requestor, amount, tokenAddress, reference, id }: Intent, label: string): Code {
  const fields = { amount, 'spl-token': tokenAddress, reference, label, message: id };
  return { kind: 'solana_transfer', content: solanaUrl(requestor, fields) };
}

function solanaUrl(recipient: string, fields: Readonly<Record<string, string>>): string {
  const query = Object.entries(fields).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return `solana:${recipient}?${query.join('&')}`;
}

/** EIP-681. */
const tempoTransfer = ({ network, tokenAddress, requestor, amount, reference }: Terms): string =>
  `ethereum:${tokenAddress}@${network.chain.slice('eip155:'.length)}/transferWithMemo` +
  `?address=${requestor}&uint256=${amount}&bytes32=${reference}`;
