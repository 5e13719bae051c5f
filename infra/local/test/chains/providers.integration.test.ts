import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { callRpc } from '@pf/rpc/client';
import { type Anvil, startAnvil } from '@pf/testing/chains';
import { forEachChain } from '../../src/chains/chains.ts';
import { readProviders, type RunningProviders, startProviders } from '../../src/chains/providers.ts';
import { readSettings } from '../../src/stack/settings.ts';

describe('--provider of npm start', () => {
  it('lists profiles, each once', () => {
    expect(readProviders([])).toEqual([]);
    expect(readProviders(['--provider', 'base-public, helius-free', '--provider=base-public'])).toEqual([
      'base-public',
      'helius-free',
    ]);
  });

  it('is refused with the list of profiles where one is unknown, and with other arguments', () => {
    expect(() => readProviders(['--provider', 'base-publik'])).toThrow(
      /^--provider: there is no profile "base-publik"\. The profiles are helius-free, .*streams\.$/,
    );
    expect(() => readProviders(['--providers', 'cdp'])).toThrow(/--providers/);
  });
});

describe('providers before the local chains', () => {
  let anvil: Anvil;
  let running: RunningProviders | null = null;
  beforeAll(async () => {
    anvil = await startAnvil();
  });
  afterEach(async () => {
    await running?.stop();
    running = null;
  });
  afterAll(() => anvil.stop());
  const settingsWith = (env: Record<string, string>) => readSettings(env, '/repository');
  const chains = () => forEachChain(() => ({ rpcUrl: anvil.rpcUrl }));

  it('stand before every chain of their family, as its upstreams in their order', async () => {
    running = await startProviders(['publicnode-base', 'quicknode'], settingsWith({}), chains());
    const { base, baseLive, solana, tempo } = running.upstreams;
    const all = [base, baseLive].flatMap((urls) => urls.split(','));
    expect([new Set(all).size, solana.split(',').length, tempo]).toEqual([4, 1, anvil.rpcUrl]);
    for (const url of all) expect(await callRpc(url, 'eth_chainId')).toBe('0x14a34');
    await expect(callRpc(all[0] ?? '', 'eth_getTransactionReceipt', ['0x'])).rejects.toThrow('Request blocked');
    expect(running.lines).toEqual([
      `Base Sepolia is behind the provider profile publicnode-base, at ${all[0]}`,
      `Base is behind the provider profile publicnode-base, at ${all[2]}`,
      expect.stringMatching(/^ {2}Over publicnode-base alone the services cannot confirm a payment: .*\.$/),
      `Base Sepolia is behind the provider profile quicknode, at ${all[1]}`,
      `Base is behind the provider profile quicknode, at ${all[3]}`,
      `Solana devnet is behind the provider profile quicknode, at ${solana}`,
    ]);
  });

  it('leave chains alone that run elsewhere', async () => {
    const elsewhere = settingsWith({ RPC_TEMPO_MODERATO: 'https://a.example,https://b.example' });
    running = await startProviders([], elsewhere, chains());
    expect(running.upstreams).toMatchObject({ base: anvil.rpcUrl, tempo: 'https://a.example,https://b.example' });
    await expect(startProviders(['cdp', 'tempo-rpc'], elsewhere, chains())).rejects.toThrow(
      '--provider: tempo-rpc serves tempo, of which no chain runs here.',
    );
  });
});
