import { randomUUID } from 'node:crypto';
import type { Address, DepositObservation, Observation, TransactionHash } from '@pf/domain';
import type { RpcNode, RpcPool } from '@pf/rpc';
import { least } from '../bigints.ts';
import { LateReads } from '../late-reads.ts';
import { STEP_MS } from '../networks.ts';
import type { Bookmark, Bookmarks, ChainObserver, Cursor, Network, Step, WatchSet } from '../port.ts';
import { callsInStep } from '../step-share.ts';
import { type EpochInfo, getEpochInfo, getHead, type SignatureInfo } from './calls.ts';
import {
  type BalancePoll,
  deriveAccounts,
  type Origin,
  pollBalances,
  readLists,
  type Recipients,
} from './observe/accounts.ts';
import { writeBookmarks } from './observe/bookmarks.ts';
import { type Doubting, nameOfSettlement, observeFinal, secondReader } from './observe/finality.ts';
import {
  type Heads,
  judge,
  type Judgement,
  lostUntil,
  type PendingDeposits,
  type PendingOutcome,
  pendingOutcomesOf,
  type PendingSettlement,
  statusCalls,
} from './observe/pending-outcomes.ts';
import { judgeAgain } from './observe/judge-again.ts';
import { type LookupResult, readOutcome, readPendingOutcomes, readUnseen, recallNamed } from './observe/lookups.ts';
import type { Look } from './observe/looking.ts';
import { Memory } from './observe/memory.ts';
import {
  type DepositJudgement,
  dueDeposits,
  finalDeposits,
  judgeDeposits,
  lostDeposits,
  noteJudged,
} from './observe/open-deposits.ts';
import { absence, dueProofs, type Evidence, Proofs } from './observe/proofs.ts';
import { dueReferences } from './observe/references.ts';
import { type Position, readPosition, writePosition } from './observe/position.ts';

/** The share of steps that read transaction lists from another upstream than everything else. */
const OF_ANOTHER = 0.5;
/** A head this far below an earlier one causes a warning. Upstreams behind one URL always differ by some slots. */
const SHORTFALL_WARNED = 150n;

/**
 * Follows a Solana network (docs/internals/chains.md): the statuses of submitted transactions, 256 per call; the
 * balances of the recipients' token accounts, 100 per call; and the transactions of accounts whose balance moved, and
 * of one more now and then. So the cost depends on what happens, not on how many intents are open. Payments are read
 * from the transactions themselves: a balance proves nothing. A bookmark for each recipient has the balances and how
 * far the transactions were read, so that a restart lists the accounts that moved, and no others.
 */
export class SolanaObserver implements ChainObserver {
  readonly network: Network;
  readonly #pool: RpcPool;
  readonly #now: () => number;
  #memory = new Memory();
  /** The position that the memory belongs to. */
  #remembered: string | null = null;
  #isAwaiting = false;
  readonly #late: LateReads<Look>;
  readonly #seconds: ReturnType<typeof secondReader>;
  readonly #proofs: Proofs;

  /** @param now our clock, in ms. */
  constructor(network: Network, pool: RpcPool, now: () => number = Date.now) {
    this.network = network;
    this.#pool = pool;
    this.#now = now;
    this.#late = new LateReads(now);
    this.#seconds = secondReader(pool, now);
    this.#proofs = new Proofs(pool, now);
  }

  get intervalMs(): number {
    return this.#isAwaiting ? this.network.pollMs.awaiting : this.network.pollMs.idle;
  }

  step(
    cursor: Cursor | null,
    synchronize: () => Promise<WatchSet>,
    bookmarks: Bookmarks = () => Promise.resolve(new Map<string, Bookmark>()),
  ): Promise<Step> {
    const before = cursor === null ? null : readPosition(cursor);
    return this.#pool.run((node) => this.#step(node, before, synchronize, bookmarks), STEP_MS);
  }

  judge(hash: TransactionHash, watch: WatchSet): Promise<readonly Observation[] | null> {
    return this.#pool.run((node) => judgeAgain(this.#pool, node, this.network, watch, hash), STEP_MS);
  }

  async #step(
    node: RpcNode,
    before: Position | null,
    synchronize: () => Promise<WatchSet>,
    bookmarks: Bookmarks,
  ): Promise<Step> {
    const round = await this.#begin(node, before, synchronize, bookmarks);
    const { memory, head, shortfall } = round;
    const { judged, judgedDeposits, moved, isBehind: isPollBehind } = await this.#poll(round);
    const isListBehind = await this.#list(round, moved);
    const looked = await this.#look(round, judged, judgedDeposits);
    const observations = memory.notRepeated([...judged.observations, ...looked.observations], round.now);
    const isBehind = round.derived.isBehind || isPollBehind || isListBehind || looked.isBehind || memory.isPaging();
    const end = this.#end(round, observations, looked.lost);
    return {
      observations,
      deposits: [...lostDeposits(looked.lost), ...looked.deposits],
      ...end,
      head,
      behind: isBehind ? least(head, head - (round.origin.known ?? round.origin.slot) + 1n) : 0n,
      warnings: [
        ...looked.warnings,
        ...(shortfall > SHORTFALL_WARNED
          ? [`the head is slot ${head}, ${shortfall} slots below the last slot that was read`]
          : []),
      ],
      setAside: memory.setAside(round.now),
      givenUp: looked.givenUp,
      unshown: memory.unshown.longAmong(() => unfinalized(round.watch), round.now),
    };
  }

  /** Learns the heads and the intents, and what is remembered of them. */
  async #begin(
    node: RpcNode,
    before: Position | null,
    synchronize: () => Promise<WatchSet>,
    bookmarks: Bookmarks,
  ): Promise<Round> {
    const now = this.#now();
    const isExpecting = before === null || this.#memory.isPending;
    const [confirmed, early = null] = await node.batch(
      isExpecting ? [getHead(), getEpochInfo('finalized')] : [getHead()],
    );
    const head = confirmed.absoluteSlot;
    const position = before ?? first(early ?? confirmed);
    const watch = await synchronize();
    const shortfall = position.head - head;
    const isReset = shortfall > SHORTFALL_WARNED;
    const marked = isReset ? null : position.known;
    // Nothing may be remembered of a step that was not stored: its observations must be made again. Nor of slots that
    // are yet to come, where the chain was reset. A step that fails midway forgets nothing.
    const isRemembered = this.#remembered === position.id && !isReset;
    const memory = isRemembered ? this.#memory : new Memory(marked === null ? undefined : await bookmarks());
    [this.#memory, this.#remembered] = [memory, position.id];
    if (!isRemembered) this.#forgetLate();

    const origin = { slot: least(position.slot, head), known: marked === null ? null : least(marked, head) };
    const derived = await deriveAccounts(memory, watch, this.network, origin, now);
    const pendingOutcomes = pendingOutcomesOf(watch, position.lost);
    const [openDeposit] = watch.openDeposits();
    memory.isPending = pendingOutcomes.length > 0 || openDeposit !== undefined;
    // The final head tells about pending outcomes and deposits only.
    const finalized = early ?? (memory.isPending ? await node.call(getEpochInfo('finalized')) : NO_HEAD);
    const heads = { confirmed, finalized };
    const seconds = this.#seconds.collect();
    const evidence = this.#proofs.collect();
    const come = new Set([...seconds.come.keys(), ...evidence.keys()]);
    return {
      node,
      now,
      watch,
      memory,
      position,
      head,
      shortfall,
      marked,
      origin,
      derived,
      heads,
      recipients: { awaited: new Set(watch.awaited()), ownersOf: (recipient) => watch.ownersOf(recipient) },
      pendingOutcomes,
      pendingDeposits: dueDeposits(watch, memory, heads, now, come, seconds.reads),
      seconds,
      evidence,
    };
  }

  /** Reads the statuses of pending outcomes and deposits, and the balances of accounts. */
  async #poll({ node, now, memory, recipients, heads, pendingOutcomes, pendingDeposits }: Round): Promise<{
    readonly judged: Judgement;
    readonly judgedDeposits: DepositJudgement;
    readonly moved: ReturnType<BalancePoll['read']>;
    readonly isBehind: boolean;
  }> {
    const balances = pollBalances(memory, recipients, now, callsInStep(node, 'getMultipleAccounts'));
    // In one call, where it has room for both.
    const states = statusCalls([...pendingOutcomes, ...pendingDeposits]);
    const [stateAnswers, balanceAnswers] = split(await node.batch([...states, ...balances.calls]), states.length);
    const all = (stateAnswers as StateAnswer[]).flatMap(({ value }) => value);
    const [statuses, depositStatuses] = split(all, pendingOutcomes.length);
    return {
      judged: judge(pendingOutcomes, statuses, heads),
      judgedDeposits: judgeDeposits(pendingDeposits, depositStatuses, heads),
      moved: balances.read(balanceAnswers as BalanceAnswer[], now),
      isBehind: balances.isBehind,
    };
  }

  /**
   * Lists the transactions of accounts that moved and of references that are paid soon. What is new in there is looked
   * at next.
   * @returns true where more lists are due than one step reads
   */
  async #list(
    { node, now, memory, watch, head, recipients }: Round,
    moved: ReturnType<BalancePoll['read']>,
  ): Promise<boolean> {
    const listed = callsInStep(node, 'getSignaturesForAddress');
    const lists = readLists(memory, moved.changed, head, now, listed, recipients);
    const references = dueReferences(memory, watch, head, now, listed);
    const listing = async (by: RpcNode): Promise<Listing> => ({
      pages: await by.batch([...lists.calls, ...references.calls]),
      last: await references.lookLast(by),
    });
    // Now and then from another upstream, where there is one: an index that left out a transaction leaves it out again.
    const elsewhere = Math.random() < OF_ANOTHER ? await this.#pool.onAnother(node, listing) : null;
    const { pages, last } = elsewhere ?? (await listing(node));
    const [ofAccounts, named] = split(pages, lists.calls.length);
    moved.commit();
    lists.read(ofAccounts, head, now)();
    references.read(named, last, head, now)();
    return lists.isBehind;
  }

  /** Looks at the transactions themselves: what landed, what was listed, and what is missing or final. */
  async #look(round: Round, judged: Judgement, deposits: DepositJudgement): Promise<Looked> {
    const { node, now, memory, watch, head } = round;
    const { network } = this;
    const pool = this.#pool;
    const most = callsInStep(node, 'getTransaction');
    const late = { reads: this.#late, come: this.#late.collect() };
    const ended = await readPendingOutcomes(pool, node, judged.landed, memory, network, watch, head, now, most, late);
    // What it sets aside is not asked for again at once, where it is listed too.
    ended.commit();
    const looked = await readUnseen(pool, node, memory, network, watch, now, most, late);
    const proven = await this.#prove(round, judged.missing, deposits.missing);
    const final = [...judged.final, ...proven.final];
    const doubting = { pool, node, seconds: round.seconds, most };
    // What payments leave of the rate.
    const doubtingDeposits = { ...doubting, most: Math.max(1, most - final.length) };
    const arrived = [...deposits.final, ...proven.deposits.final];
    // At the same time: what is late of one kind costs the other nothing.
    const [finalized, finalArrived] = await Promise.all([
      observeFinal(doubting, final, memory, network, watch, now),
      finalDeposits(doubtingDeposits, arrived, memory, network, watch, now),
    ]);
    const parts = [ended, looked, proven, finalized];
    const lost = [...deposits.lost, ...proven.deposits.lost];
    looked.commit();
    finalized.commit();
    finalArrived.commit();
    noteJudged(memory, [...lost, ...deposits.missing], now)();
    return {
      observations: parts.flatMap(({ observations }) => observations),
      deposits: [...looked.deposits, ...finalArrived.deposits],
      lost,
      warnings: [...parts, finalArrived].flatMap(({ warnings }) => warnings),
      givenUp: looked.givenUp,
      isBehind: looked.isBehind,
    };
  }

  /** Asks the other upstreams about transactions that this node does not return. */
  async #prove(
    { node, heads, memory, watch, now, evidence }: Round,
    missing: Judgement['missing'],
    missingDeposits: DepositJudgement['missing'],
  ): Promise<Proven> {
    const all = [...missing, ...missingDeposits];
    const due = dueProofs(all, heads, memory, this.#pool.size > 1, now);
    const proofs = await this.#proofs.of(all, due, evidence, callsInStep(node, 'getTransaction'));
    for (const { hash } of due) memory.provenAt.set(hash, now);
    await recallNamed(
      watch,
      proofs.map(({ reading }) => reading),
    );
    const observations: Observation[] = [];
    const warnings: string[] = [];
    const final: PendingSettlement[] = [];
    const deposits: { final: PendingDeposits[]; lost: PendingDeposits[] } = { final: [], lost: [] };
    for (const proof of proofs) {
      const { pending } = proof;
      if (pending.kind === 'deposits') {
        if (proof.kind === 'absent') deposits.lost.push(pending);
        if (proof.kind !== 'known') continue;
        const known = judgeDeposits([pending], [proof.status], heads);
        deposits.final.push(...known.final);
        deposits.lost.push(...known.lost);
        continue;
      }
      if (proof.kind === 'absent') observations.push(absence({ ...proof, pending }));
      if (proof.kind !== 'known' || proof.status === null) continue;
      const known = judge([pending], [proof.status], heads);
      observations.push(...known.observations);
      final.push(...known.final);
      if (proof.reading === null) continue;
      for (const landed of known.landed) {
        const read = readOutcome(landed, proof.reading, this.network, watch);
        observations.push(...read.observations);
        warnings.push(...read.warnings);
      }
    }
    return { observations, warnings, final, deposits };
  }

  /** The chain has changed: of what is read beside the steps nothing is used. */
  #forgetLate(): void {
    this.#late.forget();
    this.#seconds.forget();
    this.#proofs.forget();
  }

  /** Where the next step goes on. */
  #end(
    { now, memory, watch, position, head, shortfall, marked, derived, heads, pendingOutcomes }: Round,
    observations: readonly Observation[],
    lost: readonly PendingDeposits[],
  ): Pick<Step, 'cursor' | 'bookmarks'> {
    // From the slot of a lost settlement or deposit on, transactions may be elsewhere now: they are read again.
    const forked = lostFrom(observations, watch, lost);
    const slot = memory.readUpTo(head);
    const bookmarks = forked === null ? writeBookmarks(memory, this.network) : new Map<Address, Bookmark | null>();
    if (forked !== null) {
      memory.readAgain();
      this.#forgetLate();
    }
    const next: Position = {
      id: randomUUID(),
      slot: forked === null ? slot : least(slot, forked - 1n),
      known: forked !== null ? null : derived.isBehind ? marked : head,
      head: shortfall > 0n ? position.head : head,
      lost: lostAfter(position.lost, watch, observations, heads),
    };
    this.#remembered = next.id;
    this.#isAwaiting =
      pendingOutcomes.some(({ kind }) => kind === 'submitted') || memory.isAwaiting(now + this.network.pollMs.idle);
    return { cursor: writePosition(next), bookmarks };
  }
}

/** What a second upstream may be asked for, by the names under which it waits. */
function* unfinalized(watch: WatchSet): Iterable<string> {
  for (const { id, settlement } of watch.settling())
    if (!settlement.lost) yield nameOfSettlement({ intentId: id, hash: settlement.hash, settlement });
  for (const { id } of watch.openDeposits()) yield id;
}

/** What one step works with. */
interface Round {
  readonly node: RpcNode;
  readonly now: number;
  readonly watch: WatchSet;
  readonly memory: Memory;
  readonly position: Position;
  readonly head: bigint;
  /** So many slots is the head below an earlier one. */
  readonly shortfall: bigint;
  /** Every recipient that was watched when this slot was the head has a bookmark that counts. */
  readonly marked: bigint | null;
  readonly origin: Origin;
  readonly derived: { readonly isBehind: boolean };
  readonly heads: Heads;
  readonly recipients: Recipients;
  readonly pendingOutcomes: readonly PendingOutcome[];
  readonly pendingDeposits: readonly PendingDeposits[];
  readonly seconds: Doubting['seconds'];
  readonly evidence: ReadonlyMap<TransactionHash, Evidence>;
}

/** What other upstreams say of what this one does not return. */
interface Proven extends LookupResult, Pick<Judgement, 'final'> {
  readonly deposits: Pick<DepositJudgement, 'final' | 'lost'>;
}

interface Looked extends LookupResult {
  readonly deposits: readonly DepositObservation[];
  /** Deposits of which a fork has undone the transaction. */
  readonly lost: readonly PendingDeposits[];
  /** Transactions that are looked at no more, and were not judged. */
  readonly givenUp: number;
  readonly isBehind: boolean;
}

/** No transaction is final by it. */
const NO_HEAD: EpochInfo = { absoluteSlot: 0n, blockHeight: 0n };

interface Listing {
  readonly pages: readonly (readonly SignatureInfo[])[];
  readonly last: readonly (readonly SignatureInfo[])[] | null;
}
type StateAnswer = ReturnType<ReturnType<typeof statusCalls>[number]['parse']>;
type BalanceAnswer = ReturnType<ReturnType<typeof pollBalances>['calls'][number]['parse']>;
const split = <T>(items: readonly T[], at: number): readonly [readonly T[], readonly T[]] => [
  items.slice(0, at),
  items.slice(at),
];

/** The first start begins at the final slot: no intent is older than the service. */
const first = ({ absoluteSlot }: EpochInfo): Position => ({
  id: randomUUID(),
  slot: absoluteSlot,
  known: null,
  head: absoluteSlot,
  lost: {},
});

/** The lowest slot of settlements that are observed as lost, and of lost deposits; null without any. */
function lostFrom(
  observations: readonly Observation[],
  watch: WatchSet,
  deposits: readonly PendingDeposits[],
): bigint | null {
  const lost = new Set(observations.filter(({ type }) => type === 'lost').map(({ data }) => data.hash));
  const settled = lost.size === 0 ? [] : [...watch.settling()].filter(({ settlement }) => lost.has(settlement.hash));
  const slots = [...settled.map(({ settlement }) => settlement.transfer.block), ...deposits.map(({ block }) => block)];
  return slots.length === 0 ? null : slots.reduce(least);
}

/**
 * Until which block height each lost settlement may land again, counted from when it was seen to be lost, which is late
 * enough.
 */
function lostAfter(
  before: Position['lost'],
  watch: WatchSet,
  observations: readonly Observation[],
  heads: Heads,
): Position['lost'] {
  const lost = new Set<TransactionHash>(
    observations.filter(({ type }) => type === 'lost').map(({ data }) => data.hash),
  );
  for (const { settlement } of watch.settling()) if (settlement.lost) lost.add(settlement.hash);
  return Object.fromEntries([...lost].map((hash) => [hash, before[hash] ?? lostUntil(heads)]));
}
