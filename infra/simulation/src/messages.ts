import type { TraceLine } from '@pf/simulation/kernel';
import type { Invariant } from './model/invariants.ts';

/** A seed to be run. */
export interface ToWorker {
  readonly seed: number;
  /** Kinds of commands and faults that are switched off. */
  readonly without: readonly string[];
  readonly keptLines: number;
}

interface Failure {
  readonly invariant: Invariant;
  readonly what: string;
}

/** The outcome of one seed. */
export interface Outcome {
  readonly seed: number;
  /** The kinds of commands and faults that were on. */
  readonly kinds: readonly string[];
  readonly failure: Failure | null;
  readonly lines: readonly TraceLine[];
  readonly fingerprint: string;
  readonly entries: number;
  readonly virtualMs: number;
  readonly realMs: number;
}

/** Null: the worker is ready. */
export type FromWorker = Outcome | null;
