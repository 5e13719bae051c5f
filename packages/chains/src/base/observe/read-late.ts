import type { Instant, TransactionHash } from '@pf/domain';
import type { RpcNode, RpcPool } from '@pf/rpc';
import { boundedCache } from '@pf/runtime';
import type { CallingTransaction, Logged } from '../../evm/calls.ts';
import { LateReads } from '../../late-reads.ts';
import { type Network } from '../../port.ts';
import { STEP_MS } from '../../networks.ts';
import { type Explanation, withTrace } from '../nested/explain.ts';
import { readTransfer } from './landings.ts';
import type { LateTransactions, Whole } from './late.ts';
import { NO_RECEIPT, readLoggedIn, readReceipts } from './receipts.ts';
import { NOT_FOUND, readTransactions } from './transactions.ts';

/** Of so many it is known that their traces take long. */
const TRACED_MAX = 2_000;

/** Reads transactions beside the steps of one observer, with all the time that a request has. */
export class LateReader {
  readonly #pool: RpcPool;
  readonly #network: Network;
  readonly #reads: LateReads<Whole>;
  readonly #traced = boundedCache<TransactionHash, true>(TRACED_MAX);

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
    for (const [hash, { transaction, receipt, traced }] of come)
      if (isUnread(transaction, NOT_FOUND) || isUnread(receipt, NO_RECEIPT) || traced?.said === 'unreadable')
        reads.note(hash);
    return {
      reads,
      come,
      begin: (hash, block, isTraced = false) => {
        reads.note(hash);
        if (isTraced) this.#traced.set(hash, true);
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
      const whole = { by: node.name, transaction, receipt, logged: logged ?? receipt };
      const { logged: shown } = whole;
      if (!this.#traced.has(hash) || typeof transaction === 'string' || typeof shown === 'string') return whole;
      return { ...whole, traced: await this.#explain(node, transaction, shown) };
    }, STEP_MS);
  }

  /** The other upstreams are asked first: a step has waited for the one that comes first there. */
  #explain(node: RpcNode, sent: CallingTransaction, { logs }: Logged): Promise<Explanation> {
    const [pool, network] = [this.#pool, this.#network];
    const attempts: RpcPool['attempts'] = async function* (work) {
      yield* pool.onOthers(node, work);
      yield { kind: 'completed', value: await work(node) };
    };
    const transfers = logs.flatMap((log) => readTransfer(log) ?? []);
    return withTrace({ attempts }, { hash: sent.hash, sent, logs, network }, transfers);
  }
}

const isUnread = (part: unknown, none: string): boolean => typeof part === 'string' && part !== none;
