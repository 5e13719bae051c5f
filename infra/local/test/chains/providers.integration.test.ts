import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { callRpc } from '@pf/rpc/client';
import { type Anvil, startAnvil } from '@pf/testing/chains';
import { CHAINS, forEachChain } from '../../src/chains/chains.ts';
import { type RunningProviders, START, startProviders } from '../../src/chains/providers.ts';
import { readCommandLine } from '../../src/command-line.ts';
import { readSettings } from '../../src/stack/settings.ts';

describe('--provider of npm start', () => {
  const read = (...args: string[]) => readCommandLine(args, START);

  it('lists profiles, each once', () => {
    expect(read()).toMatchObject({ values: { provider: [] } });
    expect(read('--provider', 'base-public, helius-free', '--provider=base-public')).toMatchObject({
      values: { provider: ['base-public', 'helius-free'] },
    });
    expect(read('--provider', 'base-public+envelopes')).toMatchObject({
      values: { provider: ['base-public+envelopes'] },
    });
  });

  it('is refused with the list of profiles where one is unknown, and with other arguments', () => {
    expect(read('--provider', 'base-publik')).toEqual({
      kind: 'wrong',
      problem: expect.stringMatching(
        /^--provider: there is no profile "base-publik"\. The profiles are helius-free, .*streams\.$/,
      ),
    });
    expect(read('--providers', 'cdp')).toEqual({ kind: 'wrong', problem: expect.stringContaining('--providers') });
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
    const { RPC_CONFIG = '', ...upstreams } = running.upstreams;
    const config = JSON.parse(RPC_CONFIG) as Record<string, { url: string; stream: string }[]>;
    const [solana] = config['solana-devnet'] ?? [];
    const all = [...(config['base-sepolia'] ?? []), ...(config['base'] ?? [])].map(({ url }) => url);
    expect(upstreams).toMatchObject({ RPC_BASE_SEPOLIA: '', RPC_SOLANA_DEVNET: '', RPC_TEMPO_MODERATO: anvil.rpcUrl });
    expect([Object.keys(config).length, new Set(all).size]).toEqual([3, 4]);
    expect(solana?.stream).toBe(solana?.url.replace('http:', 'ws:'));
    for (const url of all) expect(await callRpc(url, 'eth_chainId')).toBe('0x14a34');
    await expect(callRpc(all[0] ?? '', 'eth_getTransactionReceipt', ['0x'])).rejects.toThrow('Request blocked');
    expect(running.lines).toEqual([
      `Base Sepolia is behind the provider profile publicnode-base, at ${all[0]}`,
      `Base is behind the provider profile publicnode-base, at ${all[2]}`,
      expect.stringMatching(/^ {2}Over publicnode-base alone the services cannot confirm a payment: .*\.$/),
      `Base Sepolia is behind the provider profile quicknode, at ${all[1]}`,
      `Base is behind the provider profile quicknode, at ${all[3]}`,
      `Solana devnet is behind the provider profile quicknode, at ${solana?.url}`,
    ]);
  });

  it('leave chains alone that run elsewhere', async () => {
    const elsewhere = settingsWith({ RPC_TEMPO_MODERATO: 'https://a.example,https://b.example' });
    running = await startProviders([], elsewhere, chains());
    expect(running.upstreams).toEqual({
      ...Object.fromEntries(Object.values(CHAINS).map(({ upstreams }) => [upstreams, anvil.rpcUrl])),
      RPC_TEMPO_MODERATO: 'https://a.example,https://b.example',
    });
    await expect(startProviders(['cdp', 'tempo-rpc'], elsewhere, chains())).rejects.toThrow(
      '--provider: tempo-rpc serves tempo, of which no chain runs here.',
    );
  });
});
