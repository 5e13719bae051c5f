import {
  type Address,
  type IntentId,
  isAuthorization,
  type Observation,
  type PaymentTerms,
  type TransactionHash,
} from '@pf/domain';
import { type RpcNode, RpcUpstreamError, soon } from '@pf/rpc';
import {
  type Block,
  type CallingTransaction,
  getCalling,
  getReceipt,
  getTransactionCount,
  type Receipt,
} from '../../evm/calls.ts';
import { hashesOf } from '../../evm/observe/checkpoints.ts';
import type { Absences } from '../../evm/observe/absence.ts';
import { LATE, readEach, readSoon, Unreadable } from '../../evm/observe/read-each.ts';
import type { Unjudged } from '../../evm/observe/reading.ts';
import { keptLogsOf } from '../nested/kept-logs.ts';
import { callsInStep } from '../../step-share.ts';
import type { Step, WatchSet } from '../../port.ts';
import { finalRevert, ignoresReverts } from '../../final-revert.ts';
import { decodeSigned, SENT_TYPES, type Signer } from '../signed-transaction.ts';
import type { Whole } from './late.ts';
import type { Seen } from './position.ts';
import { isDirect, readReceipt } from './receipt.ts';
import { NO_RECEIPT } from './receipts.ts';
import { Room } from './room.ts';
import type { Scan } from './context.ts';

/** A transaction whose outcome is not known: it can still land, or landed and was orphaned. */
export interface PendingOutcome {
  readonly intentId: IntentId;
  readonly hash: TransactionHash;
  readonly sender: Address;
  /** Null where it has landed before: sender and nonce are read from the transaction. */
  readonly nonce: bigint | null;
  readonly terms: PaymentTerms;
  /** When it could first be on chain. */
  readonly since: number;
  /** Its revert would change nothing for the intent, but end the submission. */
  readonly ignoresRevert: boolean;
}

/** At most this many receipts in one step; the others wait for the next. */
const RECEIPTS_MAX = 100;

/** Live submissions, and settlements that a reorg has orphaned. */
function* open(watch: WatchSet, now: number): Generator<PendingOutcome> {
  for (const { id, status, terms, submission } of watch.submitted()) {
    // No transaction has its hash: whoever sends an authorization makes one (lapsed.ts).
    if (isAuthorization(submission)) continue;
    yield {
      intentId: id,
      hash: submission.hash,
      sender: submission.sender,
      nonce: submission.nonce === null ? null : BigInt(submission.nonce),
      terms,
      since: submission.preparedAt,
      ignoresRevert: ignoresReverts(status),
    };
  }
  for (const { id, terms, settlement } of watch.settling()) {
    if (settlement.lost)
      yield {
        intentId: id,
        hash: settlement.hash,
        sender: settlement.transfer.from,
        nonce: null,
        terms,
        since: now,
        ignoresRevert: false,
      };
  }
}

/**
 * The pending outcomes whose receipt is due. A success is usually found by its log; receipts are for what leaves none.
 */
export function duePendingOutcomes({ node, watch, memory, now }: Scan): readonly PendingOutcome[] {
  const most = Math.min(RECEIPTS_MAX, callsInStep(node, 'eth_getTransactionReceipt'));
  const pendingOutcomes = [...open(watch, now)];
  memory.receipts.keep(new Set(pendingOutcomes.map(({ hash }) => hash)));
  return pendingOutcomes.filter(({ hash }) => memory.receipts.isDue(hash, now)).slice(0, most);
}

/** A reverted submission whose intent no longer waits for it, and its block. */
interface IgnoredRevert {
  readonly pending: PendingOutcome;
  readonly block: bigint;
  readonly blockHash: string;
}

export interface Receipts {
  readonly seen: readonly Seen[];
  readonly ignoredReverts: readonly IgnoredRevert[];
  /** Neither this node nor the second opinion has a receipt of these. */
  readonly missing: readonly PendingOutcome[];
  readonly warnings: readonly string[];
}

/**
 * Reads the receipts of the transactions that are in a block. One that cannot be read is asked for again later; one
 * whose trace a step has no room for, in the next step. Anyone can submit dozens that are slow to trace.
 */
export async function readPendingOutcomes(
  context: Scan,
  pendingOutcomes: readonly PendingOutcome[],
): Promise<Receipts> {
  const { memory, now } = context;
  // What strangers pay never takes the room of what was submitted.
  memory.room = new Room(memory.room, OUTCOMES_TRACED);
  const { late } = context;
  const isLate = (hash: TransactionHash): boolean => late?.reads.isKnown(hash) === true;
  const asked = pendingOutcomes.map(({ hash }) => hash).filter((hash) => !late?.come.has(hash) && !isLate(hash));
  const read = await withSecondOpinions(context, asked);
  const receipts = new Map(asked.map((hash, place) => [hash, read[place]]));
  const seen: Seen[] = [];
  const ignoredReverts: IgnoredRevert[] = [];
  const missing: PendingOutcome[] = [];
  const warnings: string[] = [];
  for (const pending of pendingOutcomes) {
    const { hash } = pending;
    const whole = late?.come.get(hash);
    const receipt = whole === undefined ? receipts.get(hash) : saidOf(whole.receipt);
    // What is read beside the steps is due until it has come.
    if (receipt === undefined || receipt === LATE) {
      if (receipt === LATE) warnings.push(unreadText(hash, LATE));
      if (receipt === LATE || isLate(hash)) late?.begin(hash, null);
      continue;
    }
    if (receipt === null) {
      missing.push(pending);
      // An upstream takes long to say that it lacks it.
      if (whole !== undefined) late?.reads.note(hash);
    } else if (receipt instanceof Unreadable) warnings.push(unreadText(hash, receipt));
    else if (receipt.status === 0n && pending.ignoresRevert)
      ignoredReverts.push({ pending, block: receipt.blockNumber, blockHash: receipt.blockHash });
    else if (needsTrace(whole, receipt) && !isDirect(receipt, pending.terms) && !memory.room.takeTrace()) continue;
    else {
      const isKnownLate = isLate(hash);
      seen.push(...(await readReceipt(context, pending, receipt, whole)));
      if (!isKnownLate && isLate(hash)) continue;
    }
    memory.receipts.asked(hash, pending.since, now);
  }
  return { seen, ignoredReverts, missing, warnings };
}

/** Not what has failed, nor what was read beside the steps with its trace. */
const needsTrace = (whole: Whole | undefined, { status }: Receipt): boolean =>
  whole?.traced === undefined && status !== 0n;

const unreadText = (hash: TransactionHash, { reason }: Unreadable): string =>
  `the receipt of ${hash}, which was submitted, cannot be read: ${reason}`;

/** A receipt that was read beside the steps, as it would have been read in one. */
const saidOf = (receipt: Receipt | string): Receipt | Unreadable | null =>
  typeof receipt !== 'string' ? receipt : receipt === NO_RECEIPT ? null : new Unreadable(receipt);

/** Of what was submitted, however long those of strangers have taken. They are traced one after the other. */
const OUTCOMES_TRACED = 2;
/** How often a request for receipts that are too long together is halved. */
const SPLITS = 7;
/**
 * From this node and, what it does not have, from another one: that one knows of no receipt proves nothing. For what is
 * late nothing waits, and no other one is asked.
 */
async function withSecondOpinions(
  { node, pool, network, late }: Scan,
  hashes: readonly TransactionHash[],
): Promise<readonly (Receipt | Unreadable | null | undefined)[]> {
  const read = (by: RpcNode, some: readonly TransactionHash[]) => {
    const calls = some.map((hash) => getReceipt(hash, keptLogsOf(network)));
    return late === undefined ? readEach(by, calls, SPLITS) : readSoon(by, calls, SPLITS);
  };
  const first = await read(node, hashes);
  const isRead = (one: Receipt | Unreadable | null | undefined): one is Receipt =>
    one !== undefined && one !== null && !(one instanceof Unreadable);
  const lacking = hashes.filter((_hash, place) => {
    const one = first[place];
    return one !== undefined && one !== LATE && !isRead(one);
  });
  const others = lacking.length === 0 ? null : await pool.onAnother(node, (other) => read(other, lacking));
  const second = new Map(others?.map((one, place) => [lacking[place], one]));
  return hashes.map((hash, place) => {
    const [one, other] = [first[place], second.get(hash)];
    // What the other one has not returned in time it may have.
    return isRead(one) || !(isRead(other) || other === LATE) ? one : other;
  });
}

/**
 * The ignored reverts in final blocks: a receipt may be of a block that was replaced, which another upstream still has.
 * Asks for those blocks alone.
 */
export async function findFinalReverts(
  { node }: Pick<Scan, 'node'>,
  reverted: readonly IgnoredRevert[],
  finalized: bigint,
): Promise<readonly Observation[]> {
  const due = reverted.filter(({ block }) => block <= finalized);
  const hashes = await hashesOf(
    node,
    due.map(({ block }) => block),
  );
  return due
    .filter(({ block, blockHash }) => hashes.get(block) === blockHash)
    .map(({ pending: { intentId, hash }, block }) => finalRevert(intentId, hash, `block ${block}`));
}

/**
 * The transactions without a receipt that provably never land: at a safe block, up to which all logs were read, the
 * account's nonce is past theirs, and still no upstream that responds has a receipt. That a node does not know them
 * proves nothing. Warns where the nonces at that block cannot be read.
 * @param waiting intents of which something was seen that is not reported yet
 * @param unread transactions that could not be judged: they have logged something, whatever upstreams still have of it
 */
export async function findDropped(
  context: Scan,
  absences: Absences,
  sentBy: SentBy,
  missing: readonly PendingOutcome[],
  safe: Block,
  rescanned: bigint,
  waiting: ReadonlySet<IntentId>,
  unread: readonly Pick<Unjudged, 'hash'>[],
): Promise<Pick<Step, 'observations' | 'warnings'>> {
  const aside = new Set(unread.map(({ hash }) => hash));
  const beside = await standing(context, absences.collect());
  const late = beside.size === 0 ? [] : [...open(context.watch, context.now)].filter(({ hash }) => beside.has(hash));
  const dead = [...missing.filter(({ hash }) => !beside.has(hash)), ...late].filter(
    ({ hash, intentId }) => !aside.has(hash) && !waiting.has(intentId),
  );
  if (dead.length === 0 || rescanned < safe.number) return { observations: [], warnings: [] };
  const known = await withNonces(context, sentBy, dead);
  const counts = await countsAt(
    context,
    known.map(({ sender }) => sender),
    safe.number,
  );
  if (counts === null) return { observations: [], warnings: [WITHOUT_STATE] };
  const used = known.flatMap((pending, place) => {
    const count = counts[place];
    const recipient = pending.terms.requestor;
    return count === undefined || count <= pending.nonce ? [] : [{ ...pending, recipient, count, at: safe }];
  });
  const absent = await absences.prove(
    used.filter(({ hash }) => !beside.has(hash)),
    (hash) => context.late?.reads.isKnown(hash) === true,
  );
  const observations = used
    .filter(({ hash }) => absent.has(hash) || beside.has(hash))
    .map(({ intentId, hash, nonce, sender, count }): Observation => {
      const proof =
        `another transaction used nonce ${nonce} of ${sender}: the account's transaction count is ` +
        `${count} at the safe block ${safe.number}, up to which every transfer was read, ` +
        `and this transaction has no receipt`;
      return { kind: 'observation', type: 'dropped', intentId, data: { hash, proof } };
    });
  return { observations, warnings: [] };
}

/** Those that were proven absent at a block which the chain still has. */
async function standing(
  { node }: Pick<Scan, 'node'>,
  absent: ReadonlyMap<TransactionHash, Block>,
): Promise<ReadonlySet<TransactionHash>> {
  const hashes = await hashesOf(
    node,
    [...absent.values()].map(({ number }) => number),
  );
  return new Set([...absent].flatMap(([hash, at]) => (hashes.get(at.number) === at.hash ? [hash] : [])));
}

/** Repeated in each step as it is, so that it is logged once. */
const WITHOUT_STATE =
  "accounts' transaction counts at the safe block could not be read: whether payments were dropped is not known";

/** The next nonces at this block. Null where neither this node nor another has that state: that proves nothing. */
async function countsAt(
  { node, pool }: Scan,
  senders: readonly Address[],
  block: bigint,
): Promise<readonly bigint[] | null> {
  const read = (by: RpcNode): Promise<readonly bigint[]> =>
    by.batch(senders.map((sender) => getTransactionCount(sender, block)));
  try {
    return await read(node);
  } catch (error) {
    if (!(error instanceof RpcUpstreamError)) throw error;
    return pool.onAnother(node, read);
  }
}

/**
 * Adds the nonces of transactions that had landed: from memory, from a node that still has them, or from the stored
 * bytes. Others stay pending. A smart account's payment has the nonce of whoever sent the transaction, its bundler.
 */
async function withNonces(
  { node, memory }: Scan,
  sentBy: SentBy,
  pendingOutcomes: readonly PendingOutcome[],
): Promise<(PendingOutcome & { readonly nonce: bigint })[]> {
  const found = await Promise.all(
    pendingOutcomes.map(async (pending) => {
      if (pending.nonce !== null) return [{ ...pending, nonce: pending.nonce }];
      const sent = memory.look(pending.hash) ?? (await readCalling(node, pending.hash)) ?? (await sentBy(pending.hash));
      return sent === null ? [] : [{ ...pending, sender: sent.from, nonce: sent.nonce }];
    }),
  );
  return found.flat();
}

/** Null also where it cannot be read: a payer may submit the hash of any transaction. */
async function readCalling(node: RpcNode, hash: TransactionHash): Promise<CallingTransaction | null> {
  const [found = null] = await readEach(node, [soon(getCalling(hash))]);
  return found instanceof Unreadable ? null : found;
}

/** Who sent a transaction whose bytes are stored; null where they are not. */
export type SentBy = (hash: TransactionHash) => Promise<Sent | null>;
interface Sent {
  readonly from: Address;
  readonly nonce: bigint;
}

/** Null for an unknown transaction type. */
export function senderIn(bytes: Uint8Array, signer: Signer): Sent | null {
  const decoded = decodeSigned(bytes, SENT_TYPES);
  const from = decoded.ok ? signer(decoded.value) : null;
  return decoded.ok && from !== null ? { from, nonce: BigInt(decoded.value.nonce) } : null;
}
