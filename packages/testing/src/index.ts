export * from './api-client.ts';
export * from './cluster.ts';
export * from './evm-wallet.ts';
export * from './log-checker.ts';
export * from './stack.ts';
export * from './until.ts';
export * from './webhook-receiver.ts';
