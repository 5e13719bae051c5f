import type { Observation, TransactionHash } from '@pf/domain';
import { ReceiptSchedule } from '../../evm/observe/receipt-schedule.ts';
import { newTime } from '../../second-reader.ts';
import { isLongUnshown } from '../../unshown.ts';
import { comeOf, isShown, readLate, receiptsOf } from './receipts.ts';
import { observedIn, type Scan } from './scan.ts';

/** Receipts that a second upstream is asked for in one step. */
const ASKED_MAX = 20;

/** When a second upstream is asked again for payments that only one has shown. In memory: a restart asks at once. */
export class Finality {
  readonly #schedule = new ReceiptSchedule();
  readonly #since = new Map<TransactionHash, number>();

  /** How many payments are confirmed, and have waited for a second upstream to show them for over a minute. */
  longUnshown(now: number): number {
    return [...this.#since.values()].filter((since) => isLongUnshown(since, now)).length;
  }

  /** Payments that are confirmed, and final now that a second upstream has shown them too. */
  async finalize(context: Scan, now: number): Promise<{ observations: readonly Observation[]; warnings: string[] }> {
    const open = [...context.watch.settling()].filter(({ settlement }) => !settlement.lost);
    const hashes = new Set(open.map(({ settlement }) => settlement.hash));
    this.#schedule.keep(hashes);
    for (const hash of this.#since.keys()) if (!hashes.has(hash)) this.#since.delete(hash);
    // What has come beside the steps is there for this step alone, and takes no place of others.
    const hasCome = (hash: TransactionHash): boolean =>
      context.late?.come.has(hash) === true || (context.seconds?.come.get(hash) ?? null) !== null;
    const others = [...hashes].filter((hash) => !hasCome(hash) && this.#schedule.isDue(hash, now));
    const due = [...[...hashes].filter(hasCome), ...others.slice(0, ASKED_MAX)];
    if (due.length === 0) return { observations: [], warnings: [] };
    this.#schedule.begin();
    const come = comeOf(
      context,
      due.map((hash) => ({ hash })),
    );
    for (const hash of due) if (!come.has(hash) && context.late?.reads.isKnown(hash) === true) readLate(context, hash);
    for (const [hash, one] of come) if (isShown(one)) context.receipts.set(hash, one);
    // The first showing may have come before, and the second now.
    const kept = due.flatMap((hash) => {
      const one = !come.has(hash) && context.seconds?.come.has(hash) === true ? context.receipts.get(hash) : undefined;
      return one === undefined ? [] : [[hash, one] as const];
    });
    const known = new Map([...come, ...kept]);
    const asked = due.filter((hash) => !known.has(hash));
    const receipts = new Map([...known, ...(await receiptsOf(context, asked))]);
    const shown = [...receipts.values()].filter(isShown);
    // With time of its own: what the step has waited before, for what is new, is not taken from what waits.
    const seconds = context.seconds && { ...context.seconds, ...newTime() };
    const { found, unjudged, notAsked } = await observedIn({ ...context, seconds }, shown);
    for (const hash of receipts.keys()) {
      if (notAsked.has(hash)) continue;
      const since = this.#since.get(hash) ?? now;
      this.#since.set(hash, since);
      this.#schedule.asked(hash, since, now);
    }
    this.#schedule.commit();
    return {
      observations: found.filter((one) => one.type === 'landed' && one.data.level === 'finalized'),
      warnings: unjudged.map(
        ({ hash, place, reason }) => `${hash} of ${place} is confirmed and does not become final: ${reason}`,
      ),
    };
  }
}
