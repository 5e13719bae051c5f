/** Networks of one family work alike and share an adapter: a live network and its testnet. The only list of families. */
export const CHAIN_FAMILIES = ['base', 'solana', 'tempo'] as const;
export type ChainFamily = (typeof CHAIN_FAMILIES)[number];

/** One value for each family. */
export const forEachFamily = <Value>(value: (family: ChainFamily) => Value): Record<ChainFamily, Value> =>
  Object.fromEntries(CHAIN_FAMILIES.map((family) => [family, value(family)])) as Record<ChainFamily, Value>;
