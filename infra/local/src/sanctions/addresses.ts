import path from 'node:path';
import { CHAIN_NAMES, type ChainName, CHAINS, forEachChain } from '../chains/chains.ts';
import type { Settings } from '../stack/settings.ts';

// EVM chains share theirs.
const sanctioned = [...new Set(CHAIN_NAMES.map((name) => CHAINS[name].sanctioned))];
export const sanctionedByProvider: readonly string[] = sanctioned.map(({ provider }) => provider);
export const sanctionedByList = sanctioned.map(({ listed }) => ({ ...listed, uid: '1', name: 'LOCAL TEST ENTITY' }));

/** For stack.json: the first is on the list, the second is known to the provider. */
export const sanctionedAddresses = (): Record<ChainName, string[]> =>
  forEachChain((name) => {
    const { listed, provider } = CHAINS[name].sanctioned;
    return [listed.address, provider];
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
