export * from './anvil.ts';
export * from './rpc-fault.ts';
export * from './rpc-proxy.ts';
export * from './solana.ts';
export * from './tempo.ts';
export { contractNamed } from './contract.ts';
