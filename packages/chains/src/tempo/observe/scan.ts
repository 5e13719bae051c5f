import type { Address, Observation, Reference, TransactionHash } from '@pf/domain';
import { type RpcNode, RpcUpstreamError } from '@pf/rpc';
import { type Block, getBlock, type Log, type Receipt } from '../../evm/calls.ts';
import { makeReady } from '../../evm/checksummed.ts';
import type { LogWindow, Wanted } from '../../evm/observe/log-window.ts';
import { Unreadable } from '../../evm/observe/read-each.ts';
import {
  byPlace,
  endingBefore,
  type Findings,
  notYetReread,
  type Reading,
  type Rereading,
  type Unjudged,
} from '../../evm/observe/reading.ts';
import { least } from '../../bigints.ts';
import { inPieces } from '../../parts.ts';
import type { WatchedIntent, WatchSet } from '../../port.ts';
import { byTurns } from '../../set-aside.ts';
import { callsInStep } from '../../step-share.ts';
import { isVirtual } from '../address.ts';
import { mppNameIn } from '../mpp.ts';
import { arrivalsOf, type Sighting } from './arrivals.ts';
import type { ProofBlocks } from './proof-blocks.ts';
import {
  addressIn,
  type Claim,
  claimIn,
  feeIn,
  GUARD,
  moveIn,
  type Payment,
  paymentsIn,
  TRANSFER,
  TRANSFER_BLOCKED,
  TRANSFER_WITH_MEMO,
} from './landings.ts';
import { type Found, isShown, RECEIPTS_KEPT, RECEIPTS_MAX_BYTES, receiptsOf, type Shown, sizeOf } from './receipts.ts';
import { type SecondShowing, type Verdict, verdictsOn } from './second-showing.ts';

/** Transactions whose receipts are read in one step; the others wait for the next. */
const LOOKED_MAX = 200;
/** With more transactions in a range it does not wait until all are read. So many receipts are kept meanwhile. */
const WAITED_MAX = RECEIPTS_KEPT / 2;
/** The same where the receipts that were read are longer than this together: more would push them out again. */
const WAITED_MAX_BYTES = RECEIPTS_MAX_BYTES / 2;
/** What pays no intent, of one second reading: the others wait for the next step. */
const SIGHTINGS_MAX = 1_000;

export interface Scan extends SecondShowing {
  readonly watch: WatchSet;
  readonly window: LogWindow;
  readonly proofBlocks: ProofBlocks;
  /** Those that could not be judged are looked at again by themselves (look-again.ts). */
  readonly aside: ReadonlySet<TransactionHash>;
  /** Takes what a reading by this upstream shows that pays no intent; absent where that is not asked for. */
  readonly noteSightings?: (by: RpcNode, all: readonly Sighting[]) => void;
}

/** The watched intent that a memo names, by its reference or as MPP's clients name it. */
function named({ watch }: Pick<Scan, 'watch'>, memo: Reference): WatchedIntent | undefined {
  const alias = mppNameIn(memo);
  return watch.byReference(memo) ?? (alias === null ? undefined : watch.byAlias(alias));
}

/** Makes known to the watch which intents these memos name. */
const recallNamed = ({ watch }: Pick<Scan, 'watch'>, memos: readonly Reference[]): Promise<void> =>
  watch.recall(memos.flatMap((memo) => [memo, mppNameIn(memo) ?? []].flat()));

/**
 * The observation of a payment; null where its reference is not watched, or it is worth nothing. Of a live submission
 * it is told all the same, as that must have an outcome.
 */
function observed(
  context: Pick<Scan, 'watch'>,
  receipt: Receipt,
  { transfer, said }: Payment,
  verdict: Verdict,
): Observation | null {
  const intent = named(context, transfer.reference);
  const hash = receipt.transactionHash;
  if (intent === undefined || (transfer.amount < said && transfer.amount === 0n && intent.submission?.hash !== hash))
    return null;
  const fee = feeIn(receipt);
  return {
    kind: 'observation',
    type: 'landed',
    intentId: intent.id,
    data: {
      hash,
      level: verdict === 'same' ? 'finalized' : 'confirmed',
      transfer: { ...transfer, reference: intent.terms.reference },
      ...(fee && { fee }),
    },
  };
}

interface Observed extends Findings<Observation> {
  /** Of these no second upstream was asked: there was no time for it. */
  readonly notAsked: ReadonlySet<TransactionHash>;
}

/**
 * The observations of watched intents in receipts. What a second upstream has shown too is confirmed and final; what
 * that does not have yet is confirmed. What it denies is not judged.
 */
export async function observedIn(context: Scan, all: readonly Shown[]): Promise<Observed> {
  const paid: { readonly shown: Shown; readonly payments: readonly Payment[] }[] = [];
  for (const shown of all) {
    await makeReady(shown.receipt);
    paid.push({ shown, payments: paymentsIn(shown.receipt, context.network) });
  }
  await recallNamed(
    context,
    paid.flatMap(({ payments }) => payments.map(({ transfer }) => transfer.reference)),
  );
  const told = paid.flatMap((one) => {
    const first = one.payments.find((payment) => observed(context, one.shown.receipt, payment, 'same') !== null);
    const intent = first && named(context, first.transfer.reference);
    return intent === undefined ? [] : [{ ...one, recipient: intent.terms.requestor }];
  });
  const verdicts = await verdictsOn(
    context,
    told.map(({ shown, recipient }) => ({ ...shown, recipient })),
  );
  const found: Observation[] = [];
  const unjudged: Unjudged[] = [];
  const notAsked = new Set<TransactionHash>();
  for (const { shown, payments } of told) {
    const { transactionHash: hash, blockNumber } = shown.receipt;
    if (!verdicts.has(hash)) notAsked.add(hash);
    const verdict = verdicts.get(hash) ?? 'awaited';
    const [first] = payments;
    if (verdict !== 'denied')
      found.push(...payments.flatMap((one) => observed(context, shown.receipt, one, verdict) ?? []));
    else if (first !== undefined)
      unjudged.push({
        hash,
        place: blockNumber,
        reason: `${shown.by} shows it in a block in which another upstream does not have it`,
        recipient: first.transfer.to,
        payer: first.transfer.from,
        amount: first.transfer.amount,
      });
  }
  return { found, unjudged, notAsked };
}

/** A transaction that logs a payment to a watched intent. */
interface Hit {
  readonly hash: TransactionHash;
  readonly log: Log;
  readonly recipient: Address;
  readonly payer?: Address;
  readonly amount: bigint;
}

const hitOf = ({ log, to, from, amount }: Claim): Hit => ({
  hash: log.transactionHash,
  log,
  // The guard names whom it was for.
  recipient: addressIn(log.topics[2]) ?? to,
  ...(from !== null && { payer: from }),
  amount,
});

/** Why the receipt of a hit cannot be judged; null where it can. */
function problemOf({ log }: Hit, found: Found): string | null {
  if (found === null) return 'an upstream logs a payment of it, and none has its receipt';
  if (found instanceof Unreadable) return found.reason;
  return found.receipt.blockHash === log.blockHash ? null : 'its receipt is of another block than its log';
}

const unjudgedOf = ({ hash, log, recipient, payer, amount }: Hit, reason: string): Unjudged => ({
  hash,
  place: log.blockNumber,
  reason,
  recipient,
  payer,
  amount,
});

/**
 * Reads the payments with a reference in a range of final blocks, as far as one call may reach, and finds those of
 * watched intents. Each one costs the look-up of its receipt, which tells what it was worth. Transactions of strangers
 * are read by turns of their recipients; one that cannot be judged costs no other. Where there are a few more than a
 * step can read, the range ends before the first that is left. Where there are many more, the range is passed: the
 * first that are left are set aside by turns, and all of them are for the second reading (scanAgain).
 * @param expected the hash of the last block, as this node reported it before
 * @param some these recipients only: an early look, which tells of payments alone. Default: all
 */
export async function scan(
  context: Scan,
  from: bigint,
  to: bigint,
  expected: string | null,
  some?: readonly Address[],
): Promise<Reading<Observation>> {
  const { hits, sightings, end } = await hitsIn(context, from, to, expected, some ?? context.watch.recipients());
  if (some === undefined) context.noteSightings?.(context.node, sightings);
  const { left, bytes, ...findings } = await judge(context, hits, (unread) =>
    byTurns(
      context.watch,
      unread.filter(({ hash }) => !context.aside.has(hash)),
    ),
  );
  if (left.length === 0) return { end, ...findings };
  if (hits.length <= WAITED_MAX && bytes <= WAITED_MAX_BYTES)
    return { end: await blockBefore(context, left.map(({ log }) => log.blockNumber).reduce(least)), ...findings };
  const aside = left.slice(0, LOOKED_MAX).map((hit) => unjudgedOf(hit, 'more was paid at once than a step can read'));
  return { end, found: findings.found, unjudged: [...findings.unjudged, ...aside] };
}

/**
 * Reads a range once more, in the order of the chain, and leaves out nothing: where there is more than a step can read,
 * it ends within a block.
 * @param after the logs of the first block up to this index were read
 */
export async function scanAgain(
  context: Scan,
  from: bigint,
  to: bigint,
  expected: string | null,
  after: bigint,
): Promise<Rereading<Observation>> {
  const { hits, sightings, end } = await hitsIn(context, from, to, expected, context.watch.recipients());
  const open = notYetReread(hits, ({ log }) => log, from, after);
  const arrived = notYetReread(sightings, ({ log }) => log, from, after);
  context.noteSightings?.(context.node, arrived.slice(0, SIGHTINGS_MAX));
  const { left, bytes: _bytes, ...findings } = await judge(context, open, (unread) => unread);
  const [first] = [...left.slice(0, 1), ...arrived.slice(SIGHTINGS_MAX, SIGHTINGS_MAX + 1)]
    .map(({ log }) => log)
    .sort(byPlace);
  if (first === undefined) return { end, ...findings };
  return { ...endingBefore(first), ...findings };
}

/** The transactions that log a payment to a watched intent, and what pays none. */
async function hitsIn(
  context: Scan,
  from: bigint,
  to: bigint,
  expected: string | null,
  recipients: readonly Address[],
): Promise<{ readonly hits: readonly Hit[]; readonly sightings: readonly Sighting[]; readonly end: Block }> {
  const { node, network, window } = context;
  const { logs, end } = await window.read(node, wanted(context, recipients), from, to, expected);
  const claims = await inPieces(logs, (log) => [claimIn(log, network) ?? []].flat());
  const moves = await inPieces(logs, (log) => [moveIn(log) ?? []].flat());
  await recallNamed(
    context,
    claims.map(({ reference }) => reference),
  );
  const hits = new Map(
    claims
      .filter(({ reference }) => named(context, reference) !== undefined)
      .map((one) => [one.log.transactionHash, hitOf(one)]),
  );
  const arrivals = arrivalsOf({ moves, claims }, network, (memo) => named(context, memo) !== undefined);
  const sightings = arrivals.filter(({ arrival }) => context.watch.hasRecipient(arrival.to));
  return { hits: [...hits.values()], sightings, end };
}

/**
 * What the receipts of these transactions tell, as far as a step can read them: the others are left.
 * @param order which of those whose receipts are not known are read, and in which order
 * @returns also what is left, and about how many bytes the receipts take
 */
async function judge(
  context: Scan,
  hits: readonly Hit[],
  order: (unread: readonly Hit[]) => readonly Hit[],
): Promise<Findings<Observation> & { readonly left: readonly Hit[]; readonly bytes: number }> {
  const { node, receipts } = context;
  // Before others are read: those may take their room.
  const known = new Map(
    hits.flatMap(({ hash, log }): [TransactionHash, Shown][] => {
      const shown = receipts.get(hash);
      return shown?.receipt.blockHash === log.blockHash ? [[hash, shown]] : [];
    }),
  );
  const unread = order(hits.filter(({ hash }) => !known.has(hash)));
  const most = Math.min(LOOKED_MAX, callsInStep(node, 'eth_getTransactionReceipt'));
  const read = await receiptsOf(
    context,
    unread.slice(0, most).map(({ hash }) => hash),
  );
  const unjudged: Unjudged[] = [];
  for (const hit of unread) {
    const found = read.get(hit.hash);
    const reason = found === undefined ? null : problemOf(hit, found);
    if (reason !== null) unjudged.push(unjudgedOf(hit, reason));
    else if (isShown(found)) known.set(hit.hash, found);
  }
  const findings = await observedIn(context, [...known.values()]);
  return {
    found: findings.found,
    unjudged: [...unjudged, ...findings.unjudged],
    left: unread.filter(({ hash }) => !read.has(hash)),
    bytes: [...known.values()].reduce((sum, shown) => sum + sizeOf(shown), 0),
  };
}

async function blockBefore({ node }: Pick<Scan, 'node'>, number: bigint): Promise<Reading<never>['end']> {
  const block = await node.call(getBlock(number - 1n));
  if (block === null) throw new RpcUpstreamError(`${node.name} lacks blocks below its head`, 'no');
  return block;
}

/**
 * Null without recipients: there is nothing to look for. All events have the recipient in the same topic. What a
 * virtual address is paid is forwarded by its next Transfer, or given to the guard, which only that tells.
 */
function wanted({ network, watch }: Scan, recipients: readonly Address[]): Wanted {
  if (recipients.length === 0) return null;
  const payments = [TRANSFER_WITH_MEMO, TRANSFER_BLOCKED];
  return {
    address: [...network.tokens.map(({ address }) => address as string), GUARD],
    events: watch.hasDeposits ? [...payments, TRANSFER] : payments,
    recipients: watch.hasDeposits && recipients.some(isVirtual) ? [...recipients, GUARD] : recipients,
  };
}
