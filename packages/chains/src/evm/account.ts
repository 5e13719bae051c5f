/** Code of an EIP-7702 account: the designator of its delegate. Such an account still signs and sends for itself. */
const DELEGATION = /^0xef0100[0-9a-f]{40}$/;

/** True for an account that cannot sign for itself: others send what it is to do. */
export const isContract = (code: string): boolean => code !== '0x' && !DELEGATION.test(code);

/** An address as a word of calldata or a topic, without `0x`. */
export const wordOf = (account: string): string => account.slice(2).toLowerCase().padStart(64, '0');
/** `balanceOf(account)` of ERC-20. */
export const balanceOf = (account: string): string => `0x70a08231${wordOf(account)}`;
/** `isBlacklisted(account)` of Circle's tokens. */
export const isBlacklisted = (account: string): string => `0xfe575a87${wordOf(account)}`;

const ZERO_ADDRESS = `0x${'00'.repeat(20)}`;
/** Whether a transfer from this address is a mint: no wallet has sent it. */
export const isMint = (from: string): boolean => from === ZERO_ADDRESS;
