import type { Address, Instant, TransactionHash } from '@pf/domain';
import type { RpcPool } from '@pf/rpc';
import { LateReads } from '../../late-reads.ts';
import { STEP_MS } from '../../networks.ts';
import { type Block, getBlock, getReceipt, type Receipt } from '../calls.ts';
import { isLate, readEach, readSoon, type Unreadable } from './read-each.ts';

/** A transaction, whom it was to pay, and the block at which it is to be proven absent. */
interface Absence {
  readonly hash: TransactionHash;
  readonly recipient: Address;
  readonly at: Block;
}

/** How often a request for receipts of which some cannot be had is halved. */
const SPLITS = 7;

/**
 * Proofs that transactions have not landed: every upstream that responds has this very block and no receipt. Two must
 * respond where two are configured. A step waits a moment for that. What an upstream does not say in time is proven
 * beside the steps.
 */
export class Absences {
  readonly #pool: Pick<RpcPool, 'onAll' | 'run'>;
  readonly #reads: LateReads<Block | null>;

  /** @param now our clock */
  constructor(pool: Pick<RpcPool, 'onAll' | 'run'>, now: () => Instant) {
    this.#pool = pool;
    this.#reads = new LateReads(now);
  }

  /** The chain has changed: of what is being proven nothing is used. */
  forget(): void {
    this.#reads.forget();
  }

  /** For one step: those that were proven absent beside the steps, with the block. */
  collect(): ReadonlyMap<TransactionHash, Block> {
    const absent = new Map<TransactionHash, Block>();
    for (const [hash, at] of this.#reads.collect())
      if (at === null) this.#reads.note(hash);
      else absent.set(hash, at);
    return absent;
  }

  /**
   * Those that are proven now. All are asked for together, by two requests to each upstream: hundreds may be missing.
   * @param isLateOtherwise no step asks for it
   */
  async prove(
    missing: readonly Absence[],
    isLateOtherwise: (hash: TransactionHash) => boolean,
  ): Promise<ReadonlySet<TransactionHash>> {
    const isKnown = ({ hash }: Absence): boolean => this.#reads.isKnown(hash) || isLateOtherwise(hash);
    for (const one of missing.filter(isKnown)) this.#begin(one);
    const asked = missing.filter((one) => !isKnown(one));
    const { absent, late } = await absentEverywhere(this.#pool, asked, true);
    for (const one of asked) if (late.has(one.hash)) this.#begin(one);
    return absent;
  }

  #begin(one: Absence): void {
    const { hash, recipient, at } = one;
    this.#reads.note(hash);
    this.#reads.beginInTurn(hash, recipient, () =>
      this.#pool.run(async () => {
        const { absent } = await absentEverywhere(this.#pool, [one], false);
        return absent.has(hash) ? at : null;
      }, STEP_MS),
    );
  }
}

interface Proven {
  readonly absent: ReadonlySet<TransactionHash>;
  /** What an upstream has not said in time. */
  readonly late: ReadonlySet<TransactionHash>;
}

async function absentEverywhere(
  pool: Pick<RpcPool, 'onAll'>,
  missing: readonly Absence[],
  areSoon: boolean,
): Promise<Proven> {
  if (missing.length === 0) return { absent: new Set(), late: new Set() };
  const numbers = [...new Set(missing.map(({ at }) => at.number))];
  const late = new Set<TransactionHash>();
  const { responses, conclusive } = await pool.onAll(async (node) => {
    // The blocks first: a receipt that is missing before the node has the block proves nothing.
    const blocks = await node.batch(numbers.map((number) => getBlock(number)));
    const calls = missing.map(({ hash }) => getReceipt(hash, () => false));
    const receipts: readonly (Receipt | Unreadable | null | undefined)[] = areSoon
      ? await readSoon(node, calls, SPLITS)
      : await readEach(node, calls, SPLITS);
    const hashes = new Map(numbers.map((number, place) => [number, blocks[place]?.hash]));
    return missing.map(({ hash, at }, place) => {
      if (isLate(receipts[place])) late.add(hash);
      return receipts[place] === null && hashes.get(at.number) === at.hash;
    });
  });
  const isAbsent = (place: number): boolean => conclusive && responses.every((of) => of[place] === true);
  return { absent: new Set(missing.flatMap(({ hash }, place) => (isAbsent(place) ? [hash] : []))), late };
}
