import type { ScreenedWallet } from './port.ts';

const EVM_ADDRESS = /^0x[0-9a-f]{40}$/i;

export const isEvmAddress = (address: string): boolean => EVM_ADDRESS.test(address);

/** The form in which addresses are compared: EVM addresses in lower case whatever their label, all others exactly. */
export const comparable = (address: string): string => (isEvmAddress(address) ? address.toLowerCase() : address);

/** The comparable address of a wallet. */
export const comparableOf = ({ address }: ScreenedWallet): string => comparable(address);
