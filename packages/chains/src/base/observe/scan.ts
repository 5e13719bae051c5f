import { type Address, isAuthorization, type TransactionHash } from '@pf/domain';
import { RpcUpstreamError } from '@pf/rpc';
import type { Block, CallingTransaction, Log, Logged } from '../../evm/calls.ts';
import type { Wanted } from '../../evm/observe/log-window.ts';
import { NOT_IN_TIME } from '../../late-reads.ts';
import {
  byPlace,
  endingBefore,
  type Findings,
  notYetReread,
  type Reading,
  type Rereading,
  type Unjudged,
} from '../../evm/observe/reading.ts';
import { inPieces, partsOf } from '../../parts.ts';
import type { WatchedIntent } from '../../port.ts';
import { keptParties, type Parties } from '../../set-aside.ts';
import { callsInStep } from '../../step-share.ts';
import type { Explanation } from '../nested/explain.ts';
import { firstByOwners } from './by-owners.ts';
import type { Judging, Scan } from './context.ts';
import { landed, type LoggedTransfer, partyOf, readTransfer, recorded, TRANSFER } from './landings.ts';
import { NO_REFERENCE } from './no-reference.ts';
import type { NestedPayment, TransactionSummary } from './memory.ts';
import { judgeNested } from './nested-payments.ts';
import type { Seen } from './position.ts';
import type { Nested } from './receipts.ts';
import type { Sighting } from './sighting.ts';
import { sightingOf } from './sightings.ts';
import { NOT_FOUND, readTransactions } from './transactions.ts';

/** Transactions that are looked up at a time, in one reading, and ms after which no more are. The others wait. */
const LOOKED_UP_AT_ONCE = 20;
const LOOKED_UP_MAX = 500;
const LOOK_UP_MS = 2_000;
/** The same where some of them were not returned in time. */
const LATE_LOOK_UP_MS = 500;

/**
 * Reads the transfers of a range of blocks, as far as one call may reach, and finds those that carry the reference of a
 * watched intent. Anyone can make transfers, and each costs a look-up of its transaction: where there are more than a
 * step can look up, they are looked up by turns. The first that are left are set aside, and all of them are for the
 * second reading (scanAgain).
 * @param expected the hash of the last block, as this node reported it before
 * @param recipients default: all
 */
export async function scan(
  context: Scan,
  from: bigint,
  to: bigint,
  expected: string | null,
  recipients: readonly Address[] = context.watch.recipients(),
): Promise<Reading<Seen>> {
  const { hits, end } = await hitsIn(context, from, to, expected, recipients);
  const { left, ...findings } = await judge(context, hits, {
    order: (all) => firstByOwners(context.watch, all, 2 * LOOKED_UP_MAX),
    most: lookUpsIn(context),
  });
  const aside = left.slice(0, LOOKED_UP_MAX).map((one) => waiting(one, 'too much was paid at once'));
  return { end, found: findings.found, unjudged: [...findings.unjudged, ...aside] };
}

/**
 * Reads a range once more, in the order of the chain, and leaves out nothing: where there is more than a step can look
 * up, or than there is room for, it ends within a block.
 * @param after the logs of the first block up to this index were read
 */
export async function scanAgain(
  context: Scan,
  from: bigint,
  to: bigint,
  expected: string | null,
  after: bigint,
): Promise<Rereading<Seen>> {
  const { hits, end } = await hitsIn(context, from, to, expected, context.watch.recipients());
  const open = notYetReread(hits, ({ transfer }) => transfer.log, from, after);
  const arrived: Sighting[] = [];
  const { left, ...findings } = await judge({ ...context, noteSighting: (one) => arrived.push(one) }, open, {
    order: (all) => all,
    most: lookUpsIn(context),
  });
  const withoutRoom = arrived.find((one) => context.takeSighting?.(one) === false);
  const [first] = [
    ...left.slice(0, 1).map(({ transfer: { log } }) => log),
    ...(withoutRoom ? [{ blockNumber: withoutRoom.block, logIndex: BigInt(withoutRoom.index) }] : []),
  ].sort(byPlace);
  if (first === undefined) return { end, ...findings };
  return { ...endingBefore(first), ...findings };
}

const lookUpsIn = ({ node }: Scan): number => Math.min(LOOKED_UP_MAX, callsInStep(node, 'eth_getTransactionByHash'));

async function hitsIn(
  context: Scan,
  from: bigint,
  to: bigint,
  expected: string | null,
  recipients: readonly Address[],
): Promise<{ readonly hits: Hit[]; readonly end: Block }> {
  const { node, memory } = context;
  const { logs, end } = await memory.logs.read(node, wanted(context, recipients), from, to, expected);
  const read = readerOf(context);
  return { hits: await inPieces(logs, (log) => read(log).map((transfer) => ({ transfer }))), end };
}

/** Null without recipients: there is nothing to look for. */
function wanted({ network }: Scan, recipients: readonly Address[]): Wanted {
  if (recipients.length === 0) return null;
  return { address: network.tokens.map(({ address }) => address), events: [TRANSFER], recipients };
}

/** The transfers of our tokens to watched recipients. */
export const transfersIn = (context: Judging, logs: readonly Log[]): readonly LoggedTransfer[] =>
  logs.flatMap(readerOf(context));

/** Reads a log: nothing where it is no such transfer. */
function readerOf({ network, watch }: Judging): (log: Log) => readonly LoggedTransfer[] {
  const ours = new Set<string>(network.tokens.map(({ address }) => address));
  return (log) => {
    const transfer = ours.has(log.address) ? readTransfer(log) : null;
    return transfer !== null && watch.hasRecipient(transfer.to) ? [transfer] : [];
  };
}

/** A transfer to a watched recipient, and the receipt of its transaction, where that was read. */
export interface Hit {
  readonly transfer: LoggedTransfer;
  readonly receipt?: Logged;
  /** The same of the transaction itself, with the upstream that was asked. */
  readonly sent?: { readonly transaction: CallingTransaction; readonly by: string };
  /** What its trace tells, where that was read. */
  readonly traced?: Explanation;
}

/**
 * Transactions that are not known yet: those to begin with, of which the last ones may be missing, and how many are
 * looked up now.
 */
interface LookUps {
  readonly order: (unknown: readonly Unknown[]) => readonly Unknown[] | Promise<readonly Unknown[]>;
  readonly most: number;
}
const ALL: LookUps = { order: (unknown) => unknown, most: Number.POSITIVE_INFINITY };

interface Judgement extends Findings<Seen> {
  /** Those that were not looked up, in their order. */
  readonly left: readonly Unknown[];
}

/** Judges which of these transfers pay watched intents. Each costs one look-up of its transaction, once. */
export async function judge(context: Judging, hits: readonly Hit[], lookUps = ALL): Promise<Judgement> {
  const { watch, memory, now } = context;
  const { nested, unread, left } = await lookUp(context, hits, lookUps);
  const { partly, unjudged } = await judgeNested(context, nested);
  const paymentBy = ({ log, from, to, amount }: LoggedTransfer): NestedPayment | null => {
    const { address, blockHash, logIndex, transactionHash: hash } = log;
    const summary = memory.look(hash);
    if (summary === undefined) return null;
    if (!isDirect(summary, log)) return (memory.nested(hash, blockHash) ?? partly.get(hash))?.get(logIndex) ?? null;
    const { payment } = summary;
    // A call of the token by its sender makes one transfer, and nothing else moved.
    if (payment === null || summary.to !== address || summary.from !== from || payment.to !== to) return null;
    return { reference: payment.reference, isProven: true, isAuthorized: false, worth: from === to ? 0n : amount };
  };
  /** Whether all that its transaction may pay is known. */
  const isJudged = ({ log }: LoggedTransfer): boolean => {
    const summary = memory.look(log.transactionHash);
    return (
      summary !== undefined &&
      (isDirect(summary, log) || memory.nested(log.transactionHash, log.blockHash) !== undefined)
    );
  };
  const payments = hits.flatMap(({ transfer }) => {
    const payment = paymentBy(transfer);
    return payment === null ? [] : [{ transfer, payment }];
  });
  await watch.recall(payments.flatMap(({ payment: { reference, mistakenFor = [] } }) => [reference, ...mistakenFor]));
  for (const one of payments) disprove(context, one.transfer, one.payment);
  const found = payments.flatMap(({ transfer, payment }): Seen[] => {
    const { reference, isProven, worth } = payment;
    const intent = watch.byReference(reference);
    const isLive = intent?.submission?.hash === transfer.log.transactionHash;
    // A live submission was verified. Its receipt is read until it can be explained again.
    if (intent === undefined || (!isProven && isLive)) return [];
    if (!isProven && isSettledBy(intent, transfer)) return [];
    const failed = failedBy(intent, transfer, payment, now);
    // What it brought was taken away again in the same transaction.
    if (worth === 0n && transfer.amount > 0n && !isLive && failed.length === 0) return [];
    return [landed(intent.id, transfer, { reference: isProven ? reference : NO_REFERENCE, worth }, now), ...failed];
  });
  if (context.noteSighting !== undefined) {
    const paying = new Map(payments.map(({ transfer, payment }) => [transfer, payment]));
    for (const { transfer } of hits) {
      const reference = paying.get(transfer)?.reference ?? null;
      const isOfIntent = reference !== null && watch.byReference(reference) !== undefined;
      if (!isOfIntent && isArrival(transfer) && isJudged(transfer))
        context.noteSighting(sightingOf(transfer, reference, now));
    }
  }
  return { found, unjudged: [...unread, ...unjudged], left };
}

/** Says of which intents a transfer is no payment, where it may have been reported for them. */
function disprove(
  { watch, noteDisproved }: Judging,
  transfer: LoggedTransfer,
  { reference, worth, mistakenFor = [] }: NestedPayment,
): void {
  for (const other of mistakenFor) {
    const intent = watch.byReference(other);
    if (intent === undefined) continue;
    const data = { hash: transfer.log.transactionHash, transfer: recorded(transfer, reference, worth) };
    const isSettled = isSettledBy(intent, transfer) && intent.settlement?.lost === false;
    noteDisproved?.({ intentId: intent.id, data }, isSettled);
  }
}

/**
 * The failure of an intent whose live authorization has made this transfer, where that is not its payment: the money
 * has left the recipient again in the same transaction, for example. The nonce is used, so that nothing else ends it,
 * and the money has moved: it was not dropped.
 */
function failedBy(
  { id, submission }: WatchedIntent,
  { log, from, to, amount }: LoggedTransfer,
  { isAuthorized, worth }: NestedPayment,
  now: number,
): readonly Seen[] {
  if (!isAuthorized || submission === null || !isAuthorization(submission) || submission.sender !== from) return [];
  const { terms, hash } = submission;
  const isPaid =
    to === terms.requestor && worth === terms.amount && (log.address as string) === (terms.tokenAddress as string);
  if (isPaid) return [];
  const { transactionHash, blockNumber: block, blockHash } = log;
  const reason =
    `the authorization was used in transaction ${transactionHash}, which moved ${amount} base units of ` +
    `${log.address} to ${to}: ${worth} of them stayed there`;
  return [{ kind: 'reverted', intentId: id, hash, block, blockHash, reason, seenAt: now }];
}

/** Something has come from elsewhere. Anyone can have a token log that nothing was transferred. */
const isArrival = ({ from, to, amount }: LoggedTransfer): boolean => from !== to && amount > 0n;

/** True for the very transfer that the ledger has as the intent's settlement: it was proven before. */
const isSettledBy = ({ settlement }: WatchedIntent, { log }: LoggedTransfer): boolean =>
  settlement?.hash === log.transactionHash && settlement.transfer.index === log.logIndex.toString();

/** True where the transaction's own calldata says what this transfer of the token is for. */
const isDirect = ({ to, isAuthorized }: TransactionSummary, { address }: Log): boolean =>
  to === address && !isAuthorized;

/** A transaction that has not been looked up, by its first transfer to a watched recipient. */
interface Unknown extends Parties {
  readonly hash: TransactionHash;
  readonly transfer: LoggedTransfer;
}

/** Learns what the transactions of these transfers call: the token itself, or a contract that calls it. */
async function lookUp(
  context: Judging,
  hits: readonly Hit[],
  { order, most }: LookUps,
): Promise<{
  readonly nested: readonly Nested[];
  readonly unread: readonly Unjudged[];
  readonly left: readonly Unknown[];
}> {
  const { memory, node, watch } = context;
  const byHash = Map.groupBy(hits, ({ transfer }) => transfer.log.transactionHash);
  const isKnown = (hash: TransactionHash, ofOne: readonly Hit[]): boolean => {
    const summary = memory.look(hash);
    return (
      summary !== undefined &&
      ofOne.every(({ transfer: { log } }) =>
        // What one upstream has shown is no reason for a second reading by another one to believe it.
        isDirect(summary, log) ? summary.shownBy === node.name : memory.nested(hash, log.blockHash) !== undefined,
      )
    );
  };
  const unknown = await order(
    await inPieces([...byHash], ([hash, ofOne]) =>
      isKnown(hash, ofOne)
        ? []
        : ofOne.slice(0, 1).map(({ transfer }) => ({
            hash,
            transfer,
            ...keptParties(
              watch,
              ofOne.map((hit) => partyOf(hit.transfer)),
            ),
          })),
    ),
  );
  const nested: Nested[] = [];
  const unread: Unjudged[] = [];
  const began = performance.now();
  let looked = 0;
  let calls = 0;
  let isAnyLate = false;
  // In parts, each remembered: on a slow plan a step that has no time for all goes on where the last one ended.
  for (const part of partsOf(unknown.slice(0, most), LOOKED_UP_AT_ONCE)) {
    const isOver = performance.now() - began > (isAnyLate ? LATE_LOOK_UP_MS : LOOK_UP_MS);
    if (looked > 0 && (isOver || calls >= most)) break;
    looked += part.length;
    const sentOf = ({ hash }: Unknown) => byHash.get(hash)?.[0]?.sent;
    const asked = part.filter((one) => sentOf(one) === undefined).map(({ hash }) => hash);
    const read = await readTransactions(context, asked);
    const found = new Map(asked.map((hash, place) => [hash, read[place] ?? NOT_FOUND]));
    const areLate = read.includes(NOT_IN_TIME);
    isAnyLate ||= areLate;
    // What is late was asked for twice.
    calls += areLate ? 2 * asked.length : asked.length;
    for (const one of part) {
      const ofOne = byHash.get(one.hash) ?? [];
      const sent = sentOf(one);
      const transaction = sent?.transaction ?? found.get(one.hash) ?? NOT_FOUND;
      if (typeof transaction === 'string') {
        if (transaction === NOT_IN_TIME) context.late?.begin(one.hash, one.transfer.log.blockNumber);
        unread.push(waiting(one, transaction));
        continue;
      }
      const summary = memory.remember(transaction, sent?.by ?? node.name);
      const transfers = ofOne.map(({ transfer }) => transfer);
      const { receipt, traced } = ofOne[0] ?? {};
      if (transfers.some(({ log }) => !isDirect(summary, log)))
        nested.push({ transaction, transfers, ...(receipt && { receipt }), ...(traced && { traced }) });
    }
  }
  // Where none is shown of all that were logged, the upstreams are at fault: setting all aside could be too much.
  const isLogged = hits.every(({ receipt }) => receipt === undefined);
  const areSomeLate = unread.some(({ reason }) => reason === NOT_IN_TIME);
  if (isLogged && !areSomeLate && unread.length > 1 && unread.length === looked)
    throw new RpcUpstreamError(`${node.name} shows none of ${unread.length} transactions that it logs`, 'no');
  return { nested, unread, left: unknown.slice(looked) };
}

const waiting = ({ transfer, ...one }: Unknown, reason: string): Unjudged => ({
  ...one,
  place: transfer.log.blockNumber,
  reason,
});
