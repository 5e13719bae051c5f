/** The state of a clock that must survive a restart. */
export interface ClockState {
  /** The slot at `time`. */
  readonly slot: number;
  /** ms since 1970. */
  readonly time: number;
  readonly slotMs: number;
  readonly running: boolean;
  /** Everything up to this slot is final, however recent. */
  readonly finalFloor: number;
}

export type Commitment = 'processed' | 'confirmed' | 'finalized';

/** The slot that a node starts with: after the first epoch, so that slot and slot index differ. */
const FIRST_SLOT = 432_001;
/** Slots without a block, all before the node's start: so block height and slot differ. */
const SKIPPED = 31_000;
export const SLOTS_PER_EPOCH = 432_000;

export const newClock = (slotMs: number, running: boolean, now = Date.now()): ClockState => ({
  slot: FIRST_SLOT,
  time: now,
  slotMs,
  running,
  finalFloor: FIRST_SLOT - 1,
});
export const heightOf = (slot: number): number => slot - SKIPPED;

/**
 * Slots, computed from the time: a clock without readers does no work. The head slot is processed, confirmed one
 * slot later, and final after `finalitySlots`.
 */
export class SlotClock {
  #state: ClockState;
  readonly #finalitySlots: number;
  readonly #save: (state: ClockState) => void;

  /** @param save called with every change that is not explained by the passing of time */
  constructor(state: ClockState, finalitySlots: number, save: (state: ClockState) => void) {
    this.#state = state;
    this.#finalitySlots = finalitySlots;
    this.#save = save;
  }

  /** The slot at this commitment. */
  slot(commitment: Commitment = 'processed'): number {
    const { slot, time, slotMs, running, finalFloor } = this.#state;
    const head = running ? slot + Math.max(0, Math.floor((Date.now() - time) / slotMs)) : slot;
    const final = Math.max(head - this.#finalitySlots, finalFloor);
    if (commitment === 'processed') return head;
    return commitment === 'finalized' ? final : Math.max(head - 1, final);
  }
  /** When this slot began or will begin, in ms since 1970, if the clock runs evenly. */
  timeOf(slot: number): number {
    const head = this.slot();
    const began = this.#state.running ? this.#state.time + (head - this.#state.slot) * this.#state.slotMs : Date.now();
    return began + (slot - head) * this.#state.slotMs;
  }
  get running(): boolean {
    return this.#state.running;
  }
  get slotMs(): number {
    return this.#state.slotMs;
  }

  pause(): void {
    this.#change({ slot: this.slot(), running: false });
  }
  resume(): void {
    this.#change({ slot: this.slot(), running: true });
  }
  advance(slots: number): void {
    this.#change({ slot: this.slot() + slots });
  }
  /** Finalizes everything so far. The next slot begins, so that later transactions are not final at once. */
  finalize(): void {
    const head = this.slot();
    this.#change({ slot: head + 1, finalFloor: head });
  }

  #change(change: Partial<ClockState>): void {
    this.#state = { ...this.#state, time: Date.now(), ...change };
    this.#save(this.#state);
  }
}

/**
 * The clock of a ledger that was closed or killed: a running clock has gone on, and all that had landed is final.
 */
export function resumedClock(kept: ClockState, slotMs: number, running: boolean, now = Date.now()): ClockState {
  const slept = kept.running ? Math.max(0, Math.floor((now - kept.time) / kept.slotMs)) : 0;
  const slot = kept.slot + slept;
  return { slot: slot + 1, time: now, slotMs, running, finalFloor: slot };
}
