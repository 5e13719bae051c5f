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

/** How a provider turns credits into a bill. */
interface Tariff {
  /** Its plans, cheapest first: credits of 30 days, and dollars a month. */
  readonly plans: readonly { readonly credits: number; readonly dollars: number }[];
  /** What takes more than its last plan: dollars for a million credits, those beyond `free` only. */
  readonly metered?: { readonly perMillion: number; readonly free: number };
}

const MILLION = 1_000_000;
const DAYS = 30;

/**
 * Prices of the providers' plans, from the pages above and public reports, read 21 November 2026. QuickNode's are not
 * verified; those of Infura's and dRPC's paid plans are not known.
 */
const TARIFFS: Readonly<Record<PriceList, Tariff>> = {
  helius: {
    plans: [
      { credits: MILLION, dollars: 0 },
      { credits: 10 * MILLION, dollars: 49 },
      { credits: 100 * MILLION, dollars: 499 },
      { credits: 200 * MILLION, dollars: 999 },
    ],
  },
  alchemy: { plans: [{ credits: 30 * MILLION, dollars: 0 }], metered: { perMillion: 0.45, free: 0 } },
  infura: { plans: [{ credits: DAYS * 3 * MILLION, dollars: 0 }] },
  cdp: { plans: [], metered: { perMillion: 0.5, free: 10 * MILLION } },
  quicknode: { plans: [{ credits: 80 * MILLION, dollars: 49 }] },
  drpc: { plans: [{ credits: 210 * MILLION, dollars: 0 }] },
  ankr: { plans: [], metered: { perMillion: 0.1, free: 0 } },
};

/** Dollars a month for so many credits in 30 days, by the cheapest plan that has them; null: none that is known has. */
export function dollarsAMonth(list: PriceList, credits: number): number | null {
  const { plans, metered }: Tariff = TARIFFS[list];
  const plan = plans.find((one) => credits <= one.credits);
  if (plan !== undefined) return plan.dollars;
  return metered === undefined ? null : (Math.max(0, credits - metered.free) / MILLION) * metered.perMillion;
}
