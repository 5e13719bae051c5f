import { type StackChain, type StackWallet, walletOn } from '@pf/testing';
import { z } from 'zod';
import { rpc } from '../../rpc.ts';
import type { Mishap } from './mishap.ts';

const landed = z.object({ meta: z.object({ err: z.unknown(), logMessages: z.array(z.string()) }) });

/** With the controls of the local Solana (infra/local/solana): what comes from this payer meets the fault. */
function onSolana(chain: StackChain, payer: StackWallet, fault: 'local_drop' | 'local_fail', strike: Mishap['strike']): Mishap {
  return {
    payer,
    async arm() {
      await rpc(chain.rpcUrl, fault, [{ payer: payer.address }]);
      return [`(the chain is told: ${fault})`, ''];
    },
    sign: (blob) => walletOn(chain, payer).sign(blob),
    strike,
    async reason(signature) {
      const { meta } = landed.parse(await rpc(chain.rpcUrl, 'getTransaction', [signature, { encoding: 'json', commitment: 'confirmed', maxSupportedTransactionVersion: 0 }]));
      const said = meta.logMessages.findLast((line) => line.startsWith('Program log: '));
      return `${JSON.stringify(meta.err)} ${said ?? ''}`.trim();
    },
    undo: async () => void (await rpc(chain.rpcUrl, 'local_heal')),
  };
}

/** No leader takes it into a block before its blockhash is too old. */
export const leftOut = (chain: StackChain, payer: StackWallet): Mishap =>
  onSolana(chain, payer, 'local_drop', async () => {
    await rpc(chain.rpcUrl, 'local_expire');
    return ['no leader takes it', '150 blocks pass, and its blockhash is too old'];
  });

/** The payer's token account is frozen when the transaction comes to it. */
export const accountFrozen = (chain: StackChain, payer: StackWallet): Mishap =>
  onSolana(chain, payer, 'local_fail', async () => ["the payer's account is frozen", 'just before the transaction']);
