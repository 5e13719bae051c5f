import {
  type AccountId,
  type Address,
  BLOCKS_BEHIND_MS,
  type ChainId,
  type DepositId,
  type Instant,
  type IntentId,
  type PaymentIntent,
  type TokenAddress,
} from '@pf/domain';
import type pg from 'pg';
import { advisoryLock } from '../postgres/advisory-lock.ts';
import { type Database, inTransaction } from '../postgres/database.ts';
import type { DeliverableEvent } from '../webhooks/news.ts';

/** An amount that is to be reserved for an intent, which need not exist yet. */
export interface WantedAmount {
  readonly intentId: IntentId;
  readonly accountId: AccountId;
  readonly livemode: boolean;
  readonly chain: ChainId;
  readonly tokenAddress: TokenAddress;
  readonly recipient: Address;
  /** Base units; what is reserved is more than this. */
  readonly asked: bigint;
  /** Base units: the least that may be added, and the step between two. */
  readonly step: bigint;
  /** The most that may be added. */
  readonly max: bigint;
  /** More than `max`; no multiple of it is reserved. */
  readonly round: bigint;
  /** What the chain has from before is not for this intent. */
  readonly at: Instant;
  readonly until: Instant;
}

/** A deposit of exactly the amount that is reserved for an intent. */
export interface AmountMatch {
  readonly intentId: IntentId;
  readonly depositId: DepositId;
  /** That of the event which has told of the deposit. */
  readonly depositVersion: number;
  readonly accountId: AccountId;
  readonly livemode: boolean;
  /** How often it was taken, this time included. */
  readonly tries: number;
  /** Another account has reserved the same amount for the wallet before, so the transfer may be for that one. */
  readonly isSecond: boolean;
}

/** A match that was taken is due again after this, doubled with each time it was taken: who took it may have ended. */
const AGAIN_MS = 15_000;
const DOUBLED_MAX = 6;
/** Reservations of other accounts that are looked at: there may be any number of accounts. */
const OTHERS_MAX = 20_000;
/** Intents of the account in the token that are looked at, the newest first: an account may have any number. */
const RECENT_MAX = 100_000;

/** The deposit gives way to the next of the amount, or to none. @param dueAt when that is to be assigned */
const TAKES_NEXT = (dueAt: string): string =>
  `due_at = CASE WHEN next_deposit_id IS NOT NULL THEN ${dueAt} END, tries = 0,
   deposit_id = next_deposit_id, deposit_version = next_deposit_version,
   next_deposit_id = NULL, next_deposit_version = NULL`;

/** ReservedAmounts.reserve in Postgres. */
export function reserveAmount(database: Database, wanted: WantedAmount): Promise<bigint | null> {
  const { intentId, accountId, livemode, chain, tokenAddress, recipient, asked, step, max, round, at, until } = wanted;
  const of = [accountId, livemode, chain, tokenAddress, recipient] as const;
  return inTransaction(database, async (client) => {
    // Of two at once both would find the same amount free.
    await client.query(advisoryLock('reserved_amounts', JSON.stringify([chain, tokenAddress, recipient])));
    const { rows } = await client.query<{ amount: string }>({
      name: 'reserve-amount',
      // The smallest free one is the first of all, or follows one that is taken. The round one of them is as if taken.
      text: `WITH own AS (
               SELECT amount_base_units AS amount FROM service.reserved_amounts WHERE intent_id = $1
             ), mine AS (
               SELECT amount_base_units AS amount FROM service.reserved_amounts
                WHERE account_id = $2 AND livemode = $3 AND chain = $4 AND token_address = $5 AND recipient = $6
                  AND amount_base_units BETWEEN $7::numeric + $8::numeric AND $7::numeric + $9::numeric
               UNION ALL SELECT div($7::numeric + $9::numeric, $12::numeric) * $12::numeric
             ), others AS (
               SELECT amount_base_units AS amount FROM service.reserved_amounts
                WHERE account_id <> $2 AND chain = $4 AND token_address = $5 AND recipient = $6
                  AND amount_base_units BETWEEN $7::numeric + $8::numeric AND $7::numeric + $9::numeric
                ORDER BY amount_base_units LIMIT ${OTHERS_MAX}
             ), taken AS (
               SELECT amount FROM mine UNION SELECT amount FROM others
             ), candidates AS (
               SELECT $7::numeric + $8::numeric AS amount
               UNION ALL
               SELECT amount + $8::numeric FROM taken
                WHERE (amount - $7::numeric) % $8::numeric = 0 AND amount >= $7::numeric
                  AND amount < $7::numeric + $9::numeric
             ), made AS (
               INSERT INTO service.reserved_amounts
                 (intent_id, account_id, livemode, chain, token_address, recipient, amount_base_units, reserved_at,
                  until)
               SELECT $1, $2, $3, $4, $5, $6, amount, $10, $11
                 FROM (SELECT coalesce(min(amount) FILTER (WHERE amount NOT IN (SELECT amount FROM taken)),
                                       min(amount) FILTER (WHERE amount NOT IN (SELECT amount FROM mine)))
                              AS amount FROM candidates) AS free
                WHERE amount IS NOT NULL AND NOT EXISTS (SELECT FROM own)
               RETURNING amount_base_units AS amount
             )
             SELECT amount::text AS amount FROM own UNION ALL SELECT amount::text FROM made`,
      values: [intentId, ...of, String(asked), String(step), String(max), new Date(at), new Date(until), String(round)],
    });
    return rows[0] === undefined ? null : BigInt(rows[0].amount);
  });
}

/** ReservedAmounts.release in Postgres. */
export async function releaseAmount({ sql }: Database, intentId: IntentId): Promise<void> {
  await sql.query('DELETE FROM service.reserved_amounts WHERE intent_id = $1', [intentId]);
}

/** ReservedAmounts.takeDue in Postgres. */
export async function takeDueMatches({ sql }: Database, now: Instant, limit: number): Promise<readonly AmountMatch[]> {
  const { rows } = await sql.query<AmountMatch>({
    name: 'matches-due',
    text: `UPDATE service.reserved_amounts AS mine SET tries = tries + 1,
                  due_at = $1::timestamptz + $3::interval * power(2, least(tries, $4))
            WHERE intent_id IN (SELECT intent_id FROM service.reserved_amounts WHERE due_at <= $1
                                 ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED)
        RETURNING intent_id AS "intentId", deposit_id AS "depositId", deposit_version AS "depositVersion",
                  account_id AS "accountId", livemode, tries,
                  EXISTS (SELECT FROM service.reserved_amounts AS other
                           WHERE other.chain = mine.chain AND other.token_address = mine.token_address
                             AND other.recipient = mine.recipient
                             AND other.amount_base_units = mine.amount_base_units
                             AND other.account_id <> mine.account_id AND other.until > $1
                             AND (other.reserved_at, other.intent_id) < (mine.reserved_at, mine.intent_id))
                  AS "isSecond"`,
    values: [new Date(now), limit, `${AGAIN_MS} ms`, DOUBLED_MAX],
  });
  return rows;
}

/** ReservedAmounts.settle in Postgres. */
export async function settleMatch(
  { sql }: Database,
  { intentId, depositId }: Pick<AmountMatch, 'intentId' | 'depositId'>,
  isAssigned: boolean,
): Promise<void> {
  await sql.query(
    isAssigned
      ? 'UPDATE service.reserved_amounts SET due_at = NULL, tries = 0 WHERE intent_id = $1 AND deposit_id = $2'
      : `UPDATE service.reserved_amounts SET ${TAKES_NEXT('due_at')} WHERE intent_id = $1 AND deposit_id = $2`,
    [intentId, depositId],
  );
}

/** ReservedAmounts.postpone in Postgres. */
export async function postponeMatch(
  { sql }: Database,
  { intentId, depositId }: Pick<AmountMatch, 'intentId' | 'depositId'>,
  until: Instant,
): Promise<void> {
  await sql.query(
    'UPDATE service.reserved_amounts SET due_at = $3 WHERE intent_id = $1 AND deposit_id = $2 AND due_at IS NOT NULL',
    [intentId, depositId, new Date(until)],
  );
}

/** ReservedAmounts.hasRival in Postgres. */
export async function hasRival({ sql }: Database, intent: PaymentIntent, closedAfter: Instant): Promise<boolean> {
  const { rowCount } = await sql.query({ name: 'rivals-of-amount', ...rivalStatement(intent, closedAfter) });
  return rowCount === 1;
}

type Rivalled = Pick<
  PaymentIntent,
  'id' | 'accountId' | 'livemode' | 'chain' | 'tokenAddress' | 'requestor' | 'amountBaseUnits'
>;

/** The statement of hasRival: intents_summed has all that it needs but the rows of the same amount. */
export function rivalStatement(
  { id, accountId, livemode, chain, tokenAddress, requestor, amountBaseUnits }: Rivalled,
  closedAfter: Instant,
): { readonly text: string; readonly values: unknown[] } {
  return {
    text: `SELECT FROM (
             SELECT id, status, amount_base_units FROM ledger.intents
              WHERE account_id = $1 AND livemode = $2 AND token_address = $3
              ORDER BY created_at DESC, id DESC LIMIT ${RECENT_MAX}) AS recent
             CROSS JOIN LATERAL (
               SELECT FROM ledger.intents WHERE id = recent.id AND chain = $4 AND requestor = $5
                  AND (closed_at IS NULL OR closed_at > $8) LIMIT 1) AS alike
            WHERE amount_base_units = $6 AND id <> $7 AND status NOT IN ('confirmed', 'finalized')
            LIMIT 1`,
    values: [accountId, livemode, tokenAddress, chain, requestor, String(amountBaseUnits), id, new Date(closedAfter)],
  };
}

/**
 * Marks the amounts that these events of the log show as paid, in the transaction that moves the position in the log.
 * An amount that a deposit has paid, or may have, is not paid by another; nor by what its block has from well before it
 * was reserved (BLOCKS_BEHIND_MS).
 *
 * Of a deposit that a reorg has undone the amount is free again: on EVM chains the same transfer lands as another
 * deposit, as its place in the block is another one. Either may be told of first, as they are in different partitions,
 * so the first other deposit of the amount is kept as the next one.
 */
export async function followArrivals(
  client: pg.PoolClient,
  events: readonly DeliverableEvent[],
  at: Date,
): Promise<void> {
  await followLosses(client, events, at);
  const found = events.flatMap(({ plainArrival, ...event }) => (plainArrival ? [{ ...event, ...plainArrival }] : []));
  // What was undone and has landed again within these events is there once.
  const plain = [...new Map(found.map((arrival) => [arrival.intentId, arrival])).values()];
  if (plain.length === 0) return;
  await client.query({
    name: 'follow-arrivals',
    text: `WITH arrived AS (
             SELECT r.intent_id, array_agg(n.deposit_id ORDER BY n.place) AS ids,
                    array_agg(n.version ORDER BY n.place) AS versions
               FROM unnest($1::text[], $2::int[], $3::text[], $4::boolean[], $5::text[], $6::text[], $7::text[],
                           $8::numeric[], $9::timestamptz[])
                    WITH ORDINALITY
                    AS n (deposit_id, version, account_id, livemode, chain, token, recipient, amount, at, place)
               JOIN service.reserved_amounts r
                 ON r.account_id = n.account_id AND r.livemode = n.livemode AND r.chain = n.chain
                AND r.token_address = n.token AND r.recipient = n.recipient AND r.amount_base_units = n.amount
              WHERE r.next_deposit_id IS NULL AND r.deposit_id IS DISTINCT FROM n.deposit_id
                AND n.at >= r.reserved_at - ${BLOCKS_BEHIND_MS} * interval '1 ms' AND n.at < r.until
              GROUP BY r.intent_id)
           UPDATE service.reserved_amounts r
              SET deposit_id = coalesce(r.deposit_id, a.ids[1]),
                  deposit_version = CASE WHEN r.deposit_id IS NULL THEN a.versions[1] ELSE r.deposit_version END,
                  due_at = CASE WHEN r.deposit_id IS NULL THEN $10 ELSE r.due_at END,
                  tries = CASE WHEN r.deposit_id IS NULL THEN 0 ELSE r.tries END,
                  next_deposit_id = a.ids[CASE WHEN r.deposit_id IS NULL THEN 2 ELSE 1 END],
                  next_deposit_version = a.versions[CASE WHEN r.deposit_id IS NULL THEN 2 ELSE 1 END]
             FROM arrived a WHERE r.intent_id = a.intent_id AND r.next_deposit_id IS NULL`,
    values: [
      plain.map(({ intentId }) => intentId),
      plain.map(({ version }) => version),
      plain.map(({ accountId }) => accountId),
      plain.map(({ livemode }) => livemode),
      plain.map(({ chain }) => chain),
      plain.map(({ tokenAddress }) => tokenAddress),
      plain.map(({ recipient }) => recipient),
      plain.map(({ amountBaseUnits }) => amountBaseUnits),
      plain.map(({ at: seen }) => new Date(seen)),
      at,
    ],
  });
}

/** The next deposit of the amount takes the place of one that a reorg has undone. */
async function followLosses(client: pg.PoolClient, events: readonly DeliverableEvent[], at: Date): Promise<void> {
  const lost = events.filter(({ eventType }) => eventType === 'deposit.lost').map(({ intentId }) => intentId);
  if (lost.length === 0) return;
  await client.query({
    name: 'follow-losses-of-next',
    text: `UPDATE service.reserved_amounts SET next_deposit_id = NULL, next_deposit_version = NULL
            WHERE next_deposit_id = ANY($1)`,
    values: [lost],
  });
  await client.query({
    name: 'follow-losses',
    text: `UPDATE service.reserved_amounts SET ${TAKES_NEXT('$2::timestamptz')} WHERE deposit_id = ANY($1)`,
    values: [lost, at],
  });
}

/**
 * Deletes reservations that have ended before a time, the oldest first, at most `limit`. Several processes may do so at
 * once.
 * @returns the number deleted: fewer than `limit` if none are left
 */
export async function forgetReservedAmounts({ sql }: Database, before: Date, limit: number): Promise<number> {
  const { rowCount } = await sql.query(
    `DELETE FROM service.reserved_amounts WHERE intent_id IN
       (SELECT intent_id FROM service.reserved_amounts WHERE until < $1
         ORDER BY until LIMIT $2 FOR UPDATE SKIP LOCKED)`,
    [before, limit],
  );
  return rowCount ?? 0;
}
