import type { AccountId, Address, ChainId, IntentId, TransactionHash } from '@pf/domain';
import type { Database } from '../postgres/database.ts';

/** A payment that was not submitted through the API, so its sender has not been screened. */
export interface UnscreenedPayment {
  readonly chain: ChainId;
  readonly hash: TransactionHash;
  readonly sender: Address;
  /** The intent that it pays. */
  readonly intentId: IntentId;
}

/** With the owner of the intent; null where it is not known. */
export interface NotedPayment extends UnscreenedPayment {
  readonly accountId: AccountId | null;
  readonly livemode: boolean | null;
}

/** A payment from a sanctioned sender. `finding` is the screening's result, for the operator only. */
export interface FlaggedPayment extends UnscreenedPayment {
  readonly seenAt: Date;
  readonly flaggedAt: Date;
  readonly finding: unknown;
}

const WHICH = 'chain = $1 AND hash = $2 AND sender = $3 AND intent_id = $4';
const idOf = ({ chain, hash, sender, intentId }: UnscreenedPayment): readonly string[] => [
  chain,
  hash,
  sender,
  intentId,
];

/**
 * The payments whose senders are to be screened, and those whose senders are sanctioned. They are not in the ledger.
 * The account sees those of its intents that are flagged, without the finding.
 */
export class UnscreenedPayments {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Adds payments to be screened; known ones are left as they are. */
  async note(payments: readonly NotedPayment[]): Promise<void> {
    if (payments.length === 0) return;
    await this.#database.sql.query(
      `INSERT INTO service.unasked_payments (chain, hash, sender, intent_id, account_id, livemode) SELECT *
        FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::boolean[]) ON CONFLICT DO NOTHING`,
      [
        payments.map(({ chain }) => chain),
        payments.map(({ hash }) => hash),
        payments.map(({ sender }) => sender),
        payments.map(({ intentId }) => intentId),
        payments.map(({ accountId }) => accountId),
        payments.map(({ livemode }) => livemode),
      ],
    );
  }

  /** The payments of these networks that are not screened yet, oldest first, at most `limit`. */
  async waiting(chains: readonly ChainId[], limit: number): Promise<readonly NotedPayment[]> {
    const { rows } = await this.#database.sql.query<NotedPayment>(
      `SELECT chain, hash, sender, intent_id AS "intentId", account_id AS "accountId", livemode
        FROM service.unasked_payments WHERE chain = ANY($1) AND flagged_at IS NULL ORDER BY seen_at LIMIT $2`,
      [chains, limit],
    );
    return rows;
  }

  /** Deletes a payment whose sender is clean. */
  async clear(payment: UnscreenedPayment): Promise<void> {
    await this.#database.sql.query(`DELETE FROM service.unasked_payments WHERE ${WHICH} AND flagged_at IS NULL`, [
      ...idOf(payment),
    ]);
  }

  /**
   * Flags a payment whose sender is sanctioned.
   * @returns false if it was flagged before
   */
  async flag(payment: UnscreenedPayment, finding: object): Promise<boolean> {
    const { rowCount } = await this.#database.sql.query(
      `UPDATE service.unasked_payments SET flagged_at = now(), finding = $5 WHERE ${WHICH} AND flagged_at IS NULL`,
      [...idOf(payment), JSON.stringify(finding)],
    );
    return rowCount === 1;
  }

  /** All flagged payments, newest first. */
  async flagged(): Promise<readonly FlaggedPayment[]> {
    const { rows } = await this.#database.sql.query<FlaggedPayment>(
      `SELECT chain, hash, sender, intent_id AS "intentId", seen_at AS "seenAt", flagged_at AS "flaggedAt", finding
       FROM service.unasked_payments WHERE flagged_at IS NOT NULL ORDER BY flagged_at DESC`,
    );
    return rows;
  }
}
