import type { Reference, TransactionHash } from '@pf/domain';
import type { Respond, VirtualTime } from './virtual-upstream.ts';

/** The slot of all transactions. */
export const SLOT = 1_000;
const FINAL_AFTER = 32;

/** What a node of Solana says of a few transactions: a slot each 400 ms. */
export class ScriptedSolana {
  readonly #time: VirtualTime;
  /** What its references list. */
  readonly listed = new Map<Reference, readonly TransactionHash[]>();
  /** By hash, as a node shows it. */
  shown: ReadonlyMap<TransactionHash, unknown>;
  /** Their slot is final, and so are they. */
  isFinal = false;

  constructor(time: VirtualTime, shown: ReadonlyMap<TransactionHash, unknown>) {
    this.#time = time;
    this.shown = shown;
  }

  readonly respond: Respond = (method, params) => {
    const slot = SLOT + 10 + FINAL_AFTER + Math.floor(this.#time.passed / 400);
    const final = this.isFinal ? slot - FINAL_AFTER : SLOT - 20;
    switch (method) {
      case 'getEpochInfo': {
        const isOfFinal = (params[0] as { readonly commitment: string } | undefined)?.commitment === 'finalized';
        return { absoluteSlot: isOfFinal ? final : slot, blockHeight: isOfFinal ? final : slot };
      }
      case 'getMultipleAccounts':
        return { context: { slot }, value: (params[0] as readonly unknown[]).map(() => null) };
      case 'getSignaturesForAddress':
        return (this.listed.get(params[0] as Reference) ?? []).map((signature) => ({
          signature,
          slot: SLOT,
          err: null,
        }));
      case 'getSignatureStatuses':
        return {
          context: { slot },
          value: (params[0] as readonly TransactionHash[]).map((hash) => this.#status(hash)),
        };
      case 'getTransaction':
        return this.shown.get(params[0] as TransactionHash) ?? null;
      case 'getFirstAvailableBlock':
        return 0;
      default:
        return new Error(`no ${method} here`);
    }
  };

  #status(hash: TransactionHash): unknown {
    if (!this.shown.has(hash)) return null;
    return { slot: SLOT, err: null, confirmationStatus: this.isFinal ? 'finalized' : 'confirmed' };
  }
}
