import type { Instant, TransactionHash } from '@pf/domain';
import type { RpcPool } from '@pf/rpc';
import { LateReads } from '../../late-reads.ts';
import { type Network } from '../../port.ts';
import { STEP_MS } from '../../networks.ts';
import type { LateTransactions, Whole } from './late.ts';
import { NO_RECEIPT, readLoggedIn, readReceipts } from './receipts.ts';
import { NOT_FOUND, readTransactions } from './transactions.ts';

/** Reads transactions beside the steps of one observer, with all the time that a request has. */
export class LateReader {
  readonly #pool: RpcPool;
  readonly #network: Network;
  readonly #reads: LateReads<Whole>;

  /** @param now our clock */
  constructor(pool: RpcPool, network: Network, now: () => Instant) {
    this.#pool = pool;
    this.#network = network;
    this.#reads = new LateReads(now);
  }

  /** The chain has changed: of what is being read nothing is used. */
  forget(): void {
    this.#reads.forget();
  }

  /** For one step. */
  collect(): LateTransactions {
    const reads = this.#reads;
    const come = reads.collect();
    // What did not come this time either is not asked for by a step.
    for (const [hash, { transaction, receipt }] of come)
      if (isUnread(transaction, NOT_FOUND) || isUnread(receipt, NO_RECEIPT)) reads.note(hash);
    return {
      reads,
      come,
      begin: (hash, block) => {
        reads.note(hash);
        return reads.begin(hash, (one) => this.#read(one, block));
      },
    };
  }

  #read(hash: TransactionHash, block: bigint | null): Promise<Whole> {
    return this.#pool.run(async (node) => {
      const of = { pool: this.#pool, node, network: this.#network };
      const [transaction = NOT_FOUND] = await readTransactions(of, [hash]);
      const [receipt = NO_RECEIPT] = await readReceipts(of, [hash]);
      const logged = typeof receipt === 'string' && block !== null ? await readLoggedIn(of, hash, block) : null;
      return { by: node.name, transaction, receipt, logged: logged ?? receipt };
    }, STEP_MS);
  }
}

const isUnread = (part: unknown, none: string): boolean => typeof part === 'string' && part !== none;
