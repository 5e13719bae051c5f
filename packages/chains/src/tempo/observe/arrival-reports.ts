import type { DepositId, DepositObservation, Observation, TransactionHash } from '@pf/domain';
import type { RpcNode } from '@pf/rpc';
import { boundedCache } from '@pf/runtime';
import { depositFinal, depositLanded, depositLost, type Paid, withdrawPaid } from '../../deposits.ts';
import type { Receipt } from '../../evm/calls.ts';
import { isLate, Unreadable } from '../../evm/observe/read-each.ts';
import { ReceiptSchedule } from '../../evm/observe/receipt-schedule.ts';
import type { Network, OpenDeposit, WatchSet } from '../../port.ts';
import { doubleCheckSoon } from '../../second-reader.ts';
import { byTurns } from '../../set-aside.ts';
import { isLongUnshown } from '../../unshown.ts';
import { arrivalsOf, nameOf, type Sighting } from './arrivals.ts';
import { claimIn, moveIn } from './landings.ts';
import { readReceipts, readReceiptsSoon, type Result } from './receipts.ts';
import type { Scan } from './scan.ts';

/** Of the first reading so many are reported in a step. The second one reports the others. */
export const FIRST_REPORTED_MAX = 200;
/** Transfers of which it is remembered who has shown them: those of some 20 s, until they are read again. */
const SHOWN_MAX = 20_000;
/** A deposit that was read twice, and is not final after this time, waits for what its receipt tells. */
const UNHEARD_MS = 30_000;
/** Deposits of which the receipts are read in one step. */
const ASKED_MAX = 20;

/**
 * Reports what pays no intent, to each account. A transfer is final once two upstreams have shown it alike, and the two
 * readings of each block are by two: so no call is made for it. Where one of them has left it out, or this process has
 * not seen the first reading, receipts tell. In memory: what is forgotten costs receipts.
 */
export class ArrivalReports {
  /** Which upstream was the first to show a transfer. */
  readonly #shownBy = boundedCache<string, string>(SHOWN_MAX);
  readonly #schedule = new ReceiptSchedule();
  /** When a deposit that was read twice was first found not to be final, by our clock. */
  readonly #leftSince = new Map<DepositId, number>();

  /**
   * @param by the upstream that has shown all of these
   * @param most so many transfers are reported, by turns of accounts, recipients and payers
   */
  report(context: Scan, by: RpcNode, all: readonly Sighting[], most = all.length): readonly DepositObservation[] {
    const { network, pool, watch } = context;
    if (all.length === 0) return [];
    const seen = all.map((one) => ({
      one,
      isFinal: this.#isShownByTwo(nameOf(one.arrival), by.name) || pool.size === 1,
      recipient: one.arrival.to,
      payer: one.arrival.from ?? undefined,
    }));
    const open = new Map([...watch.openDeposits()].map(({ id, arrival }) => [id, arrival]));
    return (seen.length <= most ? seen : byTurns(watch, seen).slice(0, most)).flatMap(({ one, isFinal }) =>
      ownersIn(watch, one).flatMap((owner): DepositObservation[] => {
        const { arrival, reason } = one;
        const { depositId: id, accountId } = owner;
        const { chain, livemode } = network;
        if (isFinal) return [depositFinal({ id, accountId, chain, livemode, reason, intentId: null, arrival })];
        const known = open.get(id);
        const isKnown = known !== undefined && nameOf(known) === nameOf(arrival);
        return isKnown ? [] : [depositLanded(owner, network, one)];
      }),
    );
  }

  #isShownByTwo(name: string, by: string): boolean {
    const first = this.#shownBy.get(name) ?? by;
    this.#shownBy.set(name, first);
    return first !== by;
  }

  /** How many deposits were read twice, and have not been shown by two upstreams for over a minute since. */
  longUnshown(now: number): number {
    return [...this.#leftSince.values()].filter((since) => isLongUnshown(since, now)).length;
  }

  /**
   * Deposits that the second reading has not made final: they are where the receipts of two upstreams show them, and
   * lost where neither does. Asked again at growing intervals.
   * @param through up to this block all was read twice before this step
   */
  async finalize(context: Scan, through: bigint, now: number): Promise<readonly DepositObservation[]> {
    const { node, pool, watch, network, seconds } = context;
    const left = [...watch.openDeposits()].filter(({ arrival }) => arrival.block <= through);
    const since = new Map(left.map(({ id }) => [id, this.#leftSince.get(id) ?? now]));
    this.#leftSince.clear();
    for (const [id, at] of since) this.#leftSince.set(id, at);
    this.#schedule.keep(new Set(left.map(({ arrival }) => arrival.hash)));
    const isUnheard = ({ id }: OpenDeposit): boolean => now - (since.get(id) ?? now) >= UNHEARD_MS;
    const hasCome = ({ arrival }: OpenDeposit): boolean => seconds?.come.has(arrival.hash) === true;
    const isKnown = ({ arrival }: OpenDeposit): boolean => seconds?.reads.isKnown(arrival.hash) === true;
    const others = left.filter((one) => !hasCome(one) && isUnheard(one) && this.#schedule.isDue(one.arrival.hash, now));
    const asked = others.filter((one) => !isKnown(one)).slice(0, ASKED_MAX);
    // What comes beside the steps is there for this step alone, and what is late takes no place of others.
    const come = left.filter(hasCome);
    const due = [...come, ...others.filter(isKnown), ...asked];
    if (due.length === 0) return [];
    this.#schedule.begin();
    const { told, late } =
      asked.length === 0
        ? { told: [], late: new Set<OpenDeposit>() }
        : await doubleCheckSoon<OpenDeposit, ReadonlyMap<TransactionHash, Result | undefined>>(
            pool,
            node,
            null,
            asked,
            {
              ask: async (by, some) => {
                const hashes = [...new Set(some.map(({ arrival }) => arrival.hash))];
                const read = seconds === undefined ? readReceipts : readReceiptsSoon;
                const results = hashes.length === 0 ? [] : await read(by, hashes, network);
                return new Map(hashes.map((hash, place) => [hash, results[place]]));
              },
              isLate: (results, { arrival }) => isLate(results.get(arrival.hash)),
              isLacking: (results, { arrival }) => !isReceipt(results.get(arrival.hash)),
            },
          );
    for (const one of due) {
      const { id, arrival } = one;
      const { hash, block, to } = arrival;
      if (late.has(one) || (isKnown(one) && !hasCome(one))) seconds?.begin({ hash, block, recipient: to });
      else this.#schedule.asked(hash, since.get(id) ?? now, now);
    }
    this.#schedule.commit();
    return due.flatMap((one) => {
      const { hash } = one.arrival;
      const readings = hasCome(one)
        ? (seconds?.come.get(hash) ?? []).map(({ result }) => result)
        : asked.includes(one)
          ? (told ?? []).map((results) => results.get(hash))
          : [];
      const isEnough = readings.length === Math.min(pool.size, 2);
      const [first, ...others] = readings.map((result) => isShownIn(result, network, one));
      if (!isEnough || first === undefined || others.some((other) => other !== first)) return [];
      return [first ? depositFinal(one) : depositLost(one)];
    });
  }
}

/**
 * Deposits of which the payment of an intent turns out to be the transfer, whose memo an upstream had left out: the
 * intent tells of it.
 * @param found payments of this step
 * @param late those that no first reading of their block has found: the transfer may be a deposit that is final
 */
export function paidArrivals(
  watch: Pick<WatchSet, 'openDeposits' | 'depositsOf'>,
  found: readonly Observation[],
  late: readonly Observation[],
): readonly DepositObservation[] {
  return withdrawPaid(watch, found.flatMap(paidIn), late.flatMap(paidIn));
}
/** A payment has the place of its memo, right behind the transfer, which its deposit may have. */
function paidIn(one: Observation): readonly Paid[] {
  if (one.type !== 'landed') return [];
  const { hash, transfer } = one.data;
  return [transfer.index, (BigInt(transfer.index) - 1n).toString()].map((index) => ({
    ...transfer,
    index,
    hash,
    intentId: one.intentId,
  }));
}

/** Whose it is: but for those who are told of it as arrived at the virtual address that has passed it on. */
function ownersIn(watch: WatchSet, { arrival, via }: Sighting): ReturnType<WatchSet['depositsOf']> {
  const told = via === null ? [] : watch.ownersOf(via);
  return watch.depositsOf(arrival).filter(({ accountId }) => !told.includes(accountId));
}

const isReceipt = (result: Result | undefined): result is Receipt =>
  result !== undefined && result !== null && !(result instanceof Unreadable);

/** Whether the receipt that one upstream has of its transaction shows it; undefined where it has none. */
function isShownIn(result: Result | undefined, network: Network, { arrival }: OpenDeposit): boolean | undefined {
  if (!isReceipt(result)) return undefined;
  const claims = result.logs.flatMap((log) => claimIn(log, network) ?? []);
  const moves = result.logs.flatMap((log) => moveIn(log) ?? []);
  const arrivals = arrivalsOf({ moves, claims }, network, () => false);
  return arrivals.some((one) => nameOf(one.arrival) === nameOf(arrival));
}
