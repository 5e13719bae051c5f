/** Credits of a call by its method; `other` of every method that is not listed. */
type Prices = Readonly<Record<string, number>> & { readonly other: number };

/**
 * What providers charge, in their credits (Alchemy and dRPC: compute units). From helius.dev/docs/billing/credits,
 * alchemyplatform/docs, docs.metamask.io/services, docs.cdp.coinbase.com/data/node/pricing, support.quicknode.com,
 * drpcorg/drpc-nextra and Ankr-network/ankr-docs, read 21 November 2026.
 */
export const PRICES = {
  helius: { getTransaction: 10, getSignaturesForAddress: 10, other: 1 },
  alchemy: {
    eth_getLogs: 60,
    eth_call: 26,
    eth_blockNumber: 10,
    eth_feeHistory: 10,
    eth_sendRawTransaction: 40,
    getTransaction: 40,
    getMultipleAccounts: 11,
    sendTransaction: 10,
    other: 20,
  },
  infura: { eth_getLogs: 255, eth_getBlockReceipts: 1_000, eth_estimateGas: 300, other: 80 },
  cdp: { eth_call: 30, eth_feeHistory: 30, eth_sendRawTransaction: 500, other: 100 },
  quicknode: { other: 20 },
  drpc: { other: 20 },
  ankr: {
    getTransaction: 500,
    getSignaturesForAddress: 500,
    getSignatureStatuses: 500,
    getMultipleAccounts: 500,
    getLatestBlockhash: 500,
    simulateTransaction: 500,
    sendTransaction: 500,
    other: 200,
  },
} as const satisfies Readonly<Record<string, Prices>>;
export type PriceList = keyof typeof PRICES;

/** Credits of one call of this method. */
export function priceOf(list: PriceList, method: string): number {
  const prices: Prices = PRICES[list];
  return Object.hasOwn(prices, method) ? (prices[method] ?? prices.other) : prices.other;
}
