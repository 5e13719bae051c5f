/** A guard of an invariant, how to take it out, and the test that must notice. */
export interface Mutant {
  /** The guard, as a reader of docs/internals/reliability.md understands it. */
  readonly name: string;
  readonly file: string;
  /** Exact text that stands once in the file. */
  readonly guard: string;
  readonly instead: string;
  readonly test: {
    readonly file: string;
    /** Where the test is written, if its file runs a suite of another one. */
    readonly suite?: string;
    /** A part of its full name that no other test has. */
    readonly name: string;
  };
}
