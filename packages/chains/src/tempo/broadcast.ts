import type { RpcPool } from '@pf/rpc';
import { broadcastEvm } from '../evm/broadcast.ts';
import type { BroadcastResult, SignedTransaction } from '../port.ts';

const NODE_TEXTS = {
  known: /already known|already imported|already exists|known transaction/i,
  // Also after it has landed: then its nonce is used, or its hash known.
  used: /nonce(?: is)? too low|nonce has already been used|replay/i,
  late: /transaction expired|validBefore|valid_before/i,
  refused: new RegExp(
    [
      'insufficient',
      'underpriced',
      'gas too low',
      'intrinsic gas',
      'gas limit',
      'fee cap',
      'max fee per gas',
      'base fee',
      'feetoolow',
      'nonce(?: is)? too high',
      'nonce gap',
      'invalid (?:sender|signature|chain ?id|transaction|fee token)',
      'verification failed',
      'chain ?id',
      'not valid yet',
      'fee token',
      'fee payer',
      'not supported',
      'not allowed',
      'too many',
      'oversized',
      'exceeds',
      'failed to decode',
      'rlp',
      'txpool is full',
    ].join('|'),
    'i',
  ),
};

/** Sends a signed transaction to the network. */
export const broadcast = (pool: RpcPool, transaction: SignedTransaction): Promise<BroadcastResult> =>
  broadcastEvm(pool, transaction, NODE_TEXTS);
