import type { Address, Observation, Reference, TransactionHash } from '@pf/domain';
import { type RpcNode, RpcUpstreamError } from '@pf/rpc';
import type { LRUCache } from 'lru-cache';
import { getReceipt, type Block, type Receipt } from '../../evm/calls.ts';
import type { LogWindow, Wanted } from '../../evm/observe/log-window.ts';
import { partsOf } from '../../parts.ts';
import type { Network, WatchedIntent, WatchSet } from '../../port.ts';
import { mppNameIn } from '../mpp.ts';
import type { ProofBlocks } from './proof-blocks.ts';
import {
  feeIn,
  GUARD,
  type Landing,
  paymentsIn,
  claimIn,
  TRANSFER_BLOCKED,
  TRANSFER_WITH_MEMO,
} from './landings.ts';

/** Receipts that are looked up at a time, and those that are kept. */
const LOOKED_UP_AT_ONCE = 20;
export const RECEIPTS_KEPT = 1_000;

export interface Scan {
  readonly node: RpcNode;
  readonly network: Network;
  readonly watch: WatchSet;
  readonly window: LogWindow;
  /** Of payments in final blocks: they are read twice, and by a step that follows one that had no time for all. */
  readonly receipts: LRUCache<TransactionHash, Receipt>;
  readonly proofBlocks: ProofBlocks;
}

/** The watched intent that a memo names, by its reference or as MPP's clients name it. */
function named({ watch }: Pick<Scan, 'watch'>, memo: Reference): WatchedIntent | undefined {
  const alias = mppNameIn(memo);
  return watch.byReference(memo) ?? (alias === null ? undefined : watch.byAlias(alias));
}

/** The observation of a payment, which is confirmed and final at once. Null where its reference is not watched. */
function observed(context: Pick<Scan, 'watch'>, receipt: Receipt, landing: Landing): Observation | null {
  const intent = named(context, landing.reference);
  if (intent === undefined) return null;
  const transfer = { ...landing, reference: intent.terms.reference };
  const fee = feeIn(receipt);
  return {
    kind: 'observation',
    type: 'landed',
    intentId: intent.id,
    data: { hash: receipt.transactionHash, level: 'finalized', transfer, ...(fee && { fee }) },
  };
}

/** Makes known to the watch which intents these payments name. */
const recallNamed = ({ watch }: Pick<Scan, 'watch'>, landings: readonly Landing[]): Promise<void> =>
  watch.recall(landings.flatMap(({ reference }) => [reference, mppNameIn(reference) ?? []].flat()));

/** The observations of watched intents in receipts. */
export async function observedIn(
  context: Pick<Scan, 'watch' | 'network'>,
  receipts: readonly Receipt[],
): Promise<readonly Observation[]> {
  const found = receipts.map((receipt) => ({ receipt, landings: paymentsIn(receipt, context.network) }));
  await recallNamed(
    context,
    found.flatMap(({ landings }) => landings),
  );
  return found.flatMap(({ receipt, landings }) =>
    landings.flatMap((landing) => observed(context, receipt, landing) ?? []),
  );
}

/**
 * Reads the payments with a reference in a range of final blocks, as far as one call may reach, and finds those of
 * watched intents. Each one costs the look-up of its receipt, which tells where the money went.
 * @param expected the hash of the last block, as this node reported it before
 * @param recipients default: all
 */
export async function scan(
  context: Scan,
  from: bigint,
  to: bigint,
  expected: string,
  recipients: readonly Address[] = context.watch.recipients(),
): Promise<{ readonly end: Block; readonly observations: readonly Observation[] }> {
  const { node, network, window, receipts } = context;
  const { logs, end } = await window.read(node, wanted(context, recipients), from, to, expected);
  const logged = logs.flatMap((log) => {
    const landing = claimIn(log, network);
    return landing === null ? [] : [{ log, landing }];
  });
  await recallNamed(
    context,
    logged.map(({ landing }) => landing),
  );
  const hits = new Map<TransactionHash, string>();
  for (const { log, landing } of logged)
    if (named(context, landing.reference) !== undefined) hits.set(log.transactionHash, log.blockHash);
  const unknown = [...hits].flatMap(([hash, block]) => (receipts.get(hash)?.blockHash === block ? [] : [hash]));
  const found = new Map<TransactionHash, Receipt>();
  for (const part of partsOf(unknown, LOOKED_UP_AT_ONCE)) {
    const read = await node.batch(part.map((hash) => getReceipt(hash)));
    for (const [place, hash] of part.entries()) {
      const receipt = read[place] ?? null;
      if (receipt === null)
        throw new RpcUpstreamError(`${node.name} logs a transaction but has no receipt of it`, 'no');
      receipts.set(hash, receipt);
      found.set(hash, receipt);
    }
  }
  const observations = await observedIn(
    context,
    [...hits.keys()].flatMap((hash) => found.get(hash) ?? receipts.get(hash) ?? []),
  );
  return { end, observations };
}

/** Null without recipients: there is nothing to look for. Both events have the recipient in the same topic. */
function wanted({ network }: Scan, recipients: readonly Address[]): Wanted {
  if (recipients.length === 0) return null;
  return {
    address: [...network.tokens.map(({ address }) => address as string), GUARD],
    events: [TRANSFER_WITH_MEMO, TRANSFER_BLOCKED],
    recipients,
  };
}
