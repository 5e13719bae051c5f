import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { upstreamAt } from '@pf/rpc';
import { ConfigurationError, loadConfig } from '@pf/runtime';
import { upstreamsOf, upstreamVariables } from '../src/index.ts';

const read = (environment: Record<string, string>): ReturnType<typeof upstreamsOf> =>
  upstreamsOf(loadConfig(upstreamVariables, environment));
const configured = (json: unknown): ReturnType<typeof upstreamsOf> => read({ RPC_CONFIG: JSON.stringify(json) });

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

  it('quotes nothing of what cannot be read', () => {
    for (const text of ['{"base": ["https://KEY"', '/nowhere/KEY.json']) {
      expect(() => read({ RPC_CONFIG: text })).toThrow('must be JSON, or the path of a JSON file');
      expect(() => read({ RPC_CONFIG: text })).not.toThrow('KEY');
    }
  });
});
