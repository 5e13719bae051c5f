import type { Address, Instant, TransactionHash } from '@pf/domain';
import { type RpcNode, type RpcPool, RpcUnavailableError, RpcUpstreamError } from '@pf/rpc';
import { LateReads } from './late-reads.ts';
import { STEP_MS } from './networks.ts';

/** A transaction, the block that it is in by the first upstream, and whom it pays. */
export interface LateShowing {
  readonly hash: TransactionHash;
  readonly block: bigint;
  readonly recipient: Address;
}

/** What two upstreams each say of transactions, of which no step waits for one: nothing is final by one alone. */
export interface LateShowings<Said> {
  readonly reads: Pick<LateReads<unknown>, 'isKnown'>;
  /** What has come since the last step. Null: no second upstream has responded. */
  readonly come: ReadonlyMap<TransactionHash, readonly Said[] | null>;
  /**
   * It was not returned in time: it is read beside the steps, by turns of those whom the transactions pay.
   * @param first as of doubleCheck()
   */
  readonly begin: (late: LateShowing, first?: string | null) => void;
  /** False where the step has waited long enough for what is late. What it does not ask for then is due as before. */
  readonly hasTime: () => boolean;
  /** The step has waited for what is late, in ms. */
  readonly waited: (ms: number) => void;
}

/** A step that has waited so long for what is late leaves the rest to the next, in ms. */
const LATE_MS = 500;

/** The time of a step, or of a part of it, for what is late. */
export function newTime(): Pick<LateShowings<unknown>, 'hasTime' | 'waited'> {
  let waitedMs = 0;
  return { hasTime: () => waitedMs < LATE_MS, waited: (ms) => void (waitedMs += ms) };
}

/** How upstreams are asked in a step, and what each has told of one. */
interface Asking<One, Told> {
  readonly ask: (by: RpcNode, some: readonly One[]) => Promise<Told>;
  /** It has not returned this one in time. */
  readonly isLate: (told: Told, one: One) => boolean;
  /** It does not know this one: the next one is asked, too. */
  readonly isLacking: (told: Told, one: One) => boolean;
}

/**
 * As doubleCheck() of the pool, for a step, which waits a moment only. What one upstream has not returned in time is
 * not waited for at the next; only where it has returned nothing at all, another one may be quicker: once. What is told
 * is of the same two upstreams for all: what one of these lacks and a third has shown is read beside the steps, alone.
 * @param first as of doubleCheck()
 * @param seconds what this has waited counts there. Absent: it counts nowhere, as the step asks no more
 * @returns what was told, null where no second upstream responds; and what no step asks for again
 */
export async function doubleCheckSoon<One, Told>(
  pool: Pick<RpcPool, 'doubleCheck'>,
  node: RpcNode,
  first: string | null,
  all: readonly One[],
  { ask, isLate, isLacking }: Asking<One, Told>,
  seconds?: Pick<LateShowings<unknown>, 'waited'>,
): Promise<{ readonly told: readonly [Told, ...Told[]] | null; readonly late: ReadonlySet<One> }> {
  /** At the last one that was asked, and at those before it that have returned something. */
  const late = new Set<One>();
  const everLate = new Set<One>();
  const shownBy = new Map<Told, ReadonlySet<One>>();
  const isAllLate = (): boolean => late.size === all.length;
  let further = 0;
  const began = performance.now();
  const told = await pool.doubleCheck(
    node,
    first,
    async (by) => {
      if (by !== node && isAllLate()) late.clear();
      const some = all.filter((one) => !late.has(one));
      const said = await ask(by, some);
      const inTime = new Set<One>();
      for (const one of some)
        if (!isLate(said, one)) inTime.add(one);
        else for (const those of [late, everLate]) those.add(one);
      shownBy.set(said, inTime);
      return said;
    },
    (said) => (isAllLate() ? further++ === 0 : all.some((one) => !late.has(one) && isLacking(said, one))),
    { alone: false },
  );
  const isShown = (one: One): boolean => told?.every((said) => shownBy.get(said)?.has(one) === true) === true;
  const notShown = told === null ? [] : [...everLate].filter((one) => !isShown(one));
  if (notShown.length > 0) seconds?.waited(performance.now() - began);
  const isLackingIn = (some: Iterable<Told>, one: One): boolean => [...some].some((said) => isLacking(said, one));
  const others = [...shownBy].filter(([said]) => told?.includes(said) === false);
  const isShownElsewhere = (one: One): boolean =>
    others.some(([said, inTime]) => inTime.has(one) && !isLacking(said, one));
  const elsewhere = told === null ? [] : all.filter((one) => isLackingIn(told, one) && isShownElsewhere(one));
  return { told, late: new Set([...notShown, ...elsewhere]) };
}

/** How one upstream alone is asked. */
interface Reading<Said> {
  readonly read: (node: RpcNode, hash: TransactionHash, block: bigint) => Promise<Said>;
  /** It does not know: the next one is asked, too. */
  readonly isLacking: (said: Said) => boolean;
  /** It did not return all of it, so that no step asks for it. */
  readonly isUnread: (said: Said) => boolean;
  /** What is said of an upstream that has returned nothing, or an error. */
  readonly unread: (by: string) => Said;
}

/** Reads beside the steps what makes payments final, by two upstreams, with all the time that a request has. */
export class SecondReader<Said> {
  readonly #pool: RpcPool;
  readonly #reading: Reading<Said>;
  readonly #reads: LateReads<readonly Said[] | null>;

  /** @param now our clock */
  constructor(pool: RpcPool, now: () => Instant, reading: Reading<Said>) {
    this.#pool = pool;
    this.#reading = reading;
    this.#reads = new LateReads(now);
  }

  /** The chain has changed: of what is being read nothing is used. */
  forget(): void {
    this.#reads.forget();
  }

  /** For one step. */
  collect(): LateShowings<Said> {
    const reads = this.#reads;
    const come = reads.collect();
    for (const [hash, said] of come) if (said === null || said.some(this.#reading.isUnread)) reads.note(hash);
    return {
      reads,
      come,
      begin: ({ hash, block, recipient }, first = null) => {
        reads.note(hash);
        reads.beginInTurn(hash, recipient, () => this.#read(hash, block, first));
      },
      ...newTime(),
    };
  }

  async #read(hash: TransactionHash, block: bigint, first: string | null): Promise<readonly Said[] | null> {
    const { isLacking } = this.#reading;
    try {
      return await this.#pool.run(
        (node) =>
          this.#pool.doubleCheck(node, first, (by) => this.#readAt(by, hash, block), isLacking, { alone: false }),
        STEP_MS,
      );
    } catch (error) {
      // The pool has told of it.
      if (error instanceof RpcUnavailableError || error instanceof RpcUpstreamError) return null;
      throw error;
    }
  }
  /** A gateway that fails with this transaction may be well for all others: it counts as one that has not shown it. */
  async #readAt(by: RpcNode, hash: TransactionHash, block: bigint): Promise<Said> {
    try {
      return await this.#reading.read(by, hash, block);
    } catch (error) {
      if (error instanceof RpcUpstreamError && error.delivered === 'maybe') return this.#reading.unread(by.name);
      throw error;
    }
  }
}
