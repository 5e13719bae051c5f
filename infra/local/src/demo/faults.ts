import { type Armed, controlsOf, type AffectedPayment } from '@pf/chain-controls';
import { type StackChain, type StackWallet, tempoWallet, walletOn } from '@pf/testing';
import type { DemoChain } from './options.ts';

/** For the timeline: in short, and how. */
type Explanation = readonly [what: string, how: string];

/** Something that goes wrong with a payment, made to go wrong by the same controls that `pf chain` has. */
export interface DemoFault {
  /** After the build, before the submit. */
  arm(): Promise<Explanation>;
  /** The payer's signature; a wallet may have a part in what goes wrong. */
  sign(blob: string): Promise<string>;
  /** After the submit, once it has happened. */
  strike(): Promise<Explanation>;
  /** Leaves the chain as it was. May be called at any time, also twice. */
  undo(): Promise<void>;
}

/**
 * A wallet on Tempo may let its transaction live shorter than the service proposed: only when it is over is the loss
 * proven.
 */
const LIFETIME_SECONDS = 8;
const WHAT = { drop: 'it vanishes', fail: 'it fails in its block' } as const;

export function faultOn(name: DemoChain, chain: StackChain, payer: StackWallet, verb: keyof typeof WHAT): DemoFault {
  const controls = controlsOf(chain);
  let armed: Armed<AffectedPayment> | null = null;
  return {
    async arm() {
      armed = await controls[verb]({ payer: payer.address });
      return [`(pf chain ${verb} ${name})`, ''];
    },
    sign: (blob) =>
      name === 'tempo' && verb === 'drop'
        ? tempoWallet(chain, payer).sign(blob, (transaction) => ({
            ...transaction,
            validBefore: Math.floor(Date.now() / 1000) + LIFETIME_SECONDS,
          }))
        : walletOn(chain, payer).sign(blob),
    async strike() {
      const struck = await armed?.done;
      if (!struck) throw new Error(`the payment met no fault. Was \`pf chain ${verb} ${name}\` ended?`);
      return [WHAT[verb], struck.how];
    },
    undo: async () => void (await armed?.end()),
  };
}
