import type { Arrival, DepositId } from '@pf/domain';
import { placeKeyOf } from '../../deposits.ts';
import { isMint } from '../../evm/account.ts';
import type { WatchSet } from '../../port.ts';
import { byTurns, type Party } from '../../set-aside.ts';
import type { LoggedTransfer } from './landings.ts';
import type { Seen } from './position.ts';
import type { Sighting } from './sighting.ts';

/** So many wait in a cursor before the second reading ends where it is, and before the first leaves more to it. */
export const WAITING_MAX = 1_000;
export const FIRST_MAX = 200;

/** @param reference what it carries, of no watched intent; null where it carries none */
export function sightingOf(
  { from, to, amount, log }: LoggedTransfer,
  carried: Sighting['reference'],
  seenAt: number,
): Sighting {
  return {
    hash: log.transactionHash,
    index: log.logIndex.toString(),
    block: log.blockNumber,
    blockHash: log.blockHash,
    tokenAddress: log.address as string as Sighting['tokenAddress'],
    from: senderOf(from),
    to,
    amount,
    reference: carried,
    reason: carried === null ? 'no_reference' : 'unknown_reference',
    seenAt,
    reported: false,
  };
}

/** Null for a mint: no wallet has sent it. */
export const senderOf = (from: LoggedTransfer['from']): Sighting['from'] => (isMint(from) ? null : from);

const transferOf = ({ hash, index }: Pick<Arrival, 'hash' | 'index'>): string => `${hash} ${index}`;

/**
 * What waits to be reported as deposits. Anyone can send dust to any wallet, so that there is room for so many; what
 * has none is read again, so that nothing arrives unseen: a flood delays deposits, and never a payment.
 */
export class Sightings {
  readonly #watch: WatchSet;
  readonly #open: ReadonlySet<DepositId>;
  readonly #waiting = new Map<string, Sighting>();
  readonly #noted = new Map<string, Sighting>();

  /** @param before what the cursor has */
  constructor(watch: WatchSet, before: readonly Sighting[]) {
    this.#watch = watch;
    this.#open = new Set([...watch.openDeposits()].map(({ id }) => id));
    for (const one of before) if (this.unheardBy(one).length > 0) this.#waiting.set(placeKeyOf(one), one);
  }

  /** Whose deposit it is, of whom the ledger does not have it as confirmed. */
  unheardBy(one: Sighting): ReturnType<WatchSet['depositsOf']> {
    return this.#watch.depositsOf(one).filter(({ depositId }) => !this.#open.has(depositId));
  }

  /** Of a first reading: what there is no room for is left to the second one. */
  readonly note = (one: Sighting): void => void this.#noted.set(placeKeyOf(one), one);

  /** Of what is read for the last time. @returns false where there is no room: it has to be read again */
  readonly take = (one: Sighting): boolean => {
    if (this.#waiting.has(placeKeyOf(one)) || this.unheardBy(one).length === 0) return true;
    if (this.#waiting.size >= WAITING_MAX) return false;
    this.#waiting.set(placeKeyOf(one), one);
    return true;
  };

  /** All that wait, by turns of accounts, recipients and payers. @param seen what pays an intent is none */
  all(seen: readonly Seen[]): readonly Sighting[] {
    const noted = [...this.#noted].flatMap(([name, one]) =>
      this.#waiting.has(name) || this.unheardBy(one).length === 0 ? [] : [one],
    );
    const inTurns = byTurns(
      this.#watch,
      [...this.#waiting.values(), ...noted].map((one) => ({ ...partyOf(one), one })),
    );
    const paying = new Set(
      seen.flatMap((one) => (one.kind === 'landed' ? [placeKeyOf({ hash: one.hash, ...one.transfer })] : [])),
    );
    // What the ledger has as a payment is told by its intent, whatever one node shows of it now.
    const settled = new Set(
      inTurns.length === 0
        ? []
        : [...this.#watch.settling()].map(({ settlement: { hash, transfer } }) => transferOf({ hash, ...transfer })),
    );
    return inTurns.flatMap(({ one }, turn) =>
      (turn < FIRST_MAX || this.#waiting.has(placeKeyOf(one))) &&
      !paying.has(placeKeyOf(one)) &&
      !settled.has(transferOf(one))
        ? [one]
        : [],
    );
  }
}

const partyOf = ({ from, to }: Sighting): Party => ({ recipient: to, ...(from !== null && { payer: from }) });
