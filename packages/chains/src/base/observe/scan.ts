import type { TransactionHash } from '@pf/domain';
import { type RpcNode, RpcUpstreamError } from '@pf/rpc';
import { zeroPadValue } from 'ethers';
import { getTransaction, type Block, type Log } from '../../evm/calls.ts';
import { RECIPIENTS_MAX, type Wanted } from '../../evm/observe/log-window.ts';
import type { Network, WatchSet } from '../../port.ts';
import { landed, readTransfer, TRANSFER } from './landings.ts';
import type { Memory } from './memory.ts';
import type { Seen } from './position.ts';

export interface Scanned {
  /** The last block that was read, with its hash at that time. */
  readonly end: Pick<Block, 'number' | 'hash'>;
  readonly seen: readonly Seen[];
}

export interface Scan {
  readonly node: RpcNode;
  readonly network: Network;
  readonly watch: WatchSet;
  readonly memory: Memory;
  readonly now: number;
}

/**
 * Reads the transfers of a range of blocks, as far as one call may reach, and finds those that carry the reference of a
 * watched intent.
 * @param expected the hash of the last block, as this node reported it before
 */
export async function scan(context: Scan, from: bigint, to: bigint, expected: string | null): Promise<Scanned> {
  const { node, memory } = context;
  const { logs, end } = await memory.logs.read(node, wanted(context), from, to, expected);
  return { end, seen: await match(context, logs) };
}

/** Null without recipients: there is nothing to look for. */
function wanted({ network, watch }: Scan): Wanted {
  const recipients = watch.recipients();
  if (recipients.length === 0) return null;
  const topics =
    recipients.length > RECIPIENTS_MAX
      ? [TRANSFER]
      : [TRANSFER, null, recipients.map((address) => zeroPadValue(address, 32).toLowerCase())];
  return { address: network.tokens.map(({ address }) => address), topics };
}

/** The logs that pay watched intents. Each transfer to a recipient costs one look-up of its transaction, once. */
async function match(context: Scan, logs: readonly Log[]): Promise<Seen[]> {
  const { network, watch, memory, now } = context;
  const ours = new Set<string>(network.tokens.map(({ address }) => address));
  const hits = logs.flatMap((log) => {
    const transfer = readTransfer(log);
    return transfer !== null && ours.has(log.address) && watch.hasRecipient(transfer.to) ? [transfer] : [];
  });
  await lookUp(context, new Set(hits.map(({ log }) => log.transactionHash)));
  return hits.flatMap((hit): Seen[] => {
    const summary = memory.look(hit.log.transactionHash);
    // The reference is read from the transaction's own call: a payment through another contract carries none.
    const payment = summary?.payment ?? null;
    if (payment === null || summary?.to !== hit.log.address || payment.to !== hit.to) return [];
    const intent = watch.byReference(payment.reference);
    return intent === undefined ? [] : [landed(intent.id, hit, payment.reference, now)];
  });
}

async function lookUp({ node, memory }: Scan, hashes: ReadonlySet<TransactionHash>): Promise<void> {
  const unknown = [...hashes].filter((hash) => memory.look(hash) === undefined);
  if (unknown.length === 0) return;
  const found = await node.batch(unknown.map((hash) => getTransaction(hash)));
  found.forEach((transaction, place) => {
    if (transaction === null)
      throw new RpcUpstreamError(`${node.name} logs ${unknown[place] ?? ''} but does not return it`, 'no');
    memory.remember(transaction);
  });
}
