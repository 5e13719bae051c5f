import type { NodeOptions, RunningNode } from './options.ts';
import type { Sandbox } from './sandbox.ts';

export { DEVNET_GENESIS, type NodeOptions, type RunningNode } from './options.ts';
export type { Executed, Sandbox } from './sandbox.ts';
export { programOf, tokens } from './tokens.ts';
export { MNEMONIC, nodeWallet, type Wallet, wallets } from './wallets.ts';

/** Starts a local Solana in this process. Loads the runtime, a native library, only then. */
export const startNode = async (options: NodeOptions = {}): Promise<RunningNode> =>
  (await import('./node.ts')).startNode(options);

/** The runtime alone, which executes transactions at once. Loads it only then. */
export const newSandbox = async (): Promise<Sandbox> => new (await import('./sandbox.ts')).Sandbox();
