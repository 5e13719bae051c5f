import type { Address, PaymentTerms } from '@pf/domain';
import type { RpcPool } from '@pf/rpc';
import { getBlock, getHead, type Receipt } from '../evm/calls.ts';
import type { Network, SignedTransaction, UnnamedPayment } from '../port.ts';
import { decodeTransfer } from './calldata.ts';
import { explainTransfers } from './nested/explain.ts';
import { carriesReference, type References } from './nested/references.ts';
import { type LoggedTransfer, readTransfer, recorded } from './observe/landings.ts';
import { NO_REFERENCE } from './observe/no-reference.ts';
import { paidIn } from './paid.ts';
import { decodeSigned, SENT_TYPES, signerOf } from './signed-transaction.ts';

/** As long as an observed landing has to stay canonical: seconds, by the chain's clock. */
const CONFIRM_S = 2n;

/** True for a transfer that names no intent. */
export function isUnnamed({ raw }: SignedTransaction): boolean {
  const decoded = decodeSigned(raw, SENT_TYPES);
  const transfer = decoded.ok ? decodeTransfer(Buffer.from(decoded.value.data.slice(2), 'hex')) : null;
  return transfer !== null && transfer.reference === null;
}

/**
 * The transfer in a transaction that is what the terms ask, which this wallet itself has ordered in this transaction,
 * but without any reference, so that it cannot be the payment of any other intent. Null where there is none: what a
 * spender has pulled from the wallet is none, nor is what the requestor's account has not gained (paid.ts).
 */
export async function findUnnamed(
  pool: RpcPool,
  network: Network,
  { hash, raw }: SignedTransaction,
  receipt: Receipt | null,
  terms: PaymentTerms,
  fulfiller: Address,
): Promise<UnnamedPayment | null> {
  const decoded = decodeSigned(raw, SENT_TYPES);
  const from = decoded.ok ? signerOf(decoded.value) : null;
  if (!decoded.ok || from === null || receipt?.status !== 1n) return null;
  const transfers = askedIn(receipt, terms, fulfiller);
  if (transfers.length === 0) return null;
  const { to, data } = decoded.value;
  const direct = to === terms.tokenAddress ? decodeTransfer(Buffer.from(data.slice(2), 'hex')) : null;
  const references: References =
    direct === null
      ? (
          await explainTransfers(
            pool,
            { hash, sent: { from, to: to as Address | null, input: data }, logs: receipt.logs, network },
            transfers,
          )
        ).references
      : new Map(transfers.map(({ log }) => [log.logIndex, direct.reference]));
  return unnamedAmong(pool, receipt, terms, fulfiller, references);
}

/** As `findUnnamed`, in a transaction that succeeded and of whose transfers it is known what they name. */
export async function unnamedAmong(
  pool: RpcPool,
  receipt: Receipt,
  terms: PaymentTerms,
  fulfiller: Address,
  references: References,
): Promise<UnnamedPayment | null> {
  const unnamed = askedIn(receipt, terms, fulfiller).find(({ log }) => references.get(log.logIndex) === null);
  if (unnamed === undefined) return null;
  const worth = paidIn(
    receipt.logs.flatMap((log) => readTransfer(log) ?? []),
    (one) => one.log.logIndex === unnamed.log.logIndex || carriesReference(references, one),
  ).get(unnamed.log.logIndex);
  if (worth === undefined || worth === 0n) return null;
  const [block, head] = await pool.batch([getBlock(receipt.blockNumber), getHead()]);
  if (block?.hash !== receipt.blockHash || head === null) return null;
  return {
    transfer: recorded(unnamed, NO_REFERENCE, worth),
    at: Number(block.timestamp) * 1000,
    isConfirmed: head.timestamp - block.timestamp >= CONFIRM_S,
  };
}

/** The transfers that are what the terms ask, whatever they name. */
const askedIn = ({ logs }: Receipt, terms: PaymentTerms, fulfiller: Address): readonly LoggedTransfer[] =>
  logs.flatMap((log) => {
    const transfer = (log.address as string) === terms.tokenAddress ? readTransfer(log) : null;
    const isAsked = transfer?.from === fulfiller && transfer.to === terms.requestor && transfer.amount === terms.amount;
    return transfer !== null && isAsked ? [transfer] : [];
  });
