import { startSolana } from '@pf/testing/chains';
import { solanaOn } from '../solana/chain.ts';
import { conformanceBehindProviders } from './behind.ts';

conformanceBehindProviders(
  'solana',
  async () => {
    const node = await startSolana();
    return {
      rpcUrl: node.rpcUrl,
      at: async (url) => {
        const chain = await solanaOn(node, url);
        return { ...chain, pass: () => chain.clock.pass(600_000), stop: () => chain.pool.close() };
      },
      stop: () => node.stop(),
    };
  },
  {},
);
