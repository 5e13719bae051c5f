import type { Moved } from '@pf/chains';
import type { ToldTransfer } from '@pf/database';
import type { Address, TokenAddress, TransactionHash } from '@pf/domain';

type Kind = ToldTransfer['kind'];

/** A transaction of which the ledger tells something else than the chain. Base units. */
export interface Difference {
  /** `missing`: more has arrived than the ledger tells. `beyond`: less has. */
  readonly kind: 'missing' | 'beyond';
  readonly tokenAddress: TokenAddress;
  readonly hash: TransactionHash;
  readonly block: bigint | null;
  readonly arrived: bigint;
  readonly told: bigint;
  readonly sender: Address | null;
  /** The intents and deposits that tell of it. */
  readonly toldBy: readonly string[];
}

/** A token of a wallet in a range of blocks. Base units. */
export interface TokenSums {
  /** What arrived, and what left, by the chain. What a transaction has brought and taken away again is in neither. */
  readonly came: bigint;
  readonly went: bigint;
  /** What the ledger tells, by what tells it: each transfer once. */
  readonly told: Readonly<Record<Kind, bigint>>;
  /** What the ledger tells less what arrived. */
  readonly difference: bigint;
}

export interface Comparison {
  readonly sums: ReadonlyMap<TokenAddress, TokenSums>;
  /** In the order of the chain; those that it does not have last. */
  readonly differences: readonly Difference[];
}

/** Where several tell of one transfer, the first of these does. */
const KINDS = ['settlement', 'extra', 'deposit', 'mismatched'] as const satisfies readonly Kind[];

const keyOf = ({ hash, tokenAddress }: Pick<Moved, 'hash' | 'tokenAddress'>): string => `${hash} ${tokenAddress}`;
const most = (one: bigint, other: bigint): bigint => (one > other ? one : other);
const least = (one: bigint, other: bigint): bigint => (one < other ? one : other);
const sumOf = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, one) => sum + one, 0n);

/**
 * Compares, transaction by transaction and token by token, what arrived with what the ledger tells. By transaction,
 * because chain and ledger cut what one brought into different parts on Solana, where only balances are certain.
 * @param moved each transaction and token at most once
 */
export function compare(moved: readonly Moved[], told: readonly ToldTransfer[]): Comparison {
  const movedBy = new Map(moved.map((one) => [keyOf(one), one]));
  const toldBy = Map.groupBy(told, keyOf);
  const tallies = new Map<TokenAddress, Tally>();
  const differences: Difference[] = [];
  for (const key of new Set([...movedBy.keys(), ...toldBy.keys()])) {
    const [onChain, rows = []] = [movedBy.get(key), toldBy.get(key)];
    const one = onChain ?? rows[0];
    if (one === undefined) continue;
    const { came, went } = onChain ?? { came: 0n, went: 0n };
    const counted = countedOf(rows, came);
    const sum = sumOf(KINDS.map((kind) => counted[kind]));
    // What came and left again may count or not: an intent gets what its wallet kept, a deposit what its transfer was.
    const arrived = least(came, most(sum, most(came - went, 0n)));
    const tally = tallies.get(one.tokenAddress) ?? new Tally();
    tallies.set(one.tokenAddress, tally);
    tally.add(arrived, arrived - came + went, counted);
    if (sum !== arrived)
      differences.push({
        kind: sum < arrived ? 'missing' : 'beyond',
        tokenAddress: one.tokenAddress,
        hash: one.hash,
        block: onChain?.block ?? null,
        arrived,
        told: sum,
        sender: one.from,
        toldBy: [...new Set(rows.map((row) => row.toldBy))],
      });
  }
  return {
    sums: new Map([...tallies].map(([token, tally]) => [token, tally.sums()])),
    differences: differences.sort(byPlace),
  };
}

const byPlace = (one: Difference, other: Difference): number => {
  if (one.block === other.block) return 0;
  if (one.block === null || other.block === null) return one.block === null ? 1 : -1;
  return one.block < other.block ? -1 : 1;
};

/**
 * What the ledger tells of one transaction and token, each transfer once: two accounts that name one wallet have a
 * deposit each. The place of a mismatched payment is not stored: it may be the transfer that pays another intent, or
 * that is claimed for a second one. Such a one counts as far as the chain has it.
 */
function countedOf(rows: readonly ToldTransfer[], came: bigint): Readonly<Record<Kind, bigint>> {
  const placed = new Map<string, ToldTransfer>();
  for (const kind of KINDS)
    for (const row of rows)
      if (row.kind === kind && row.place !== null && !placed.has(row.place.index)) placed.set(row.place.index, row);
  const counted = [...placed.values()];
  const isTwin = (row: ToldTransfer): boolean =>
    counted.some(({ amount, from }) => amount === row.amount && from === row.from);
  const [doubtful, certain] = [true, false].map((isDoubtful) =>
    rows
      .filter((row) => row.place === null && (row.isClaimed || isTwin(row)) === isDoubtful)
      .map(({ amount }) => amount),
  ) as [bigint[], bigint[]];
  const by = (kind: Kind): bigint => sumOf(counted.filter((row) => row.kind === kind).map(({ amount }) => amount));
  const mismatched = by('mismatched') + sumOf(certain);
  const [settlement, extra, deposit] = [by('settlement'), by('extra'), by('deposit')];
  const room = most(came - settlement - extra - deposit - mismatched, 0n);
  return { settlement, extra, deposit, mismatched: mismatched + least(sumOf(doubtful), room) };
}

class Tally {
  #came = 0n;
  #went = 0n;
  readonly #told: Record<Kind, bigint> = { settlement: 0n, extra: 0n, mismatched: 0n, deposit: 0n };

  add(came: bigint, went: bigint, told: Readonly<Record<Kind, bigint>>): void {
    this.#came += came;
    this.#went += went;
    for (const kind of KINDS) this.#told[kind] += told[kind];
  }

  sums(): TokenSums {
    const told = { ...this.#told };
    return { came: this.#came, went: this.#went, told, difference: sumOf(Object.values(told)) - this.#came };
  }
}
