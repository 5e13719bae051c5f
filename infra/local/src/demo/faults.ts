import { type Armed, controlsOf, type AffectedPayment } from '@pf/chain-controls';
import { type StackChain, type StackWallet } from '@pf/testing';
import { tempoWallet, walletOn } from '@pf/testing/wallets';
import type { ChainName } from '../chains/chains.ts';

/** The two columns of a line in the timeline. */
type Explanation = readonly [what: string, how: string];

/** A fault that hits a payment, injected with the same controls as `pf chain`. */
export interface DemoFault {
  /** Called after the build and before the submit. */
  arm(): Promise<Explanation>;
  /** Signs as the payer; some faults need the wallet's help. */
  sign(blob: string): Promise<string>;
  /** Called after the submit; resolves when the fault has hit the payment. */
  strike(): Promise<Explanation>;
  /** Restores the chain. May be called at any time, and more than once. */
  undo(): Promise<void>;
}

/**
 * A wallet on Tempo may shorten the lifetime that the service proposed. The drop is proven only when that has passed,
 * so a short one keeps the demo short.
 */
const LIFETIME_SECONDS = 8;
const WHAT = { drop: 'it vanishes', fail: 'it fails in its block' } as const;

export function faultOn(name: ChainName, chain: StackChain, payer: StackWallet, verb: keyof typeof WHAT): DemoFault {
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
      const affected = await armed?.done;
      if (!affected) throw new Error(`the fault did not hit the payment. Was \`pf chain ${verb} ${name}\` ended?`);
      return [WHAT[verb], affected.how];
    },
    undo: async () => void (await armed?.end()),
  };
}
