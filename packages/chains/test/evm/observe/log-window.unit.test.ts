import { describe, expect, it } from '@jest/globals';
import type { Address } from '@pf/domain';
import { type RpcCall, type RpcNode, RpcRefusedError } from '@pf/rpc';
import { z } from 'zod';
import { LogWindow } from '../../../src/evm/observe/log-window.ts';

const filter = z.object({
  fromBlock: z.string(),
  toBlock: z.string(),
  address: z.array(z.string()),
  topics: z.tuple([z.array(z.string()), z.null(), z.array(z.string())]),
});
const TOKENS = ['0xa', '0xb', '0xc'];
const recipients = (count: number): Address[] =>
  Array.from({ length: count }, (_, place) => `0x${place.toString(16).padStart(40, 'A')}` as Address);
const WANTED = { address: TOKENS, events: ['0xe'], recipients: recipients(1) };
const hash = (number: string): string => `0x${BigInt(number).toString(16).padStart(64, '0')}`;

interface Asked {
  readonly blocks: number;
  readonly tokens: number;
  readonly recipients: readonly string[];
}

/** A node that refuses the logs of more blocks than `most`, and of more recipients than `listed`. */
function nodeOf(
  plan: RpcNode['plan'],
  most: number,
  listed = Number.POSITIVE_INFINITY,
  refusal = 'exceed max addresses or topics per search position',
): RpcNode & { readonly asked: Asked[] } {
  const asked: Asked[] = [];
  const respond = ({ method, params, parse }: RpcCall<unknown>): unknown => {
    if (method === 'eth_getBlockByNumber')
      return parse({ number: params[0], hash: hash(String(params[0])), parentHash: hash('0x0'), timestamp: '0x1' });
    const { fromBlock, toBlock, address, topics } = filter.parse(params[0]);
    const blocks = Number(toBlock) - Number(fromBlock) + 1;
    asked.push({ blocks, tokens: address.length, recipients: topics[2] });
    if (topics[2].length > listed) return new RpcRefusedError(refusal, -32_602, undefined);
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
    expect(node.asked).toMatchObject([
      { blocks: 2_000, tokens: 2 },
      { blocks: 2_000, tokens: 1 },
    ]);
  });

  describe('with many recipients', () => {
    const read = async (node: RpcNode, count: number, window = new LogWindow()): Promise<void> =>
      void (await window.read(node, { ...WANTED, recipients: recipients(count) }, 1n, 100n, null));
    const listsOf = ({ asked }: { readonly asked: readonly Asked[] }): readonly number[] =>
      asked.map(({ recipients: list }) => list.length);

    it('asks for the logs of each in exactly one list of a thousand', async () => {
      const node = nodeOf({}, 2_000);
      await read(node, 2_500);
      expect(listsOf(node)).toEqual([1_000, 1_000, 500]);
      expect(node.asked.flatMap(({ recipients: list }) => list)).toEqual(
        recipients(2_500).map((address) => `0x${'0'.repeat(24)}${address.slice(2).toLowerCase()}`),
      );
    });

    it('makes lists as long as the plan allows', async () => {
      const node = nodeOf({ logTopics: 400 }, 2_000);
      await read(node, 1_000);
      expect(listsOf(node)).toEqual([400, 400, 200]);
    });

    it('halves the lists, and not the range, where the upstream refuses the filter', async () => {
      const node = nodeOf({}, 2_000, 300);
      const window = new LogWindow();
      await read(node, 1_000, window);
      node.asked.length = 0;
      await read(node, 1_000, window);
      expect(listsOf(node)).toEqual([250, 250, 250, 250]);
      expect(new Set(blocksOf(node))).toEqual(new Set([100]));
    });

    it('halves the lists where the request is too large', async () => {
      const node = nodeOf({}, 2_000, 300, 'request entity too large');
      await read(node, 1_000);
      expect(listsOf(node).slice(-4)).toEqual([250, 250, 250, 250]);
      expect(new Set(blocksOf(node))).toEqual(new Set([100]));
    });

    it('gives up on an upstream that refuses a single block for a single recipient', async () => {
      await expect(read(nodeOf({}, 2_000, 0), 1_000)).rejects.toThrow('node refuses the logs of block 1: exceed max');
    });
  });

  it('reads nothing from an upstream whose history does not reach back so far', async () => {
    const node = nodeOf({ historyBlocks: 7_000 }, 2_000);
    const read = new LogWindow().read(node, WANTED, 1n, 7_001n, null);
    await expect(read).rejects.toMatchObject({ name: 'RpcUpstreamError', fault: 'unsupported' });
    expect((await new LogWindow().read(node, WANTED, 2n, 7_001n, null)).end.number).toBe(2_001n);
  });
});
