export { auditWallet, TooManyTransfersError, type WalletReport } from './audit.ts';
export { compare, type Difference, type TokenSums } from './compare.ts';
