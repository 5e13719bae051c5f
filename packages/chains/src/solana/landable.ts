import type { Address as WalletAddress, PaymentTerms } from '@pf/domain';
import { refusable, type RpcNode, type RpcPool, RpcRefusedError, type RpcUpstreamError } from '@pf/rpc';
import type { SignedTransaction, Verification } from '../port.ts';
import {
  getBlockHeight,
  getMultipleAccounts,
  getSignatureStatuses,
  isBlockhashValid,
  simulateTransaction,
} from './calls.ts';
import { accountsOf, type PaymentAccounts } from './payment.ts';
import { reasonOf } from './refusal.ts';
import { type DecodedTransaction, decodeSigned } from './signed-transaction.ts';
import { tokenAccountIn } from './token-account.ts';
import { differences, programsOf } from './verify.ts';

/** A blockhash can be used for so many blocks after its own. */
export const BLOCKHASH_BLOCKS = 150n;

interface Chances {
  /** Block height after which it can land no more: a blockhash that is live now is of this block at the latest. */
  readonly lastValid: bigint;
  /** Null where it can land, or has. */
  readonly reason: string | null;
}

/** Checks a signed transaction against the terms, then, unless it was `sent` already, whether it can land. */
export async function verifyPayment(
  pool: RpcPool,
  signed: SignedTransaction,
  terms: PaymentTerms,
  fulfiller: WalletAddress,
  sent: boolean,
): Promise<Verification> {
  const decoded = decodeSigned(signed.raw);
  if (!decoded.ok)
    return {
      kind: 'mismatch',
      differs: { transaction: { expected: 'a Solana transaction of version 0', actual: decoded.problem } },
    };
  const differs = await differences(decoded.value, terms, fulfiller);
  if (Object.keys(differs).length > 0) return { kind: 'mismatch', differs };
  const { lastValid, reason } = sent
    ? { lastValid: (await pool.call(getBlockHeight('processed'))) + BLOCKHASH_BLOCKS, reason: null }
    : await best(pool, signed, decoded.value, await accountsOf(terms, fulfiller));
  if (reason !== null) return { kind: 'rejected', reason };
  return {
    kind: 'verified',
    transaction: {
      hash: signed.hash,
      sender: fulfiller,
      nonce: null,
      lifetime: { kind: 'block_height', lastValid },
      terms,
    },
  };
}

/** What the first upstream says on which it can land; one that lags does not know a fresh blockhash or a fresh balance. */
async function best(
  pool: RpcPool,
  signed: SignedTransaction,
  decoded: DecodedTransaction,
  accounts: PaymentAccounts,
): Promise<Chances> {
  let first: Chances | undefined;
  let unreached: RpcUpstreamError | undefined;
  for await (const attempt of pool.attempts((node) => chancesOn(node, signed, decoded, accounts))) {
    if (attempt.kind === 'failed') unreached = attempt.error;
    else if (attempt.value.reason === null) return attempt.value;
    else first ??= attempt.value;
  }
  if (first === undefined) throw pool.unavailable(unreached);
  return first;
}

async function chancesOn(
  node: RpcNode,
  { hash, raw }: SignedTransaction,
  decoded: DecodedTransaction,
  { destination, recipient }: PaymentAccounts,
): Promise<Chances> {
  const [height, live, statuses, simulated, found] = await node.batch([
    getBlockHeight('processed'),
    isBlockhashValid(decoded.blockhash),
    getSignatureStatuses([hash], false),
    refusable(simulateTransaction(raw, true)),
    getMultipleAccounts([destination]),
  ]);
  const lastValid = height + BLOCKHASH_BLOCKS;
  // Not even simulated: it breaks a rule of the chain that is not one of payments (the fee payer's account is not writable, say).
  if (simulated instanceof RpcRefusedError) return { lastValid, reason: `it would fail: ${simulated.message}` };
  const { err } = simulated.value;
  // It is in a block already: the wallet has sent it too, or this is a repetition.
  if ((statuses.value[0] ?? null) !== null || err === 'AlreadyProcessed') return { lastValid, reason: null };
  if (!live.value) return { lastValid, reason: 'its blockhash has expired' };
  if (err !== null) return { lastValid, reason: `it would fail: ${reasonOf(err, programsOf(decoded))}` };
  const account = tokenAccountIn(found.value[0] ?? null);
  if (account !== null && account.owner !== recipient)
    return { lastValid, reason: "the requestor's token account belongs to somebody else" };
  return { lastValid, reason: null };
}
