/** A transfer into an account of a requestor. Amounts are base units. */
export interface Credit {
  readonly amount: bigint;
  /** True where it names an intent; any other uses up the gain, and pays for nothing. */
  readonly isClaimed: boolean;
}

/** All that moved one token of one requestor in one transaction. */
export interface Movements<C extends Credit> {
  /** Every transfer into the requestor's accounts from accounts that are not the requestor's. */
  readonly credits: readonly C[];
  /** The sum of the transfers out of them, in base units. */
  readonly debited: bigint;
  /** What the accounts hold more after the transaction than before it; below zero where they hold less. */
  readonly gained: bigint;
}

/**
 * What each claimed credit of a transaction is worth, in base units: together never more than the requestor has gained.
 * What other transfers brought, and what nothing explains, belongs to others, so it is taken off first. Where less is
 * left than was claimed (a fee that the token withholds, money that went on), each bears its part.
 *
 * This is the guard behind every payment: instructions and calldata are written by whoever pays, balances by the chain.
 */
export function worthOf<C extends Credit>({ credits, debited, gained }: Movements<C>): ReadonlyMap<C, bigint> {
  const claimed = credits.filter(({ isClaimed }) => isClaimed);
  const sumOf = (all: readonly C[]): bigint => all.reduce((sum, { amount }) => sum + amount, 0n);
  const [credited, claims] = [sumOf(credits), sumOf(claimed)];
  const explained = credited - debited;
  const left = (gained < explained ? gained : explained) - (credited - claims);
  let [units, open] = [left > 0n ? left : 0n, claims];
  const worth = new Map<C, bigint>();
  for (const credit of claimed) {
    const share = open === 0n || units >= open ? credit.amount : (units * credit.amount) / open;
    worth.set(credit, share);
    units -= share;
    open -= credit.amount;
  }
  return worth;
}
