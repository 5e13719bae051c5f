import { type StackChain, type StackWallet, tempoWallet, until } from '@pf/testing';
import { rpc } from '../../rpc.ts';
import { onEvm } from './evm.ts';
import { release } from './held-chain.ts';
import type { Mishap } from './mishap.ts';

/** How long the wallet lets its transaction live: a wallet may choose less than the service proposed. */
const LIFETIME_SECONDS = 8;

/** Tempo: the transaction is lost on its way, and `validBefore` passes. */
export function outOfTime(chain: StackChain, payer: StackWallet): Mishap {
  let validBefore = 0;
  const mishap = onEvm(chain, payer, async (hash) => {
    await rpc(chain.rpcUrl, 'anvil_dropTransaction', [hash]);
    await until('validBefore to pass', () => Date.now() >= validBefore * 1000);
    await release(chain.rpcUrl);
    return ['no block takes it in time', `it was valid for ${LIFETIME_SECONDS} s`];
  });
  return {
    ...mishap,
    sign: (blob) => {
      validBefore = Math.floor(Date.now() / 1000) + LIFETIME_SECONDS;
      return tempoWallet(chain, payer).sign(blob, (transaction) => ({ ...transaction, validBefore }));
    },
  };
}
