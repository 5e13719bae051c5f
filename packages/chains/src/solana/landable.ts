import { refusable, type RpcNode, type RpcPool, RpcRefusedError } from '@pf/rpc';
import { bestLandability, type Landability } from '../landability.ts';
import type { NewestHead } from '../newest-head.ts';
import type { SignedTransaction } from '../port.ts';
import {
  getLatestBlockhash,
  getMultipleAccounts,
  getSignatureStatuses,
  isBlockhashValid,
  simulateTransaction,
} from './calls.ts';
import type { PaymentAccounts } from './payment.ts';
import { reasonOf } from './refusal.ts';
import { type DecodedTransaction, programsOf } from './signed-transaction.ts';
import { tokenAccountIn } from './token-account.ts';

/**
 * A blockhash is valid for this many blocks after its own: what watchers count with. Builds and claims read it from the
 * chain.
 */
export const BLOCKHASH_BLOCKS = 150n;

interface SolanaLandability extends Landability {
  /** Block height after which it can no longer land. */
  readonly lastValid: bigint;
}

/** Whether a transaction can land, or has, by any upstream. */
export const landability = (
  pool: RpcPool,
  signed: SignedTransaction,
  decoded: DecodedTransaction,
  accounts: PaymentAccounts,
  slots: NewestHead,
): Promise<SolanaLandability> => bestLandability(pool, (node) => landabilityOn(node, signed, decoded, accounts, slots));

async function landabilityOn(
  node: RpcNode,
  { hash, raw }: SignedTransaction,
  decoded: DecodedTransaction,
  { destination, recipient }: PaymentAccounts,
  slots: NewestHead,
): Promise<SolanaLandability> {
  const [latest, live, statuses, simulated, found] = await node.batch([
    getLatestBlockhash('processed'),
    isBlockhashValid(decoded.blockhash),
    getSignatureStatuses([hash], false),
    refusable(simulateTransaction(raw, true)),
    getMultipleAccounts([destination]),
  ]);
  // Of the newest blockhash: that of any transaction which can land now dies no later.
  const lastValid = latest.value.lastValidBlockHeight;
  const refused = (reason: string, slot: bigint): SolanaLandability => {
    slots.requireReached(node, slot);
    return { lastValid, reason };
  };
  // Not even simulated: it breaks a rule of the chain (the fee payer's account is not writable, say).
  if (simulated instanceof RpcRefusedError)
    return refused(`the transaction would fail: ${simulated.message}`, live.context.slot);
  const { err } = simulated.value;
  // It is in a block already: the wallet has sent it too, or this is a repeated request.
  if ((statuses.value[0] ?? null) !== null || err === 'AlreadyProcessed') return { lastValid, reason: null };
  const { slot } = simulated.context;
  if (!live.value) return refused('the blockhash has expired', live.context.slot);
  if (err === 'BlockhashNotFound') return refused('the blockhash has expired', slot);
  if (err !== null) return refused(`the transaction would fail: ${reasonOf(err, programsOf(decoded))}`, slot);
  const account = tokenAccountIn(found.value[0] ?? null);
  if (account !== null && account.owner !== recipient)
    return refused("the requestor's token account has another owner", found.context.slot);
  return { lastValid, reason: null };
}
