import type { StackWallet } from '@pf/testing';

/** For the timeline: in short, and how. */
export type Told = readonly [what: string, how: string];

/** Something that goes wrong on a chain, made to go wrong by the local chain's own controls. */
export interface Mishap {
  /** Whom it happens to. */
  readonly payer: StackWallet;
  /** After the build, before the submit. */
  arm(): Promise<Told>;
  /** The payer's signature; a wallet may have a part in what goes wrong. */
  sign(blob: string): Promise<string>;
  /** After the submit. */
  strike(hash: string): Promise<Told>;
  /** Why the transaction failed, in the chain's own words. */
  reason(hash: string): Promise<string>;
  /** Leaves the chain as it was. May be called at any time, also twice. */
  undo(): Promise<void>;
}
