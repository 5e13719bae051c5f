import { startTempo } from '@pf/testing/chains';
import { tempoOn } from '../tempo/chain.ts';
import { conformanceBehindProviders } from './behind.ts';

conformanceBehindProviders(
  'tempo',
  async () => {
    const tempo = await startTempo();
    return {
      rpcUrl: tempo.rpcUrl,
      at: async (url) => {
        const before = await tempo.rpc<string>('evm_snapshot');
        const chain = await tempoOn(tempo, url);
        return {
          ...chain,
          pass: () => undefined,
          stop: async () => {
            await chain.pool.close();
            await tempo.rpc('evm_revert', before);
          },
        };
      },
      stop: () => tempo.stop(),
    };
  },
  {
    'tempo-rpc': 'serves',
    'tempo-api': 'cannot: watching alone takes more than 20 calls a minute',
    envelopes: 'serves',
    streams: 'serves',
  },
  { finalityGap: true },
);
