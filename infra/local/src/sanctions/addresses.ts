import path from 'node:path';
import { type ChainName, forEachChain } from '../chains/chains.ts';
import type { Settings } from '../stack/settings.ts';

/**
 * Unused wallets that are sanctioned in the local stack: one only on the list, one only known to the provider. The EVM
 * chains share theirs.
 */
const SANCTIONED = {
  evm: { list: '0xb347602026A95B43AaE9dF164E3749Be50f017E1', provider: '0x8Fb3F31a7c6A39484053c09D8EbaBcBE12E5014A' },
  solana: {
    list: 'D4q6xdn1P38gQjn3Rkrj5MrAVsediTvNNRZy1ZpX1YeQ',
    provider: 'AfxT3uKwC9pRkkJi82SVXYD4hqE6fYbrnJGLw9D3ELqi',
  },
} as const;

export const sanctionedByProvider: readonly string[] = [SANCTIONED.evm.provider, SANCTIONED.solana.provider];
export const sanctionedByList = [
  { address: SANCTIONED.evm.list, label: 'USDC', uid: '1', name: 'LOCAL TEST ENTITY' },
  { address: SANCTIONED.solana.list, label: 'SOL', uid: '1', name: 'LOCAL TEST ENTITY' },
];

/** For stack.json: the first is on the list, the second is known to the provider. */
export const sanctionedAddresses = (): Record<ChainName, string[]> =>
  forEachChain((name) => {
    const { list, provider } = SANCTIONED[name === 'solana' ? 'solana' : 'evm'];
    return [list, provider];
  });

/** The list and the provider that this stack screens with; `pf sanctions` reads them from stack.json. */
export const sanctionsOf = ({ data, ports }: Settings) => ({
  listFile: path.join(data, 'sanctions-list.json'),
  providerUrl: `http://127.0.0.1:${ports.sanctions}`,
  apiKey: 'local-sanctions-provider-key',
});

/** The gateway's variables. */
export function screeningVariables(settings: Settings): Readonly<Record<string, string>> {
  const { listFile, providerUrl, apiKey } = sanctionsOf(settings);
  return {
    SCREENING: 'on',
    SCREENING_LIST_FILE: listFile,
    SCREENING_API_URL: providerUrl,
    SCREENING_API_KEY: apiKey,
    // 10 minutes in production. Here a developer who stops the provider should see the effect at once.
    SCREENING_CACHE_SECONDS: '1',
  };
}
