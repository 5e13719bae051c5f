import { randomUUID } from 'node:crypto';
import type { Address, Observation, TransactionHash } from '@pf/domain';
import type { RpcNode, RpcPool } from '@pf/rpc';
import { least } from '../bigints.ts';
import { STEP_MS } from '../networks.ts';
import type { Bookmark, Bookmarks, ChainObserver, Cursor, Network, Step, WatchSet } from '../port.ts';
import { callsInStep } from '../step-share.ts';
import { type EpochInfo, getEpochInfo, getHead, type SignatureInfo } from './calls.ts';
import { deriveAccounts, pollBalances, readLists } from './observe/accounts.ts';
import { writeBookmarks } from './observe/bookmarks.ts';
import {
  absence,
  dueProofs,
  pendingOutcomesOf,
  type Heads,
  judge,
  lostUntil,
  prove,
  statusCalls,
} from './observe/pending-outcomes.ts';
import { readUnseen, readOutcome, readPendingOutcomes, recallNamed } from './observe/lookups.ts';
import { Memory } from './observe/memory.ts';
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

  /** @param now our clock, in ms. */
  constructor(network: Network, pool: RpcPool, now: () => number = Date.now) {
    this.network = network;
    this.#pool = pool;
    this.#now = now;
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

  async #step(
    node: RpcNode,
    before: Position | null,
    synchronize: () => Promise<WatchSet>,
    bookmarks: Bookmarks,
  ): Promise<Step> {
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

    const origin = { slot: least(position.slot, head), known: marked === null ? null : least(marked, head) };
    const derived = await deriveAccounts(memory, watch, this.network, origin, now);
    const awaited = new Set(watch.awaited());
    const pendingOutcomes = pendingOutcomesOf(watch, position.lost);
    memory.isPending = pendingOutcomes.length > 0;
    // The final head tells about pending outcomes only.
    const finalized = early ?? (memory.isPending ? await node.call(getEpochInfo('finalized')) : NO_HEAD);
    const heads: Heads = { confirmed, finalized };
    const balances = pollBalances(memory, awaited, now, callsInStep(node, 'getMultipleAccounts'));
    const states = statusCalls(pendingOutcomes);
    const [stateAnswers, balanceAnswers] = split(await node.batch([...states, ...balances.calls]), states.length);
    const judged = judge(
      pendingOutcomes,
      (stateAnswers as StateAnswer[]).flatMap(({ value }) => value),
      heads,
    );
    const moved = balances.read(balanceAnswers as BalanceAnswer[], now);

    const listed = callsInStep(node, 'getSignaturesForAddress');
    const lists = readLists(memory, moved.changed, head, now, listed, awaited);
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
    const ended = await readPendingOutcomes(this.#pool, node, judged.landed, this.network, watch);
    const most = callsInStep(node, 'getTransaction');
    const looked = await readUnseen(this.#pool, node, memory, this.network, watch, now, most);
    const proven = await this.#prove(node, judged.missing, heads, memory, watch, now);

    looked.commit();
    const observations = memory.notRepeated(
      [...judged.observations, ...ended.observations, ...looked.observations, ...proven.observations],
      now,
    );
    const isBehind = derived.isBehind || balances.isBehind || lists.isBehind || looked.isBehind || memory.isPaging();
    // From the slot of a lost settlement on, transactions may be elsewhere now: they are read again.
    const forked = lostFrom(observations, watch);
    const slot = memory.readUpTo(head);
    const changed = forked === null ? writeBookmarks(memory, this.network) : new Map<Address, Bookmark | null>();
    if (forked !== null) memory.readAgain();
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
    return {
      observations,
      cursor: writePosition(next),
      bookmarks: changed,
      head,
      behind: isBehind ? least(head, head - (origin.known ?? origin.slot) + 1n) : 0n,
      warnings: [
        ...ended.warnings,
        ...looked.warnings,
        ...proven.warnings,
        ...(shortfall > SHORTFALL_WARNED
          ? [`the head is slot ${head}, ${shortfall} slots below the last slot that was read`]
          : []),
      ],
    };
  }

  /** Asks the other upstreams about transactions that this node does not return. */
  async #prove(
    node: RpcNode,
    missing: Parameters<typeof dueProofs>[0],
    heads: Heads,
    memory: Memory,
    watch: WatchSet,
    now: number,
  ): Promise<{ readonly observations: readonly Observation[]; readonly warnings: readonly string[] }> {
    const due = dueProofs(missing, heads, memory, this.#pool.size > 1, now);
    const proofs = await prove(this.#pool, due, now);
    for (const { hash } of due) memory.provenAt.set(hash, now);
    await recallNamed(
      watch,
      proofs.map((proof) => (proof.kind === 'known' ? proof.transaction : null)),
    );
    const observations: Observation[] = [];
    const warnings: string[] = [];
    for (const proof of proofs) {
      if (proof.kind === 'absent') observations.push(absence(proof));
      if (proof.kind !== 'known' || proof.status === null || proof.transaction === null) continue;
      const known = judge([proof.pending], [proof.status], heads);
      observations.push(...known.observations);
      for (const pending of known.landed) {
        const read = readOutcome(node, pending, proof.transaction, this.network, watch);
        observations.push(...read.observations);
        warnings.push(...read.warnings);
      }
    }
    return { observations, warnings };
  }
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

/** The lowest slot of settlements that are observed as lost; null without any. */
function lostFrom(observations: readonly Observation[], watch: WatchSet): bigint | null {
  const lost = new Set(observations.filter(({ type }) => type === 'lost').map(({ data }) => data.hash));
  if (lost.size === 0) return null;
  const slots = [...watch.settling()]
    .filter(({ settlement }) => lost.has(settlement.hash))
    .map(({ settlement }) => settlement.transfer.block);
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
