import type { Observation } from '@pf/domain';
import type { Seen } from './position.ts';

/** A transfer with the reference that it carries, and an intent with another one. */
export type DisprovedOf = Pick<Extract<Observation, { type: 'disproved' }>, 'intentId' | 'data'>;

const nameOf = ({ intentId, data: { hash, transfer } }: DisprovedOf): string => `${intentId} ${hash} ${transfer.index}`;

/**
 * What a step has found to be the payments of others. For which intents they were reported before, only the ledger
 * knows: an observation of one for which nothing was reported changes nothing.
 */
export class Disproved {
  readonly #all = new Map<string, DisprovedOf>();

  readonly note = (one: DisprovedOf): void => void this.#all.set(nameOf(one), one);

  /** Without what would report them, now or after `pf watch rescan`. */
  among(seen: readonly Seen[]): readonly Seen[] {
    if (this.#all.size === 0) return seen;
    return seen.filter((one) => one.kind !== 'landed' || !this.#all.has(nameOf({ intentId: one.intentId, data: one })));
  }

  observations(): readonly Observation[] {
    return [...this.#all.values()].map((one) => ({ kind: 'observation', type: 'disproved', ...one }));
  }
}
