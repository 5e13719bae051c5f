import { describe, expect, it } from '@jest/globals';
import { type RpcCall, type RpcNode, RpcRefusedError } from '@pf/rpc';
import { z } from 'zod';
import { LogWindow } from '../../src/evm/observe/log-window.ts';

const filter = z.object({ fromBlock: z.string(), toBlock: z.string(), address: z.array(z.string()) });
const TOKENS = ['0xa', '0xb', '0xc'];
const WANTED = { address: TOKENS, topics: [] };
const hash = (number: string): string => `0x${BigInt(number).toString(16).padStart(64, '0')}`;

/** A node that refuses the logs of more blocks than `most`. */
function nodeOf(
  plan: RpcNode['plan'],
  most: number,
): RpcNode & { readonly asked: { blocks: number; tokens: number }[] } {
  const asked: { blocks: number; tokens: number }[] = [];
  const respond = ({ method, params, parse }: RpcCall<unknown>): unknown => {
    if (method === 'eth_getBlockByNumber')
      return parse({ number: params[0], hash: hash(String(params[0])), parentHash: hash('0x0'), timestamp: '0x1' });
    const { fromBlock, toBlock, address } = filter.parse(params[0]);
    const blocks = Number(toBlock) - Number(fromBlock) + 1;
    asked.push({ blocks, tokens: address.length });
    return blocks > most ? new RpcRefusedError('too many blocks', -32_600, undefined) : [];
  };
  return {
    name: 'node',
    plan,
    callsIn: () => Number.POSITIVE_INFINITY,
    asked,
    call: (call) => Promise.resolve(respond(call) as never),
    batch: (calls) => Promise.resolve(calls.map(respond) as never),
  };
}
const blocksOf = ({ asked }: { readonly asked: readonly { readonly blocks: number }[] }): readonly number[] =>
  asked.map(({ blocks }) => blocks);

describe('LogWindow', () => {
  /** Reads on from block 1, as far as each call reaches. */
  async function readOn(window: LogWindow, node: RpcNode, times: number): Promise<bigint> {
    let from = 1n;
    for (let time = 0; time < times; time++)
      from = (await window.read(node, WANTED, from, 1_000_000n, null)).end.number + 1n;
    return from;
  }

  it('begins with the range of the plan, which is not refused', async () => {
    const node = nodeOf({ logRange: 10 }, 10);
    expect(await readOn(new LogWindow(), node, 20)).toBe(201n);
    expect(new Set(blocksOf(node))).toEqual(new Set([10]));
  });

  it('finds the limit that is not known by halves, and stays there', async () => {
    const node = nodeOf({}, 10);
    await readOn(new LogWindow(), node, 20);
    expect(blocksOf(node).slice(0, 9)).toEqual([2_000, 1_000, 500, 250, 125, 62, 31, 15, 7]);
    expect(new Set(blocksOf(node).slice(-10))).toEqual(new Set([10]));
  });

  it('learns of each upstream by itself', async () => {
    const [narrow, wide] = [nodeOf({}, 10), nodeOf({}, 5_000)];
    const window = new LogWindow();
    await readOn(window, narrow, 3);
    await readOn(window, wide, 3);
    expect(blocksOf(wide)).toEqual([2_000, 2_000, 2_000]);
  });

  it('learns nothing from the refusal of a single block, and leaves the upstream to what it can do', async () => {
    const node = nodeOf({}, 0);
    const window = new LogWindow();
    const read = (): Promise<unknown> => window.read(node, WANTED, 1n, 1_000_000n, null);
    await expect(read()).rejects.toMatchObject({ name: 'RpcUpstreamError', fault: 'unsupported' });
    await expect(read()).rejects.toThrow('refuses the logs of block 1');
    expect(blocksOf(node).filter((blocks) => blocks === 2_000)).toHaveLength(2);
  });

  it('asks for as many addresses at a time as the plan allows', async () => {
    const node = nodeOf({ logAddresses: 2 }, 2_000);
    await readOn(new LogWindow(), node, 1);
    expect(node.asked).toEqual([
      { blocks: 2_000, tokens: 2 },
      { blocks: 2_000, tokens: 1 },
    ]);
  });

  it('reads nothing from an upstream whose history does not reach back so far', async () => {
    const node = nodeOf({ historyBlocks: 7_000 }, 2_000);
    const read = new LogWindow().read(node, WANTED, 1n, 7_001n, null);
    await expect(read).rejects.toMatchObject({ name: 'RpcUpstreamError', fault: 'unsupported' });
    expect((await new LogWindow().read(node, WANTED, 2n, 7_001n, null)).end.number).toBe(2_001n);
  });
});
