import type { Address, TransactionHash } from '@pf/domain';
import { RpcUpstreamError } from '@pf/rpc';
import { type Block, type ChainTransaction, getTransaction, type Log } from '../../evm/calls.ts';
import type { Wanted } from '../../evm/observe/log-window.ts';
import { partsOf } from '../../parts.ts';
import type { Scan } from './context.ts';
import { landed, type LoggedTransfer, NO_REFERENCE, readTransfer, TRANSFER } from './landings.ts';
import type { TransactionSummary } from './memory.ts';
import { findNested } from './nested-payments.ts';
import type { Seen } from './position.ts';

/** Transactions that are looked up at a time. */
const LOOKED_UP_AT_ONCE = 20;

export interface Scanned {
  /** The last block that was read, with its hash at that time. */
  readonly end: Pick<Block, 'number' | 'hash'>;
  readonly seen: readonly Seen[];
}

/**
 * Reads the transfers of a range of blocks, as far as one call may reach, and finds those that carry the reference of a
 * watched intent.
 * @param expected the hash of the last block, as this node reported it before
 * @param recipients default: all
 */
export async function scan(
  context: Scan,
  from: bigint,
  to: bigint,
  expected: string | null,
  recipients: readonly Address[] = context.watch.recipients(),
): Promise<Scanned> {
  const { node, memory } = context;
  const { logs, end } = await memory.logs.read(node, wanted(context, recipients), from, to, expected);
  return { end, seen: await match(context, logs) };
}

/** Null without recipients: there is nothing to look for. */
function wanted({ network }: Scan, recipients: readonly Address[]): Wanted {
  if (recipients.length === 0) return null;
  return { address: network.tokens.map(({ address }) => address), events: [TRANSFER], recipients };
}

/** The logs that pay watched intents. Each transfer to a recipient costs one look-up of its transaction, once. */
async function match(context: Scan, logs: readonly Log[]): Promise<Seen[]> {
  const { network, watch, memory, now } = context;
  const ours = new Set<string>(network.tokens.map(({ address }) => address));
  const hits = logs.flatMap((log) => {
    const transfer = readTransfer(log);
    return transfer !== null && ours.has(log.address) && watch.hasRecipient(transfer.to) ? [transfer] : [];
  });
  await lookUp(context, hits);
  await watch.recall(
    hits.flatMap(({ log: { transactionHash: hash, blockHash, logIndex } }) =>
      [
        memory.look(hash)?.payment?.reference ?? [],
        memory.nested(hash, blockHash)?.get(logIndex)?.reference ?? [],
      ].flat(),
    ),
  );
  return hits.flatMap((hit): Seen[] => {
    const { log, to } = hit;
    const summary = memory.look(log.transactionHash);
    const nested = memory.nested(log.transactionHash, log.blockHash)?.get(log.logIndex);
    if (nested !== undefined) {
      const intent = watch.byReference(nested.reference);
      // A live submission was verified. Its receipt is read until it can be explained again.
      if (intent === undefined || (!nested.isProven && intent.submission?.hash === log.transactionHash)) return [];
      return [landed(intent.id, hit, nested.isProven ? nested.reference : NO_REFERENCE, now)];
    }
    const payment = summary?.payment ?? null;
    if (payment === null || summary?.to !== log.address || payment.to !== to) return [];
    const intent = watch.byReference(payment.reference);
    return intent === undefined ? [] : [landed(intent.id, hit, payment.reference, now)];
  });
}

/** True where the transaction's own calldata says what this transfer of the token is for. */
const isDirect = ({ to, isAuthorized }: TransactionSummary, { address }: Log): boolean =>
  to === address && !isAuthorized;

/** Learns what the transactions of these transfers call: the token itself, or a contract that calls it. */
async function lookUp(context: Scan, hits: readonly LoggedTransfer[]): Promise<void> {
  const { node, memory } = context;
  const byHash = Map.groupBy(hits, ({ log }) => log.transactionHash);
  const isKnown = (hash: TransactionHash, transfers: readonly LoggedTransfer[]): boolean => {
    const summary = memory.look(hash);
    return (
      summary !== undefined &&
      transfers.every(({ log }) => isDirect(summary, log) || memory.nested(hash, log.blockHash) !== undefined)
    );
  };
  const unknown = [...byHash].flatMap(([hash, transfers]) => (isKnown(hash, transfers) ? [] : [hash]));
  if (unknown.length === 0) return;
  const nested: ChainTransaction[] = [];
  // In parts, each remembered: on a slow plan a step that has no time for all goes on where the last one ended.
  for (const part of partsOf(unknown, LOOKED_UP_AT_ONCE)) {
    const found = await node.batch(part.map((hash) => getTransaction(hash)));
    found.forEach((transaction, place) => {
      if (transaction === null)
        throw new RpcUpstreamError(`${node.name} logs ${part[place] ?? ''} but does not return it`, 'no');
      const summary = memory.remember(transaction);
      if (byHash.get(transaction.hash)?.some(({ log }) => !isDirect(summary, log))) nested.push(transaction);
    });
  }
  await findNested(context, nested, (hash) => byHash.get(hash) ?? []);
}
