/** Networks of a family work alike and share an adapter: a live network and its testnet. The only list of families. */
export const CHAIN_FAMILIES = ['base', 'solana', 'tempo'] as const;
export type ChainFamily = (typeof CHAIN_FAMILIES)[number];

/** The forms of an unsigned transaction: one for each family. */
export const TRANSACTION_FORMATS = ['solana_v0_message', 'evm_rlp', 'tempo_tip20'] as const;
export type TransactionFormat = (typeof TRANSACTION_FORMATS)[number];

/** One value for each family. */
export const forEachFamily = <Value>(value: (family: ChainFamily) => Value): Record<ChainFamily, Value> =>
  Object.fromEntries(CHAIN_FAMILIES.map((family) => [family, value(family)])) as Record<ChainFamily, Value>;
