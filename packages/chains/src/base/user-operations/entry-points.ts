/** `handleOps`: version 0.6 has another user operation, so another selector, than those after it. */
const HANDLE_OPS = { unpacked: '1fad948c', packed: '765e827f' } as const;
/** The EntryPoints of ERC-4337, the same on every chain: versions 0.6 to 0.9. */
const ENTRY_POINTS: Readonly<Record<string, string>> = {
  '0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789': HANDLE_OPS.unpacked,
  '0x0000000071727De22E5E9d8BAf0edAc6f37da032': HANDLE_OPS.packed,
  '0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108': HANDLE_OPS.packed,
  '0x433709009B8330FDa32311DF1C2AFA402eD8D009': HANDLE_OPS.packed,
};

/** Their addresses. */
export const entryPoints: readonly string[] = Object.keys(ENTRY_POINTS);
const BY_LOWER = new Map(Object.entries(ENTRY_POINTS).map(([address, selector]) => [address.toLowerCase(), selector]));

export const isEntryPoint = (address: string): boolean => BY_LOWER.has(address.toLowerCase());
/** The selector of its `handleOps`, as hex; undefined for another contract. */
export const handleOpsOf = (entryPoint: string): string | undefined => BY_LOWER.get(entryPoint.toLowerCase());
/** Whether it is of version 0.6, whose operations are other than those after it. */
export const isUnpacked = (entryPoint: string): boolean => handleOpsOf(entryPoint) === HANDLE_OPS.unpacked;
