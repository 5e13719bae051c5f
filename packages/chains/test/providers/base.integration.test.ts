import { startAnvil } from '@pf/testing/chains';
import { baseOn } from '../base/chain.ts';
import { conformanceBehindProviders } from './behind.ts';

conformanceBehindProviders(
  'base',
  async () => {
    const anvil = await startAnvil();
    // More than the nodes of a pool are behind.
    await anvil.mine(10);
    return {
      rpcUrl: anvil.rpcUrl,
      at: async (url) => {
        const before = await anvil.rpc<string>('evm_snapshot');
        const chain = await baseOn(anvil, url);
        return {
          ...chain,
          pass: () => chain.clock.pass(600_000),
          stop: async () => {
            await chain.pool.close();
            await anvil.rpc('evm_revert', before);
          },
        };
      },
      stop: () => anvil.stop(),
    };
  },
  {
    quicknode: 'serves',
    'alchemy-free': 'serves',
    infura: 'serves',
    cdp: 'serves',
    'base-public': 'serves',
    'base-pool': 'serves',
    'base-flashblocks': 'serves',
    'publicnode-base': 'cannot: receipts are refused, and they tell whether a payment succeeded',
    'drpc-free': 'cannot: logs are refused, and payments are found by them',
    'ankr-public': 'serves',
    envelopes: 'serves',
    streams: 'serves',
  },
  { expiry: true },
);
