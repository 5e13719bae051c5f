import type { AccountId, Address, ChainId, Instant } from '@pf/domain';
import type { Database } from '../postgres/database.ts';
import { ofShard, type Shard } from './shards.ts';

/** A wallet that intents of an account have named: money that comes to it is looked for after they have ended. */
export interface WatchedWallet {
  readonly chain: ChainId;
  readonly recipient: Address;
  readonly accountId: AccountId;
  /** When the first of these intents had ended, as far as that is known. */
  readonly since: Instant;
  readonly until: Instant;
}

/** Rows of one statement: there may be a million. */
const ROWS_AT_ONCE = 2_000;

/** WatchedIntentSource.wallets in Postgres. */
export async function loadWatchedWallets(
  { sql }: Database,
  chains: readonly ChainId[],
  after: Instant,
  shard: Shard,
  each: (wallet: WatchedWallet) => void,
): Promise<void> {
  type Row = Omit<WatchedWallet, 'since' | 'until'> & { readonly since: Date; readonly until: Date };
  for (const chain of chains)
    for (let last: Row | undefined, isFirst = true; isFirst || last !== undefined; isFirst = false) {
      const { rows }: { rows: Row[] } = await sql.query<Row>(
        `SELECT chain, recipient, account_id AS "accountId", since, until FROM service.watched_wallets
          WHERE chain = $1 AND (recipient, account_id) > ($5, $6) AND until > $2 AND ${ofShard('recipient', '$3', '$4')}
          ORDER BY recipient, account_id LIMIT ${ROWS_AT_ONCE}`,
        [chain, new Date(after), shard.index, shard.count, last?.recipient ?? '', last?.accountId ?? ''],
      );
      for (const { since, until, ...wallet } of rows)
        each({ ...wallet, since: since.getTime(), until: until.getTime() });
      last = rows.length === ROWS_AT_ONCE ? rows.at(-1) : undefined;
    }
}

/** WatchedIntentSource.keepWallets in Postgres. */
export async function keepWatchedWallets({ sql }: Database, wallets: readonly WatchedWallet[]): Promise<void> {
  if (wallets.length === 0) return;
  // In one order, so that watchers that keep the same ones never wait for each other in a circle.
  await sql.query(
    `INSERT INTO service.watched_wallets AS kept (chain, recipient, account_id, since, until)
       SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[])
         AS one (chain, recipient, account_id, since, until) ORDER BY chain, recipient, account_id
     ON CONFLICT (chain, recipient, account_id) DO UPDATE
       SET since = least(kept.since, excluded.since), until = greatest(kept.until, excluded.until)`,
    [
      wallets.map(({ chain }) => chain),
      wallets.map(({ recipient }) => recipient),
      wallets.map(({ accountId }) => accountId),
      wallets.map(({ since }) => new Date(since)),
      wallets.map(({ until }) => new Date(until)),
    ],
  );
}

/** WatchedIntentSource.forgetWallets in Postgres: so many at most, the next time more. */
export async function forgetWatchedWallets(
  { sql }: Database,
  chains: readonly ChainId[],
  before: Instant,
): Promise<void> {
  await sql.query(
    `DELETE FROM service.watched_wallets AS gone USING (
       SELECT chain, recipient, account_id FROM service.watched_wallets
        WHERE chain = ANY($1) AND until < $2 LIMIT ${ROWS_AT_ONCE}) AS old
      WHERE (gone.chain, gone.recipient, gone.account_id) = (old.chain, old.recipient, old.account_id)
        AND gone.until < $2`,
    [chains, new Date(before)],
  );
}
