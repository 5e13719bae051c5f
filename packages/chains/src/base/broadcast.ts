import type { RpcPool } from '@pf/rpc';
import { broadcastEvm } from '../evm/broadcast.ts';
import type { BroadcastResult, SignedTransaction } from '../port.ts';

const NODE_TEXTS = {
  known: /already known|already imported|already exists|alreadyknown|known transaction/i,
  used: /nonce(?: is)? too low|nonce has already been used|oldnonce/i,
  refused: new RegExp(
    [
      'insufficient funds',
      'underpriced',
      'gas too low',
      'gas limit',
      'gas required exceeds',
      'fee cap',
      'max fee per gas',
      'base fee',
      'feetoolow',
      'nonce(?: is)? too high',
      'nonce gap',
      'invalid (?:sender|signature|chain ?id|transaction)',
      'chain ?id',
      'not supported',
      'oversized',
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
