/** Seconds from an accepted submit: a payment that takes longer is late (docs/operations/slo.md). */
export const LATE_AFTER = { confirmed: 5, seen: 7.5 } as const;

/** Whose payment it is. */
interface Parties {
  readonly accountId: string;
  /** The wallet that pays. */
  readonly payer: string;
}

/**
 * Tells late payments that show trouble of a network, or of ours, from those that one account or payer can make alone,
 * with fees for which the chain lets them wait. A late payment stands alone unless the late one before it on its
 * network was of another account and another payer. So of one account at most as many count as of all others, however
 * many it makes.
 */
export class LatePayments {
  readonly #lateAfter: number;
  /** The last late payment of each network. */
  readonly #last = new Map<string, Parties>();

  /** @param lateAfter seconds */
  constructor(lateAfter: number) {
    this.#lateAfter = lateAfter;
  }

  /** The label of a payment that took so many seconds; to be called once for each, in order. */
  labelOf(network: string, seconds: number, parties: Parties): { readonly late?: 'alone' } {
    if (seconds <= this.#lateAfter) return {};
    const before = this.#last.get(network);
    this.#last.set(network, parties);
    const alone = !before || before.accountId === parties.accountId || before.payer === parties.payer;
    return alone ? { late: 'alone' } : {};
  }
}
