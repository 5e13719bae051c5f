import type { Instant, Observation, TransactionHash } from '@pf/domain';
import type { RpcNode, RpcPool } from '@pf/rpc';
import { boundedCache } from '@pf/runtime';
import { LateReads } from '../../late-reads.ts';
import { lost } from '../../lost.ts';
import { STEP_MS } from '../../networks.ts';
import {
  type EpochInfo,
  getBlockTime,
  getEpochInfo,
  getFirstAvailableBlock,
  getSignatureStatuses,
  type SignatureStatus,
  STATUSES_MAX,
} from '../calls.ts';
import { isUnreturned, type Look, lookAt, lookBriefly, readingOf } from './looking.ts';
import type { Memory } from './memory.ts';
import type { Heads, PendingOutcome, Provable } from './pending-outcomes.ts';
import type { Reading } from './reading.ts';

/** How often all upstreams are asked for a missing transaction. */
const PROVE_EVERY_MS = 5_000;
/** A transaction sent longer ago than this should be in a block. */
const LATE_MS = 3_000;
/** A transaction older than this may have been pruned from a node's history: then the start of that history is read. */
const PRUNED_MS = 3_600_000;
/** For so long a status that is known counts, in ms. */
const KEPT_MS = 60_000;

/**
 * The missing transactions for which all upstreams are asked: the final chain is past every block that they could be
 * in. Or, with several upstreams, they are late: this node may be the only one that does not have them.
 */
export function dueProofs<Asked extends Provable>(
  missing: readonly Asked[],
  { finalized }: Heads,
  memory: Memory,
  hasOthers: boolean,
  now: number,
): readonly Asked[] {
  memory.keepProven(new Set(missing.map(({ hash }) => hash)));
  return missing
    .filter((pending) => isPassed(pending, finalized) || (hasOthers && now - pending.since >= LATE_MS))
    .filter(({ hash }) => now - (memory.provenAt.get(hash) ?? -Infinity) >= PROVE_EVERY_MS)
    .slice(0, STATUSES_MAX);
}

/** True where the final chain is past every block that it could be in. */
function isPassed(pending: Provable, finalized: EpochInfo): boolean {
  if (pending.kind === 'deposits') return finalized.absoluteSlot > pending.block;
  return pending.kind === 'settling'
    ? finalized.absoluteSlot > pending.settlement.transfer.block
    : pending.lastValid !== null && finalized.blockHeight > pending.lastValid;
}

export interface Proof<Asked extends Provable = PendingOutcome> {
  readonly pending: Asked;
  /** known: it is in a confirmed block. absent: it is in no block and can be in none. open: neither is certain. */
  readonly kind: 'known' | 'absent' | 'open';
  readonly status: SignatureStatus | null;
  readonly reading: Reading | null;
  readonly finalized: EpochInfo | null;
}

/** What all upstreams say of a transaction that this one does not return. */
export interface Evidence {
  /** When they were asked, by our clock. */
  readonly at: Instant;
  /** Two have responded, where two are configured. */
  readonly isConclusive: boolean;
  readonly of: readonly UpstreamEvidence[];
}
interface UpstreamEvidence {
  readonly finalized: EpochInfo;
  /** Of the status. */
  readonly slot: bigint;
  readonly status: SignatureStatus | null;
  /** Null where it has no status. */
  readonly look: Look | null;
  /** Where its history begins, in ms since 1970; null: it was not asked, as all were recent. */
  readonly historyBegin: number | null;
}

/**
 * Proofs that transactions are in a block or can be in none, by all upstreams with their history. A step waits a moment
 * for what they return. What is late there is proven beside the steps.
 */
export class Proofs {
  readonly #pool: Pick<RpcPool, 'onAll' | 'run'>;
  readonly #now: () => Instant;
  readonly #reads: LateReads<Evidence | undefined>;
  /** Statuses that are known, without what was read: what else makes a payment final may come in a later step. */
  readonly #known = boundedCache<TransactionHash, Pick<Evidence, 'at'> & { readonly status: SignatureStatus }>(
    STATUSES_MAX,
  );

  /** @param now our clock */
  constructor(pool: Pick<RpcPool, 'onAll' | 'run'>, now: () => Instant) {
    this.#pool = pool;
    this.#now = now;
    this.#reads = new LateReads(now);
  }

  /** The chain has changed: of what is being proven nothing is used. */
  forget(): void {
    this.#reads.forget();
    this.#known.clear();
  }

  /** For one step: what was proven beside the steps. */
  collect(): ReadonlyMap<TransactionHash, Evidence> {
    const come = new Map<TransactionHash, Evidence>();
    for (const [hash, evidence] of this.#reads.collect()) {
      if (evidence === undefined || isLate(evidence)) this.#reads.note(hash);
      if (evidence !== undefined) come.set(hash, evidence);
    }
    return come;
  }

  /**
   * What can be said now of those that are due, and of those that were proven beside the steps.
   * @param come of collect()
   * @param most transactions that an upstream's rate allows in a step
   */
  async of<Asked extends Provable>(
    missing: readonly Asked[],
    due: readonly Asked[],
    come: ReadonlyMap<TransactionHash, Evidence>,
    most: number,
  ): Promise<readonly Proof<Asked>[]> {
    const reads = this.#reads;
    // Not only those that are due: a place may come free at any time.
    for (const one of missing) if (reads.isKnown(one.hash) && !come.has(one.hash)) this.#begin(one);
    const asked = due.filter(({ hash }) => !come.has(hash) && !reads.isKnown(hash));
    const gathered = await this.#gather(asked, (node, hashes) => lookBriefly(node, hashes, most));
    for (const one of asked) {
      const evidence = gathered.get(one.hash);
      if (evidence !== undefined && isLate(evidence)) this.#begin(one);
    }
    return missing.flatMap((pending) => {
      const evidence = come.get(pending.hash) ?? gathered.get(pending.hash);
      return evidence === undefined ? this.#kept(pending) : [this.#keep(proofOf(pending, evidence), evidence)];
    });
  }

  #keep<Asked extends Provable>(proof: Proof<Asked>, { at }: Evidence): Proof<Asked> {
    if (proof.kind === 'known' && proof.status !== null)
      this.#known.set(proof.pending.hash, { at, status: proof.status });
    else this.#known.delete(proof.pending.hash);
    return proof;
  }

  /** Of what has settled, or arrived: of a submission the transaction itself tells. */
  #kept<Asked extends Provable>(pending: Asked): readonly Proof<Asked>[] {
    const known = this.#known.get(pending.hash);
    if (known === undefined || this.#now() - known.at >= KEPT_MS) return [];
    if (pending.kind !== 'settling' && pending.kind !== 'deposits') return [];
    return [{ pending, kind: 'known', status: known.status, reading: null, finalized: null }];
  }

  #begin(one: Provable): void {
    this.#reads.note(one.hash);
    this.#reads.beginInTurn(one.hash, one.requestor, (hash) =>
      this.#pool.run(async () => (await this.#gather([one], lookAt)).get(hash), STEP_MS),
    );
  }

  async #gather(
    asked: readonly Provable[],
    look: (node: RpcNode, hashes: readonly TransactionHash[]) => Promise<readonly Look[]>,
  ): Promise<ReadonlyMap<TransactionHash, Evidence>> {
    if (asked.length === 0) return new Map();
    const at = this.#now();
    const hashes = [...new Set(asked.map(({ hash }) => hash))];
    const isRecent = asked.every((one) => isRecentAt(one, at));
    const { responses, conclusive } = await this.#pool.onAll((node) => gather(node, hashes, isRecent, look));
    return new Map(
      hashes.map((hash) => {
        const of = responses.flatMap((one) => one.get(hash) ?? []);
        return [hash, { at, isConclusive: conclusive, of }];
      }),
    );
  }
}

async function gather(
  node: RpcNode,
  hashes: readonly TransactionHash[],
  areRecent: boolean,
  look: (node: RpcNode, hashes: readonly TransactionHash[]) => Promise<readonly Look[]>,
): Promise<ReadonlyMap<TransactionHash, UpstreamEvidence>> {
  // First the final slot, then the statuses: a result of an older slot would prove nothing about it.
  const finalized = await node.call(getEpochInfo('finalized'));
  const { context, value } = await node.call(getSignatureStatuses(hashes, true));
  const begin = areRecent ? null : await historyBegin(node);
  const shown = hashes.filter((_hash, place) => (value[place] ?? null) !== null);
  const looks = await look(node, shown);
  const lookOf = new Map(shown.map((hash, place) => [hash, looks[place] ?? null]));
  return new Map(
    hashes.map((hash, place) => [
      hash,
      {
        finalized,
        slot: context.slot,
        status: value[place] ?? null,
        look: lookOf.get(hash) ?? null,
        historyBegin: begin,
      },
    ]),
  );
}

const isRecentAt = ({ since }: Provable, at: Instant): boolean => at - since < PRUNED_MS;
const isKnown = ({ status, look }: UpstreamEvidence): boolean => status !== null && readingOf(look) !== null;

/** An upstream has it, and none has returned it in time. */
const isLate = ({ of }: Evidence): boolean => !of.some(isKnown) && of.some(({ look }) => isUnreturned(look));

/**
 * `absent` only where all that respond are past it and do not have it, at least two where two are configured: a node
 * that lags, lies or has lost its history proves nothing.
 */
function proofOf<Asked extends Provable>(pending: Asked, { at, isConclusive, of }: Evidence): Proof<Asked> {
  const known = of.find(isKnown);
  if (known !== undefined)
    return { pending, kind: 'known', status: known.status, reading: readingOf(known.look), finalized: null };
  const isProof = ({ status, finalized, slot, historyBegin: begin }: UpstreamEvidence): boolean => {
    const reachesBack = isRecentAt(pending, at) || (begin !== null && begin <= pending.since);
    return status === null && isPassed(pending, finalized) && reachesBack && slot >= finalized.absoluteSlot;
  };
  return {
    pending,
    kind: isConclusive && of.every(isProof) ? 'absent' : 'open',
    status: null,
    reading: null,
    finalized: of[0]?.finalized ?? null,
  };
}

/** Time of the oldest block that this node still has, in ms since 1970. */
async function historyBegin(node: RpcNode): Promise<number> {
  const first = await node.call(getFirstAvailableBlock());
  if (first === 0n) return 0;
  const seconds = await node.call(getBlockTime(first));
  return seconds === null ? Infinity : seconds * 1_000;
}

/** The observation that follows from a proof of absence. */
export function absence({ pending, finalized }: Proof): Observation {
  const { intentId, hash } = pending;
  if (pending.kind === 'settling') return lost(intentId, pending.settlement);
  const proof =
    `its blockhash was valid up to block height ${pending.lastValid ?? '?'}, the final block height is ` +
    `${finalized?.blockHeight ?? '?'}, and no upstream has the transaction in its history`;
  return { kind: 'observation', type: 'dropped', intentId, data: { hash, proof } };
}
