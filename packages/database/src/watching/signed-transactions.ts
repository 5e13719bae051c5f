import type { ChainId, Instant, IntentId, TransactionHash } from '@pf/domain';
import type { Database } from '../postgres/database.ts';
import { ofShard, type Shard } from './shards.ts';

/** A signed transaction as it is broadcast. Never log it. */
export interface StoredTransaction {
  readonly intentId: IntentId;
  readonly chain: ChainId;
  readonly hash: TransactionHash;
  readonly bytes: Uint8Array;
}

/** SignedTransactions in Postgres. */
export class SqlSignedTransactions {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async keep({ intentId, chain, hash, bytes }: StoredTransaction): Promise<void> {
    await this.#database.sql.query(
      `INSERT INTO service.signed_transactions (intent_id, hash, chain, bytes)
        VALUES ($1, $2, $3, $4)
       ON CONFLICT (intent_id, hash) DO UPDATE SET created_at = now()`,
      [intentId, hash, chain, Buffer.from(bytes)],
    );
  }

  async find(chain: ChainId, hashes: readonly TransactionHash[]): Promise<ReadonlyMap<TransactionHash, Uint8Array>> {
    const { rows } = await this.#database.sql.query<{ hash: TransactionHash; bytes: Buffer }>(
      'SELECT DISTINCT ON (hash) hash, bytes FROM service.signed_transactions WHERE chain = $1 AND hash = ANY($2)',
      [chain, hashes],
    );
    return new Map(rows.map(({ hash, bytes }) => [hash, bytes]));
  }

  async forget(
    chain: ChainId,
    shard: Shard,
    keptBefore: Instant,
    needed: readonly TransactionHash[],
    unknown: readonly IntentId[],
  ): Promise<number> {
    const { rowCount } = await this.#database.sql.query(
      `DELETE FROM service.signed_transactions
        WHERE chain = $1 AND created_at < $2 AND hash <> ALL($3) AND intent_id <> ALL($4)
          AND ($6::int = 1 OR EXISTS (
            SELECT FROM ledger.intents AS intent
              WHERE intent.id = intent_id AND ${ofShard('intent.requestor', '$5', '$6')}))`,
      [chain, new Date(keptBefore), needed, unknown, shard.index, shard.count],
    );
    return rowCount ?? 0;
  }
}
