import type { Instant, TransactionHash } from '@pf/domain';
import type { RpcNode, RpcPool } from '@pf/rpc';
import { boundedCache } from '@pf/runtime';
import type { CallingTransaction, Logged } from '../../evm/calls.ts';
import { LateReads } from '../../late-reads.ts';
import { type Network } from '../../port.ts';
import { STEP_MS } from '../../networks.ts';
import { type Explanation, withTrace } from '../nested/explain.ts';
import { readTransfer } from './landings.ts';
import type { Judging } from './context.ts';
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
    for (const [hash, whole] of come) if (isUnread(whole)) reads.note(hash);
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
    return this.#pool.run(
      (node) =>
        readWhole({ pool: this.#pool, node, network: this.#network }, hash, block, (sent, logged) =>
          this.#traced.has(hash) ? this.#explain(node, sent, logged) : null,
        ),
      STEP_MS,
    );
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

/** Whether a part of it was not returned, so that no step asks for it. */
export const isUnread = ({ transaction, receipt, traced }: Whole): boolean =>
  (typeof transaction === 'string' && transaction !== NOT_FOUND) ||
  (typeof receipt === 'string' && receipt !== NO_RECEIPT) ||
  traced?.said === 'unreadable';

/**
 * Each part of a transaction, with all the time that a request has.
 * @param block where its logs are; null: not known
 * @param explain what made its transfers; null where that is not asked for
 */
export async function readWhole(
  of: Pick<Judging, 'pool' | 'node' | 'network'>,
  hash: TransactionHash,
  block: bigint | null,
  explain: (sent: CallingTransaction, logged: Logged) => Promise<Explanation> | null,
): Promise<Whole> {
  const [transaction = NOT_FOUND] = await readTransactions(of, [hash]);
  const [receipt = NO_RECEIPT] = await readReceipts(of, [hash]);
  const found = typeof receipt === 'string' && block !== null ? await readLoggedIn(of, hash, block) : null;
  const logged = found ?? receipt;
  const whole = { by: of.node.name, transaction, receipt, logged };
  if (typeof transaction === 'string' || typeof logged === 'string') return whole;
  const traced = await explain(transaction, logged);
  return traced === null ? whole : { ...whole, traced };
}
