import type { Address, PaymentTerms, TokenAddress } from '@pf/domain';
import type { RpcPool } from '@pf/rpc';
import { getBlock, getHead, type Receipt } from '../evm/calls.ts';
import type { Network, SignedTransaction, Verification } from '../port.ts';
import { leastDifferences } from '../verify-landed.ts';
import { sendsAuthorization } from './authorization/eip3009.ts';
import { explainTransfers } from './nested/explain.ts';
import { type LoggedTransfer, readTransfer } from './observe/landings.ts';
import { carriesReference } from './nested/references.ts';
import { paidIn } from './paid.ts';
import { decodeSigned, SENT_TYPES, signerOf } from './signed-transaction.ts';
import { unnamedAmong } from './unnamed-payment.ts';

/**
 * True for a transaction that calls another contract than a token, or brings it an authorization: only its effects show
 * what it pays.
 */
export function isNested({ tokens }: Network, { raw }: SignedTransaction): boolean {
  const decoded = decodeSigned(raw, SENT_TYPES);
  if (!decoded.ok) return false;
  const { to, data } = decoded.value;
  return sendsAuthorization(data) || !tokens.some(({ address }) => (address as string) === to);
}

/** So long after its block what is not explained may be yet: many nodes keep the state for a trace for no longer. */
const EXPLAINED_WITHIN_S = 3_600n;

/**
 * Compares what a transaction has paid, whoever sent it: a successful call in it, made by the fulfiller's account, pays
 * exactly these terms, and the requestor's account has gained as much (paid.ts). So a bundler's transaction pays for a
 * smart account. It is `unseen` where such a transfer is there, and no upstream that has traces can show now what it
 * was for, within an hour of its block. After that nothing is known of it but that no reference is proven.
 */
export async function verifyNested(
  pool: RpcPool,
  network: Network,
  { hash, raw }: SignedTransaction,
  receipt: Receipt,
  terms: PaymentTerms,
  fulfiller: Address,
): Promise<Verification> {
  const decoded = decodeSigned(raw, SENT_TYPES);
  if (!decoded.ok) throw new Error(`${hash} ${decoded.problem}, and was taken for a nested payment`);
  if (receipt.status === 0n) return { kind: 'rejected', reason: 'the transaction reverted on chain' };
  const { to, data: input } = decoded.value;
  const from = signerOf(decoded.value);
  if (from === null) throw new Error(`${hash} has no valid signature, and is in a block`);
  const transfers = receipt.logs.flatMap((log) => {
    const transfer = network.tokens.some(({ address }) => (address as string) === log.address)
      ? readTransfer(log)
      : null;
    return transfer !== null && (transfer.from === fulfiller || transfer.to === terms.requestor) ? [transfer] : [];
  });
  const { references, said } = await explainTransfers(
    pool,
    { hash, sent: { from, to: to as Address | null, input }, logs: receipt.logs, network },
    transfers,
  );
  const isPayment = ({ from, to, amount, log }: LoggedTransfer): boolean =>
    from === fulfiller &&
    to === terms.requestor &&
    amount === terms.amount &&
    (log.address as string) === terms.tokenAddress;
  const isKnown = transfers.some((one) => isPayment(one) && references.get(one.log.logIndex) === terms.reference);
  const isUnknown = transfers.some((one) => isPayment(one) && !references.has(one.log.logIndex));
  if (said !== 'none' && isUnknown && !isKnown && (await isYoung(pool, receipt))) return { kind: 'unseen' };
  const worth = paidIn(
    receipt.logs.flatMap((log) => readTransfer(log) ?? []),
    (one) => carriesReference(references, one),
  );
  const named = transfers
    .filter(({ log }) => references.get(log.logIndex) === terms.reference)
    .map(({ from, to, log }) => ({
      from,
      to,
      tokenAddress: log.address as string as TokenAddress,
      amount: worth.get(log.logIndex) ?? 0n,
      reference: terms.reference,
    }));
  const nothing = { reference: { expected: terms.reference, actual: null } };
  const differs = leastDifferences(named, terms, fulfiller) ?? nothing;
  if (Object.keys(differs).length === 0)
    return {
      kind: 'verified',
      transaction: { hash, sender: fulfiller, nonce: null, lifetime: { kind: 'unlimited' }, terms },
    };
  const unnamed = await unnamedAmong(pool, receipt, terms, fulfiller, references);
  return { kind: 'mismatch', differs, ...(unnamed && { unnamed }) };
}

/** Also where that cannot be told: the node lags, or there was a reorg. */
async function isYoung(pool: RpcPool, { blockNumber, blockHash }: Receipt): Promise<boolean> {
  const [block, head] = await pool.batch([getBlock(blockNumber), getHead()]);
  if (block?.hash !== blockHash || head === null) return true;
  return head.timestamp - block.timestamp < EXPLAINED_WITHIN_S;
}
