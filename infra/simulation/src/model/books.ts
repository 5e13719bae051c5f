import type { Deposit, Landing, PaymentIntent } from '@pf/domain';
import type { StandingTransfer } from '@pf/simulation/chain';
import { InvariantError } from './invariants.ts';
import { isPaid, standingReports, type Told } from './reports.ts';

/** What the service says about one transfer that has arrived, and in which intent or deposit. */
interface Entry {
  readonly holder: string;
  readonly hash: string;
  /** Base units. */
  readonly amount: bigint;
  /** Whether the service says so of a transaction that has to stand on the chain: reports are not taken back. */
  readonly isFirm: boolean;
}

export const isCounting = ({ level }: Deposit): boolean => level === 'confirmed' || level === 'finalized';

const entryOf = (holder: string, { hash, transfer }: Landing, isFirm: boolean): Entry => ({
  holder,
  hash,
  amount: transfer.amount,
  isFirm,
});

/** What settles intents and what came beside that. @throws InvariantError where one transfer does both */
function paidIn(intent: PaymentIntent): readonly Entry[] {
  const settlement = isPaid(intent) ? intent.settlement : null;
  if (settlement !== null && intent.extraPayments.some((extra) => extra.hash === settlement.hash))
    throw new InvariantError(
      'an intent is settled once',
      `${intent.id} counts ${settlement.hash} as its payment and as an extra one`,
    );
  return [
    ...(settlement === null ? [] : [entryOf(intent.id, settlement, true)]),
    ...intent.extraPayments.map((extra) => entryOf(intent.id, extra, false)),
  ];
}

/** A transfer that a reorg has put elsewhere may be told twice, of one intent: it is in the books once. */
const once = (entries: readonly Entry[]): readonly Entry[] => [
  ...new Map(entries.map((one) => [`${one.holder} ${one.hash}`, one])).values(),
];

/**
 * Compares what the service says of the money that has come to these wallets with the chain. Each transaction moves
 * money to one of them once at most: that no adversary sends any is up to the caller.
 * @param standing the transfers on the chain
 * @param recipients wallets that intents name
 * @throws InvariantError where a transfer is in no book, in several, or with another amount, and where a book has one
 *   that is not on the chain
 */
export function checkBooks(books: Told, standing: readonly StandingTransfer[], recipients: ReadonlySet<string>): void {
  const unassigned = [...books.deposits.values()]
    .filter((deposit) => isCounting(deposit) && deposit.state !== 'assigned' && recipients.has(deposit.arrival.to))
    .map(({ id, arrival: { hash, amount } }): Entry => ({ holder: id, hash, amount, isFirm: true }));
  const paid = [...books.intents].filter(({ requestor }) => recipients.has(requestor)).flatMap(paidIn);
  const mismatched = standingReports(books).map(({ intentId, landing }) => entryOf(intentId, landing, false));
  const byHash = Map.groupBy(once([...paid, ...mismatched, ...unassigned]), ({ hash }) => hash);
  for (const { hash, to, amount } of standing) {
    if (!recipients.has(to)) continue;
    const entries = byHash.get(hash) ?? [];
    byHash.delete(hash);
    const sum = entries.reduce((total, one) => total + one.amount, 0n);
    const holders = entries.map(({ holder }) => holder).join(', ');
    if (entries.length === 1 && sum === amount) continue;
    throw new InvariantError(
      entries.length > 1 ? 'a deposit pays one intent' : 'the books have what arrived',
      `${amount} of ${hash} arrived, and the books have ${sum} of it: ${holders}`,
    );
  }
  for (const { holder, hash, isFirm, amount } of [...byHash.values()].flat())
    if (isFirm)
      throw new InvariantError(
        'the books have what arrived',
        `${holder} has ${amount} of ${hash}, which is not on the chain`,
      );
}
