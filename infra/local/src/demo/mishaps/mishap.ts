import type { StackWallet } from '@pf/testing';

/** Something that goes wrong on a chain, made to go wrong by the local chain's own controls. */
export interface Mishap {
  /** Whom it happens to. */
  readonly payer: StackWallet;
  /** After the build, before the submit. */
  arm(): Promise<void>;
  /** The payer's signature; a wallet may have a part in what goes wrong. */
  sign(blob: string): Promise<string>;
  /** After the submit. @returns what happened: in short, and how */
  strike(hash: string): Promise<readonly [what: string, how: string]>;
  /** Why the transaction failed, in the chain's own words. */
  reason(hash: string): Promise<string>;
  /** Leaves the chain as it was. May be called at any time, also twice. */
  undo(): Promise<void>;
}
