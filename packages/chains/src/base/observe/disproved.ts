import type { Observation } from '@pf/domain';
import { NO_REFERENCE } from './no-reference.ts';
import type { Seen } from './position.ts';

/** A transfer with the reference that it carries, and an intent with another one. */
export type DisprovedOf = Pick<Extract<Observation, { type: 'disproved' }>, 'intentId' | 'data'>;

export const nameOf = ({ intentId, data: { hash, transfer } }: DisprovedOf): string =>
  `${intentId} ${hash} ${transfer.index}`;

/**
 * What a step has found to be the payments of others. For which intents they were reported before, only the ledger
 * knows: an observation of one for which nothing was reported changes nothing. What has settled an intent is not taken
 * back, as its account may have delivered: a person has to look at it.
 */
export class Disproved {
  readonly #all = new Map<string, DisprovedOf>();
  readonly #settled = new Map<string, DisprovedOf>();

  /** @param isSettled the ledger has the transfer as what has settled the intent */
  readonly note = (one: DisprovedOf, isSettled: boolean): void =>
    void (isSettled ? this.#settled : this.#all).set(nameOf(one), one);

  /** Without what would report them, now or after `pf watch rescan`. */
  among(seen: readonly Seen[]): readonly Seen[] {
    if (this.#all.size === 0) return seen;
    return seen.filter((one) => this.#of(one) === undefined);
  }

  /** What has settled an intent, or soon will: it was observed with the intent's reference. */
  settled(seen: readonly Seen[]): readonly DisprovedOf[] {
    const onTheWay = seen.flatMap((one) => {
      const isProven = one.kind === 'landed' && one.reported && one.transfer.reference !== NO_REFERENCE;
      return (isProven ? this.#of(one) : undefined) ?? [];
    });
    return [...new Map([...this.#settled.values(), ...onTheWay].map((one) => [nameOf(one), one])).values()];
  }

  observations(): readonly Observation[] {
    return [...this.#all.values()].map((one) => ({ kind: 'observation', type: 'disproved', ...one }));
  }

  #of(one: Seen): DisprovedOf | undefined {
    return one.kind === 'landed' ? this.#all.get(nameOf({ intentId: one.intentId, data: one })) : undefined;
  }
}
