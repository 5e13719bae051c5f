import { findKeyHolder, openDatabase } from '@pf/database';
import { plainService, type PlainStore, preparePlainTable } from './plain-service.ts';

/** Express + pg: prepared statements on a pool, nothing in between. */
const database = openDatabase({
  url: process.env['DATABASE_URL'] ?? '',
  applicationName: 'plain-pg',
  maxConnections: 16,
});
await preparePlainTable(database);

const store: PlainStore = {
  findKey: (hash) => findKeyHolder(database, hash),
  async insert(intent) {
    const { rowCount } = await database.sql.query({
      name: 'insert',
      text: `INSERT INTO ledger.intents (id, partition, version, account_id, livemode, idempotency_key, status, chain,
               token, token_address, amount_base_units, requestor, direction, reference, created_at, updated_at,
               expires_at, state)
             VALUES ($1, 0, 1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13, $14, $15)
             ON CONFLICT (account_id, livemode, idempotency_key) DO NOTHING`,
      values: [
        intent.id,
        intent.accountId,
        intent.livemode,
        intent.idempotencyKey,
        intent.status,
        intent.chain,
        intent.token,
        intent.tokenAddress,
        intent.amountBaseUnits,
        intent.requestor,
        intent.direction,
        intent.reference,
        intent.createdAt,
        intent.expiresAt,
        intent.state,
      ],
    });
    return rowCount === 1 ? 'inserted' : 'duplicate';
  },
  async findByKey(holder, idempotencyKey) {
    const { rows } = await database.sql.query<{ state: string }>({
      name: 'by-key',
      text: 'SELECT state FROM ledger.intents WHERE account_id = $1 AND livemode = $2 AND idempotency_key = $3',
      values: [holder.accountId, holder.livemode, idempotencyKey],
    });
    return rows[0] ?? null;
  },
  async find(holder, id) {
    const { rows } = await database.sql.query<{ state: string }>({
      name: 'by-id',
      text: 'SELECT state FROM ledger.intents WHERE id = $1 AND account_id = $2 AND livemode = $3',
      values: [id, holder.accountId, holder.livemode],
    });
    return rows[0] ?? null;
  },
  async list(holder, limit) {
    const { rows } = await database.sql.query<{ state: string }>({
      name: 'newest',
      text: `SELECT state FROM ledger.intents WHERE account_id = $1 AND livemode = $2
             ORDER BY created_at DESC, id DESC LIMIT $3`,
      values: [holder.accountId, holder.livemode, limit],
    });
    return rows;
  },
};
plainService(store).listen(Number(process.env['PORT']), '127.0.0.1');
