import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { upstreamAt } from '@pf/rpc';
import { ConfigurationError, createLogger, loadConfig } from '@pf/runtime';
import { createChains, upstreamsOf, upstreamVariables } from '../src/index.ts';

const read = (environment: Record<string, string>): ReturnType<typeof upstreamsOf> =>
  upstreamsOf(loadConfig(upstreamVariables, environment));
const configured = (json: unknown): ReturnType<typeof upstreamsOf> => read({ RPC_CONFIG: JSON.stringify(json) });
/** What the log says when the chains are made. */
async function warningsOf(json: unknown): Promise<readonly string[]> {
  const warnings: string[] = [];
  const log = createLogger('test', 'silent');
  log.warn = (_fields: unknown, text?: string) => void warnings.push(text ?? '');
  await createChains({ upstreams: configured(json), log }).close();
  return warnings;
}

describe('the configuration of upstreams', () => {
  let folder: string;
  beforeAll(() => void (folder = mkdtempSync(path.join(tmpdir(), 'upstreams-'))));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is URLs by the variable of each network that is served', () => {
    expect([...read({ RPC_BASE_SEPOLIA: 'http://a, http://b', RPC_BASE: '' })]).toEqual([
      ['eip155:84532', [upstreamAt('http://a'), upstreamAt('http://b')]],
    ]);
  });

  it('is an object for each network in RPC_CONFIG, by a path or as its text', () => {
    const json = {
      base: [{ url: 'https://a.example/KEY', preset: 'alchemy-free', logRange: 5 }, 'https://b.example'],
      solana: [{ url: 'https://c.example', callsPerSecond: 3, headers: { 'x-api-key': 'KEY' } }],
    };
    const file = path.join(folder, 'rpc.json');
    writeFileSync(file, JSON.stringify(json));
    const upstreams = read({ RPC_CONFIG: file });
    expect(upstreams).toEqual(configured(json));
    const [first, second] = upstreams.get('eip155:8453' as never) ?? [];
    expect(first).toMatchObject({ plan: { creditsPerSecond: 500, logRange: 5 }, prices: 'alchemy' });
    expect(second).toEqual(upstreamAt('https://b.example'));
    expect([...upstreams.values()].at(0)).toMatchObject([{ headers: { 'x-api-key': 'KEY' } }]);
  });

  it('takes other networks from their variables, and none from both', () => {
    const RPC_CONFIG = JSON.stringify({ base: ['https://a.example'] });
    expect(read({ RPC_CONFIG, RPC_TEMPO: 'https://t.example' }).size).toBe(2);
    expect(() => read({ RPC_CONFIG, RPC_BASE: 'https://b.example' })).toThrow(
      'RPC_BASE: RPC_CONFIG has upstreams of base too: remove one',
    );
  });

  it.each<readonly [unknown, string]>([
    [{ base: [{ url: 'https://a.example', preset: 'alchemy' }] }, 'base[0].preset: Invalid option'],
    [{ base: [{ url: 'ftp://KEY' }] }, 'base[0].url: must be an http:// or https:// URL'],
    [{ base: [] }, 'base: Too small'],
    [{ bass: ['https://a.example'] }, 'Unrecognized key: "bass"'],
    [{ base: [{ url: 'https://a.example', rate: 3 }] }, 'base[0]: Unrecognized key: "rate"'],
    [{ base: [{ url: 'https://a.example', creditsPerSecond: 9 }] }, 'base[0].creditsPerSecond: needs a preset'],
    [{ base: [{ url: 'https://a.example', headers: { 'x-key': 'KEY\n' } }] }, 'base[0].headers'],
  ])('names the field that is wrong, and no value: %p', (json, message) => {
    expect(() => configured(json)).toThrow(ConfigurationError);
    expect(() => configured(json)).toThrow(message);
    expect(() => configured(json)).not.toThrow('KEY');
  });

  describe('of plans that lack what a network needs', () => {
    const url = 'https://a.example';
    const only = (preset: string, url: string) => ({ url, preset });

    it.each([
      [
        'base',
        'publicnode-base',
        'no upstream has eth_getTransactionReceipt, and it tells whether a payment succeeded',
      ],
      ['base', 'drpc-free', 'no upstream has eth_getLogs, and payments are found by it'],
    ])('is refused on %s where %s is the only one, or all are alike', (network, preset, reason) => {
      const message = `RPC_CONFIG: ${network}: ${reason}`;
      expect(() => configured({ [network]: [only(preset, url)] })).toThrow(ConfigurationError);
      expect(() => configured({ [network]: [only(preset, url), only(preset, 'https://b.example')] })).toThrow(message);
      expect(configured({ [network]: [only(preset, url), 'https://b.example'] }).size).toBe(1);
    });

    it('is refused where each has what the other lacks, as a step of a watcher asks one upstream', () => {
      const both = [only('publicnode-base', url), only('drpc-free', 'https://b.example')];
      expect(() => configured({ base: both })).toThrow(
        'base: no upstream has all of eth_getLogs, eth_getTransactionReceipt, eth_getBlockByNumber, which a step of ' +
          'the watcher asks of one: add one whose plan has them',
      );
      expect(configured({ base: [...both, 'https://c.example'] }).size).toBe(1);
    });

    it.each([
      ['tempo', 'tempo-api', 'the only upstream allows 0.33 calls a second, and watching needs 4'],
      ['solana-devnet', 'solana-devnet-public', 'the only upstream allows 1 calls a second, and watching needs 3'],
    ])('is warned of on %s where %s is the only one', async (network, preset, warning) => {
      expect(await warningsOf({ [network]: [only(preset, url)] })).toEqual([expect.stringContaining(warning)]);
      expect(await warningsOf({ [network]: [only(preset, url), 'https://b.example'] })).toEqual([]);
    });

    it('is warned of where the only upstream has logs of some blocks', async () => {
      const short = { url, historyBlocks: 7_000 };
      expect(await warningsOf({ base: [short] })).toEqual([
        'the only upstream has the logs of 7000 blocks: a watcher that stops for longer needs another',
      ]);
      expect(await warningsOf({ base: [short, 'https://b.example'] })).toEqual([]);
    });
  });

  it('quotes nothing of what cannot be read', () => {
    for (const text of ['{"base": ["https://KEY"', '/nowhere/KEY.json']) {
      expect(() => read({ RPC_CONFIG: text })).toThrow('must be JSON, or the path of a JSON file');
      expect(() => read({ RPC_CONFIG: text })).not.toThrow('KEY');
    }
  });
});
