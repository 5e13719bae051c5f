export * from './anvil.ts';
export * from './rpc-fault.ts';
export * from './rpc-proxy.ts';
export { type Executed, newSandbox, nodeWallet, type Sandbox } from '@pf/local-solana';
export * from './solana-forwarder.ts';
export * from './solana.ts';
export * from './tempo.ts';
export { contractNamed } from './contract.ts';
