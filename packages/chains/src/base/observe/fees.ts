import type { NetworkFee, TransactionHash } from '@pf/domain';
import { ifSupported, type RpcNode, type RpcPool, RpcUnavailableError, RpcUpstreamError, soon } from '@pf/rpc';
import { boundedCache } from '@pf/runtime';
import { getReceipt } from '../../evm/calls.ts';
import { readEach, Unreadable } from '../../evm/observe/read-each.ts';
import { STEP_MS } from '../../networks.ts';
import type { Fees } from './context.ts';
import { placeOf, type Seen } from './position.ts';
import { feeIn } from './receipt.ts';

/** How often a request for receipts that are too long together is halved. */
const SPLITS = 5;
/** More than are waited for at once. */
const KEPT_MAX = 2_000;

type Costs = ReadonlyMap<string, NetworkFee>;
/** A transaction in a block: in another one it has cost something else. */
const nameOf = (hash: TransactionHash, blockHash: string | null): string => `${hash} ${blockHash}`;
const nameOfLanding = (one: Seen): string => nameOf(one.hash, placeOf(one).blockHash);
const hashesOf = (landings: readonly Seen[]): readonly TransactionHash[] => [
  ...new Set(landings.flatMap((one) => (one.kind === 'landed' ? [one.hash] : []))),
];

/**
 * What landings have cost. It is read beside the steps as soon as they are seen, with all the time that a request has:
 * the event that confirms a payment is the only one that tells it, and no payment waits for it.
 */
export class FeesBeside implements Fees {
  readonly #pool: Pick<RpcPool, 'run'>;
  readonly #known = boundedCache<string, NetworkFee>(KEPT_MAX);
  /** What was asked for, in vain or not: it is once. */
  readonly #asked = boundedCache<string, true>(KEPT_MAX);
  #isReading = false;
  #failure: { readonly error: unknown } | null = null;

  constructor(pool: Pick<RpcPool, 'run'>) {
    this.#pool = pool;
  }

  /** Undefined where it is not known. */
  of(one: Seen): NetworkFee | undefined {
    return this.#known.get(nameOfLanding(one));
  }

  /**
   * Begins to read those of these that were not asked for, where none is being read.
   * @throws what a reading has failed with, but for what upstreams lack: the books lack these fees then
   */
  begin(landings: readonly Seen[]): void {
    const failure = this.#failure;
    this.#failure = null;
    if (failure !== null) throw failure.error;
    const open = landings.filter((one) => this.#asked.get(nameOfLanding(one)) === undefined);
    const hashes = hashesOf(open);
    if (this.#isReading || hashes.length === 0) return;
    this.#isReading = true;
    for (const one of open) this.#asked.set(nameOfLanding(one), true);
    void this.#pool
      .run((node) => readFees(node, hashes, false), STEP_MS)
      .then(
        (found) => {
          for (const [name, fee] of found) this.#known.set(name, fee);
        },
        (error: unknown) => {
          if (!(error instanceof RpcUnavailableError || error instanceof RpcUpstreamError)) this.#failure = { error };
        },
      )
      .finally(() => (this.#isReading = false));
  }
}

/** What landings have cost, by what is known and what this node tells soon. One receipt for each of the others. */
export async function feesOf(
  node: RpcNode,
  landings: readonly Seen[],
  beside?: Fees,
): Promise<(one: Seen) => { readonly fee?: NetworkFee }> {
  const open = landings.filter((one) => beside?.of(one) === undefined);
  let found: Costs = new Map();
  try {
    found = await readFees(node, hashesOf(open), true);
  } catch (error) {
    // The books lack these fees then.
    if (!(error instanceof RpcUpstreamError)) throw error;
  }
  return (one) => {
    const fee = beside?.of(one) ?? found.get(nameOfLanding(one));
    return fee === undefined ? {} : { fee };
  };
}

async function readFees(node: RpcNode, hashes: readonly TransactionHash[], areSoon: boolean): Promise<Costs> {
  if (hashes.length === 0) return new Map();
  const calls = hashes.map((hash) => ifSupported(getReceipt(hash, () => false)));
  const receipts = await readEach(node, areSoon ? calls.map(soon) : calls, SPLITS, true);
  return new Map(
    receipts.flatMap((receipt): [string, NetworkFee][] => {
      if (receipt === null || receipt instanceof Unreadable) return [];
      const fee = feeIn(receipt);
      return fee === null ? [] : [[nameOf(receipt.transactionHash, receipt.blockHash), fee]];
    }),
  );
}
