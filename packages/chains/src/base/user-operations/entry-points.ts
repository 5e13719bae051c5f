/** The EntryPoints of ERC-4337, the same on every chain. */
const UNPACKED = '0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789';
const ENTRY_POINTS: ReadonlySet<string> = new Set(
  [
    // Versions 0.6 to 0.9.
    UNPACKED,
    '0x0000000071727De22E5E9d8BAf0edAc6f37da032',
    '0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108',
    '0x433709009B8330FDa32311DF1C2AFA402eD8D009',
  ].map((address) => address.toLowerCase()),
);

export const isEntryPoint = (address: string): boolean => ENTRY_POINTS.has(address.toLowerCase());
/** Whether it is of version 0.6, whose operations are other than those after it. */
export const isUnpacked = (entryPoint: string): boolean => entryPoint.toLowerCase() === UNPACKED.toLowerCase();
