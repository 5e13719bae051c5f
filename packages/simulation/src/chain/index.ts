export { CALM, type ChainFaults, ChainRefusal, type SimulatedChain, type StandingTransfer } from './chain.ts';
export { type NetworkAccess, SimulatedNetwork } from './network.ts';
export { HONEST, type NodeFaults, type SimulatedNode, type Unreadable } from './node.ts';
export { callOf, type Payment, type SimulatedTransaction } from './transaction.ts';
export { type PaymentByHand, SimulatedWallet } from './wallet.ts';
