import { refusable, type RpcNode, type RpcPool, RpcRefusedError, type RpcUpstreamError } from '@pf/rpc';
import type { SignedTransaction } from '../port.ts';
import {
  getBlockHeight,
  getMultipleAccounts,
  getSignatureStatuses,
  isBlockhashValid,
  simulateTransaction,
} from './calls.ts';
import type { NewestSlot } from './newest-slot.ts';
import type { PaymentAccounts } from './payment.ts';
import { reasonOf } from './refusal.ts';
import { type DecodedTransaction, programsOf } from './signed-transaction.ts';
import { tokenAccountIn } from './token-account.ts';

/** A blockhash is valid for this many blocks after its own. */
export const BLOCKHASH_BLOCKS = 150n;

export interface Landability {
  /** Block height after which it can no longer land. */
  readonly lastValid: bigint;
  /** Null where it can land, or has. */
  readonly reason: string | null;
}

/** The result of the first upstream on which it can land: a lagging one does not know a fresh blockhash or balance. */
export async function landability(
  pool: RpcPool,
  signed: SignedTransaction,
  decoded: DecodedTransaction,
  accounts: PaymentAccounts,
  slots: NewestSlot,
): Promise<Landability> {
  let first: Landability | undefined;
  let lastError: RpcUpstreamError | undefined;
  for await (const attempt of pool.attempts((node) => landabilityOn(node, signed, decoded, accounts, slots))) {
    if (attempt.kind === 'failed') lastError = attempt.error;
    else if (attempt.value.reason === null) return attempt.value;
    else first ??= attempt.value;
  }
  if (first === undefined) throw pool.unavailable(lastError);
  return first;
}

async function landabilityOn(
  node: RpcNode,
  { hash, raw }: SignedTransaction,
  decoded: DecodedTransaction,
  { destination, recipient }: PaymentAccounts,
  slots: NewestSlot,
): Promise<Landability> {
  const [height, live, statuses, simulated, found] = await node.batch([
    getBlockHeight('processed'),
    isBlockhashValid(decoded.blockhash),
    getSignatureStatuses([hash], false),
    refusable(simulateTransaction(raw, true)),
    getMultipleAccounts([destination]),
  ]);
  const lastValid = height + BLOCKHASH_BLOCKS;
  // Not even simulated: it breaks a rule of the chain (the fee payer's account is not writable, say).
  if (simulated instanceof RpcRefusedError)
    return { lastValid, reason: `the transaction would fail: ${simulated.message}` };
  const { err } = simulated.value;
  // It is in a block already: the wallet has sent it too, or this is a repeated request.
  if ((statuses.value[0] ?? null) !== null || err === 'AlreadyProcessed') return { lastValid, reason: null };
  if (!live.value || err === 'BlockhashNotFound') {
    slots.requireReached(node, live.context.slot);
    return { lastValid, reason: 'the blockhash has expired' };
  }
  if (err !== null) return { lastValid, reason: `the transaction would fail: ${reasonOf(err, programsOf(decoded))}` };
  const account = tokenAccountIn(found.value[0] ?? null);
  if (account !== null && account.owner !== recipient)
    return { lastValid, reason: "the requestor's token account has another owner" };
  return { lastValid, reason: null };
}
