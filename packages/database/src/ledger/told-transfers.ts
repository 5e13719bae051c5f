import type {
  AccountId,
  Address,
  ChainId,
  Instant,
  IntentId,
  Landing,
  PublicIntent,
  PublicPayment,
  TokenAddress,
  TransactionHash,
} from '@pf/domain';
import type { Database } from '../postgres/database.ts';
import { decodeDepositState, decodeStateOrNull } from './decoding.ts';
import { MISMATCH_STANDS, paidIn } from './withdrawn-mismatches.ts';

/** A transfer to a wallet that the ledger tells of, once for each intent or deposit that does. */
export interface ToldTransfer {
  readonly kind: 'settlement' | 'extra' | 'mismatched' | 'deposit';
  /** The intent, or the deposit. */
  readonly toldBy: string;
  readonly hash: TransactionHash;
  /** Its place among the transfers of the transaction, and its block or slot. Null: what is stored does not say. */
  readonly place: { readonly index: string; readonly block: bigint } | null;
  readonly tokenAddress: TokenAddress;
  /** Base units. */
  readonly amount: bigint;
  readonly from: Address | null;
  /** Only the one who submitted its hash says that it was for the intent. */
  readonly isClaimed: boolean;
  /** When it was told of; of settlements, when the intent has last changed. */
  readonly toldAt: Instant;
}

/** A wallet of a network. */
export interface NamedWallet {
  readonly chain: ChainId;
  readonly livemode: boolean;
  readonly wallet: Address;
}

/** Whose intents, or deposits, name a wallet, and since when: that of the oldest in the database. */
export async function accountsNaming(
  { scans }: Pick<Database, 'scans'>,
  { chain, livemode, wallet }: NamedWallet,
  accountId: AccountId | null,
): Promise<readonly { readonly accountId: AccountId; readonly since: Instant }[]> {
  const oldest = (table: string, column: string): string =>
    `(SELECT created_at FROM ${table} WHERE account_id = account.id AND livemode = $1 AND ${column} = $2
        AND chain = $3 ORDER BY created_at, id LIMIT 1)`;
  const { rows } = await scans.query<{ id: AccountId; since: Date }>(
    `SELECT account.id, naming.since FROM service.accounts AS account
      CROSS JOIN LATERAL (SELECT least(${oldest('ledger.intents', 'requestor')},
                                       ${oldest('ledger.deposits', 'recipient')}) AS since) AS naming
      WHERE naming.since IS NOT NULL AND ($4::text IS NULL OR account.id = $4) ORDER BY account.id`,
    [livemode, wallet, chain, accountId],
  );
  return rows.map(({ id, since }) => ({ accountId: id, since: since.getTime() }));
}

/** Rows that one query looks at. */
const ROWS_A_PAGE = 2_000;

interface Row {
  readonly id: string;
  readonly at: Date;
  /** Null: it was not changed since then. */
  readonly state: string | null;
}

/** Each with the account, the mode, the wallet and the chain as $1 to $4, and the time as $5. */
const TOLD: Readonly<Record<'intents' | 'deposits' | 'mismatched', { from: string; at: string; id: string }>> = {
  intents: {
    from: `SELECT id, created_at AS at, CASE WHEN updated_at >= $5 THEN state END AS state FROM ledger.intents
            WHERE account_id = $1 AND livemode = $2 AND requestor = $3 AND chain = $4`,
    at: 'created_at',
    id: 'id',
  },
  deposits: {
    from: `SELECT id, created_at AS at, document AS state FROM ledger.deposits
            WHERE account_id = $1 AND livemode = $2 AND recipient = $3 AND chain = $4 AND updated_at >= $5`,
    at: 'created_at',
    id: 'id',
  },
  mismatched: {
    from: `SELECT event_id AS id, at, body AS state FROM ledger.intent_events AS reported
            WHERE account_id = $1 AND livemode = $2 AND type = 'intent.mismatched_payment' AND at >= $5
              AND ${paidIn('reported', 'recipient')} = $3 AND body::jsonb #>> '{data,intent,chain}' = $4
              AND ${MISMATCH_STANDS}`,
    at: 'at',
    id: 'event_id',
  },
};

/** Each with the accounts, the mode, the wallet and the chain as $1 to $4, the time as $5, and the hashes as $6. */
const TOLD_OF: Readonly<Record<keyof typeof TOLD, string>> = {
  intents: `SELECT id, created_at AS at, state FROM ledger.intents
             WHERE tx_signature = ANY($6) AND livemode = $2 AND requestor = $3 AND chain = $4
            UNION
            SELECT intent.id, intent.created_at, intent.state FROM ledger.intent_events AS extra
              JOIN ledger.intents AS intent ON intent.id = extra.intent_id
             WHERE extra.account_id = ANY($1) AND extra.livemode = $2 AND extra.type = 'intent.extra_payment'
               AND extra.at >= $5 AND ${paidIn('extra', 'txSignature')} = ANY($6)
               AND intent.requestor = $3 AND intent.chain = $4`,
  deposits: `SELECT id, created_at AS at, document AS state FROM ledger.deposits
              WHERE tx_signature = ANY($6) AND account_id = ANY($1) AND livemode = $2 AND recipient = $3
                AND chain = $4 AND updated_at >= $5`,
  mismatched: `SELECT event_id AS id, at, body AS state FROM ledger.intent_events AS reported
                WHERE account_id = ANY($1) AND livemode = $2 AND type = 'intent.mismatched_payment' AND at >= $5
                  AND ${paidIn('reported', 'recipient')} = $3 AND ${paidIn('reported', 'txSignature')} = ANY($6)
                  AND body::jsonb #>> '{data,intent,chain}' = $4 AND ${MISMATCH_STANDS}`,
};

/**
 * Hands over what the ledger tells of an account's transfers to a wallet, page by page: settlements, extra, mismatched
 * payments, and deposits; not what was lost or withdrawn, nor what was simulated.
 * @param since what did not change since then is left out
 * @param take may throw, which ends it
 * @returns intents that cannot be decoded, because newer code wrote them or they are damaged
 */
export async function readToldTransfers(
  { scans }: Pick<Database, 'scans'>,
  accountId: AccountId,
  { chain, livemode, wallet }: NamedWallet,
  since: Instant,
  take: (page: readonly ToldTransfer[]) => void,
): Promise<readonly IntentId[]> {
  const unreadable: IntentId[] = [];
  for (const source of ['intents', 'deposits', 'mismatched'] as const) {
    const { from, at, id } = TOLD[source];
    for (let last: Row | undefined, isFirst = true; isFirst || last !== undefined; isFirst = false) {
      const { rows }: { rows: Row[] } = await scans.query<Row>(
        `${from} AND ($6::timestamptz IS NULL OR (${at}, ${id}) < ($6, $7))
          ORDER BY ${at} DESC, ${id} DESC LIMIT ${ROWS_A_PAGE}`,
        [accountId, livemode, wallet, chain, new Date(since), last?.at ?? null, last?.id ?? null],
      );
      take(
        rows.flatMap((row) => {
          const told = row.state === null ? [] : READ[source](row.id, row.state, wallet, row.at.getTime());
          if (told === null) unreadable.push(row.id as IntentId);
          return told ?? [];
        }),
      );
      last = rows.length === ROWS_A_PAGE ? rows.at(-1) : undefined;
    }
  }
  return unreadable;
}

/** Rows of each kind that tell of so few transactions: more are no wallet's that is looked at. */
const ROWS_OF_FEW = 5_000;

/**
 * What the ledger tells of a few transactions' transfers to a wallet, as readToldTransfers(), by their hashes: three
 * queries, whatever else the accounts have.
 * @param accountIds a few: of others' it tells settlements only
 * @param since what was told, and has not changed since then, may be left out
 * @throws RangeError where it is more than ROWS_OF_FEW of one kind
 */
export async function readToldOf(
  { scans }: Pick<Database, 'scans'>,
  { chain, livemode, wallet }: NamedWallet,
  accountIds: readonly AccountId[],
  since: Instant,
  hashes: readonly TransactionHash[],
): Promise<{ readonly told: readonly ToldTransfer[]; readonly unreadable: readonly IntentId[] }> {
  const told: ToldTransfer[] = [];
  const unreadable: IntentId[] = [];
  for (const source of ['intents', 'deposits', 'mismatched'] as const) {
    const { rows } = await scans.query<Row>(`${TOLD_OF[source]} LIMIT ${ROWS_OF_FEW + 1}`, [
      accountIds,
      livemode,
      wallet,
      chain,
      new Date(since),
      hashes,
    ]);
    if (rows.length > ROWS_OF_FEW) throw new RangeError(`more than ${ROWS_OF_FEW} ${source} tell of ${wallet}`);
    for (const { id, state, at } of rows) {
      const found = state === null ? [] : READ[source](id, state, wallet, at.getTime());
      if (found === null) unreadable.push(id as IntentId);
      else told.push(...found.filter(({ hash }) => hashes.includes(hash)));
    }
  }
  return { told, unreadable };
}

type Read = (id: string, state: string, wallet: Address, at: Instant) => readonly ToldTransfer[] | null;

const READ: Readonly<Record<keyof typeof TOLD, Read>> = {
  intents: (_id, state, wallet) => {
    const intent = decodeStateOrNull(state);
    if (intent === null || intent.heldFrom !== undefined) return null;
    const { settlement, simulated, extraPayments, updatedAt } = intent;
    const toldBy = (kind: ToldTransfer['kind'], { hash, transfer }: Landing): readonly ToldTransfer[] =>
      transfer.to === wallet
        ? [
            {
              kind,
              toldBy: intent.id,
              hash,
              place: { index: transfer.index, block: transfer.block },
              tokenAddress: transfer.tokenAddress,
              amount: transfer.amount,
              from: transfer.from,
              isClaimed: false,
              toldAt: updatedAt,
            },
          ]
        : [];
    const settles = settlement !== null && !settlement.lost && !simulated ? toldBy('settlement', settlement) : [];
    return [...settles, ...extraPayments.flatMap((one) => toldBy('extra', one))];
  },
  deposits: (id, state, _wallet, toldAt) => {
    const { arrival, level, state: made } = decodeDepositState(state);
    // The intent that it is assigned to tells of it.
    if (made === 'assigned') return [];
    if ((level !== 'confirmed' && level !== 'finalized') || arrival.tokenAddress === null) return [];
    const { hash, index, block, tokenAddress, amount, from } = arrival;
    const place = { index, block };
    return [{ kind: 'deposit', toldBy: id, hash, place, tokenAddress, amount, from, isClaimed: false, toldAt }];
  },
  mismatched: (_id, body, _wallet, toldAt) => {
    const { intent, payment } = (JSON.parse(body) as { data: Mismatched }).data;
    return [
      {
        kind: 'mismatched',
        toldBy: intent.id,
        hash: payment.txSignature,
        place: null,
        tokenAddress: payment.tokenAddress,
        amount: BigInt(payment.amountBaseUnits),
        from: payment.sender,
        isClaimed: payment.claimed === true,
        toldAt,
      },
    ];
  },
};

/** What the body of an event has that this service wrote. */
interface Mismatched {
  readonly intent: Pick<PublicIntent, 'id'>;
  readonly payment: PublicPayment;
}
