import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startTempo, type Tempo } from '../../src/chains/index.ts';
import { Providers, refusal, times } from './client.ts';

let tempo: Tempo;
const providers = new Providers(() => tempo.rpcUrl);
beforeAll(async () => {
  tempo = await startTempo();
});
afterEach(() => providers.stop());
afterAll(() => tempo.stop());

const hex = (value: number): string => `0x${value.toString(16)}`;

describe('tempo-rpc', () => {
  it('refuses the logs of 100,001 blocks', async () => {
    const client = await providers.start('tempo-rpc');
    const over = (blocks: number) => client.call('eth_getLogs', { fromBlock: '0x0', toBlock: hex(blocks - 1) });
    expect((await over(100_000)).json).toHaveProperty('result');
    expect(await over(100_001)).toMatchObject({
      status: 200,
      json: refusal(-32_602, 'query exceeds max block range 100000'),
    });
  });

  it('suggests a range that has no more than 20,000 logs', async () => {
    const client = await providers.start('tempo-rpc', { limits: { logResults: 3 } });
    const { json } = await client.call('eth_getLogs', { fromBlock: '0x0', toBlock: 'latest' });
    const message = /^query exceeds max results 3, retry with the range 0-(\d+)$/;
    expect(json).toEqual(refusal(-32_602, expect.stringMatching(message)));
    const [, last] = message.exec((json as { error: { message: string } }).error.message) ?? [];
    const again = await client.call('eth_getLogs', { fromBlock: '0x0', toBlock: hex(Number(last)) });
    expect((again.json as { result: readonly unknown[] }).result.length).toBeLessThanOrEqual(3);
  });

  it('responds to an array by one error where all responses together are too big', async () => {
    const client = await providers.start('tempo-rpc', { limits: { arrayBytes: 500 } });
    const blocks = (count: number) => client.array(times(count, ['eth_getBlockByNumber', 'latest', false] as const));
    expect(await blocks(2)).toMatchObject({
      status: 200,
      json: {
        jsonrpc: '2.0',
        id: null,
        error: { code: -32_008, message: 'Response is too big', data: 'Exceeded max limit of 500' },
      },
    });
    expect((await client.array([['eth_chainId']])).json).toMatchObject([{ id: 0 }]);
  });
});

describe('tempo-api', () => {
  it('refuses the 21st call of a minute with 402 and no JSON, or with 429', async () => {
    const client = await providers.start('tempo-api');
    for (const _ of times(20, null)) expect((await client.call('eth_chainId')).status).toBe(200);
    const unpaid = await client.call('eth_chainId');
    expect([unpaid.status, unpaid.json, unpaid.headers.has('www-authenticate')]).toEqual([402, undefined, true]);
    const throttled = await client.call('eth_chainId');
    expect([throttled.status, throttled.headers.get('retry-after')]).toEqual([429, '12']);
    providers.now += 60_000;
    expect((await client.call('eth_chainId')).status).toBe(200);
  });
});
