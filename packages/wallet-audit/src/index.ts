export { type AuditOptions, auditWallet, TooManyTransfersError, type WalletReport } from './audit.ts';
export type { Difference, TokenSums } from './compare.ts';
