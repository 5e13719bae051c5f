import type { RpcRefusedError } from '@pf/rpc';
import { Interface } from 'ethers/abi';
import { reasonOf } from '../evm/refusal.ts';

/** The errors of TIP-20 tokens, as text. */
const errors = new Interface([
  'error InsufficientBalance(uint256 available, uint256 required, address token)',
  'error InvalidRecipient()',
  'error PolicyForbids()',
  'error ContractPaused()',
  'error VirtualAddressUnregistered()',
  'error SpendingLimitExceeded()',
]);
const WORDS: Readonly<Record<string, string>> = {
  InsufficientBalance: 'the balance is too low',
  InvalidRecipient: 'the token cannot be sent to this recipient',
  PolicyForbids: "the token's policy forbids it",
  ContractPaused: 'the token is paused',
  VirtualAddressUnregistered: 'the recipient is an unregistered virtual address',
  SpendingLimitExceeded: "the amount exceeds the key's spending limit",
};
/** Errors that are due to the recipient, whoever pays; and the one that may be due to either side. */
const UNPAYABLE = new Set(['InvalidRecipient', 'VirtualAddressUnregistered']);
const POLICY = 'PolicyForbids';

export interface TempoRefusal {
  readonly reason: string;
  /** True where this recipient cannot be paid at all. */
  readonly isRecipientFault: boolean;
  /** True where the token issuer's policy forbids it to one of the two. */
  readonly isPolicyRefusal: boolean;
}

/** Why a node refused a call or an estimate, with the token's reason where it is known. */
export function refusalOf(refused: RpcRefusedError): TempoRefusal {
  const { data } = refused;
  const error = typeof data === 'string' && /^0x[0-9a-f]{8}/i.test(data) ? errors.getError(data.slice(0, 10)) : null;
  return {
    reason: (error && WORDS[error.name]) ?? reasonOf(refused),
    isRecipientFault: error !== null && UNPAYABLE.has(error.name),
    isPolicyRefusal: error?.name === POLICY,
  };
}
