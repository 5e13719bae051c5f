import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type RpcProxy, startRpcProxy } from '@pf/testing/chains';
import { z } from 'zod';
import { callRpc, RpcClient, RpcRefusedError, RpcUpstreamError } from '../src/client.ts';

describe('RpcClient', () => {
  let node: RpcProxy;
  let client: RpcClient;

  beforeEach(async () => {
    node = await startRpcProxy('');
    node.respond = ({ method, params }) => {
      if (method === 'sum') return params.reduce<number>((sum, one) => sum + Number(one), 0);
      return method === 'nothing' ? null : new Error('method not found');
    };
    client = new RpcClient(node.url);
  });
  afterEach(() => node.stop());

  it('returns the result of a call', async () => {
    expect(await client.call('sum', [1, 2], z.number())).toBe(3);
    expect(await callRpc(node.url, 'nothing')).toBeNull();
  });

  it('returns the results of a batch in the order of its calls', async () => {
    const calls = [3, 1, 2].map((one) => ({ method: 'sum', params: [one] }));
    expect(await client.batch(calls)).toEqual([3, 1, 2]);
    expect(node.requests).toBe(1);
  });

  it('throws RpcRefusedError with the method and the message of the node', async () => {
    const call = client.call('multiply', [], z.number());
    await expect(call).rejects.toThrow(RpcRefusedError);
    await expect(call).rejects.toThrow('multiply: method not found');
    await expect(client.batch([{ method: 'multiply', params: [] }])).rejects.toThrow(RpcRefusedError);
  });

  it('throws where a result does not match the schema', async () => {
    await expect(client.call('sum', [1], z.string())).rejects.toThrow(z.ZodError);
  });

  it.each([{ kind: 'hang' }, { kind: 'cut' }, { kind: 'malformed' }, { kind: 'status', status: 503 }] as const)(
    'throws RpcUpstreamError without a usable response: %p',
    async (fault) => {
      node.faults = [fault];
      const impatient = new RpcClient(node.url, { timeoutMs: 200 });
      await expect(impatient.call('sum', [1], z.number())).rejects.toThrow(RpcUpstreamError);
    },
  );
});
