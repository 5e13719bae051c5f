export * from './evm-wallet.ts';
export * from './smart-wallet.ts';
export * from './solana-pay.ts';
export * from './solana-program.ts';
export * from './solana-wallet.ts';
export * from './wallets.ts';
export * from './tempo-wallet.ts';
