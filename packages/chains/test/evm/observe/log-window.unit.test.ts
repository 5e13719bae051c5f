import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Address } from '@pf/domain';
import { type RpcCall, type RpcNode, RpcRefusedError, RpcUpstreamError } from '@pf/rpc';
import { z } from 'zod';
import { LogWindow, topicOf } from '../../../src/evm/observe/log-window.ts';

const filter = z.object({
  fromBlock: z.string(),
  toBlock: z.string(),
  address: z.array(z.string()),
  topics: z.union([z.tuple([z.array(z.string()), z.null(), z.array(z.string())]), z.tuple([z.array(z.string())])]),
});
const LEARNED_MS = 60 * 60_000;
const TOKENS = ['0xa', '0xb', '0xc'];
const recipients = (count: number): Address[] =>
  Array.from({ length: count }, (_, place) => `0x${place.toString(16).padStart(40, 'A')}` as Address);
const [TOKEN, STRANGER] = ['0x036CbD53842c5426634e7929541eC2318f3dCF7e', `0x${'1'.repeat(40)}`] as [Address, Address];
const WANTED = { address: TOKENS, events: ['0xe'], recipients: recipients(1) };
const hash = (number: string): string => `0x${BigInt(number).toString(16).padStart(64, '0')}`;

interface Asked {
  readonly blocks: number;
  readonly tokens: number;
  /** Null: all. */
  readonly recipients: readonly string[] | null;
}

/** How a node limits eth_getLogs, beside the number of blocks. */
interface Limits {
  readonly listed?: number;
  readonly refusal?: string;
  readonly contracts?: number;
  /** Blocks below its head (1,000,000). */
  readonly history?: number;
  readonly logs?: readonly unknown[];
  /** How long its response about a block is. */
  readonly bytesOfBlock?: number;
  /** What it says of too many blocks. */
  readonly ofRange?: (from: bigint, most: number) => string;
}
const HEAD = 1_000_000;
/** What a call for a list reads that sets itself no bound. */
const RESPONSE_MAX_BYTES = 64 * 2 ** 20;
const hexOf = (value: bigint): string => `0x${value.toString(16)}`;

/** A node that refuses the logs of more blocks than `most`, and of more recipients than `listed`. */
function nodeOf(
  plan: RpcNode['plan'],
  most: number,
  {
    listed = Number.POSITIVE_INFINITY,
    refusal = 'exceed max addresses or topics per search position',
    contracts = Number.POSITIVE_INFINITY,
    history = Number.POSITIVE_INFINITY,
    logs = [],
    bytesOfBlock = 0,
    ofRange = () => 'too many blocks',
  }: Limits = {},
): RpcNode & { readonly asked: Asked[] } {
  const asked: Asked[] = [];
  const respond = ({ method, params, parse, maxBytes = RESPONSE_MAX_BYTES }: RpcCall<unknown>): unknown => {
    if (method === 'eth_getBlockByNumber')
      return parse({ number: params[0], hash: hash(String(params[0])), parentHash: hash('0x0'), timestamp: '0x1' });
    if (method === 'eth_blockNumber') return parse(`0x${HEAD.toString(16)}`);
    const { fromBlock, toBlock, address, topics } = filter.parse(params[0]);
    const blocks = Number(toBlock) - Number(fromBlock) + 1;
    const list = topics[2] ?? null;
    asked.push({ blocks, tokens: address.length, recipients: list });
    if (blocks * bytesOfBlock > maxBytes)
      throw new RpcUpstreamError('node is unreachable (ERR_BUFFER_TOO_LARGE)', 'maybe', undefined, 'unreachable');
    if ((list?.length ?? 0) > listed) return new RpcRefusedError(refusal, -32_602, undefined);
    if (address.length > contracts)
      return new RpcRefusedError('Request blocked. Details: blocked parameter: params.0.address.#', -32_602, undefined);
    if (HEAD - Number(fromBlock) > history)
      return new RpcRefusedError('Archive requests require a personal token.', -32_602, undefined);
    return blocks > most ? new RpcRefusedError(ofRange(BigInt(fromBlock), most), -32_600, undefined) : logs;
  };
  return {
    name: 'node',
    plan,
    callsIn: () => Number.POSITIVE_INFINITY,
    asked,
    call: (call) => Promise.resolve(respond(call) as never),
    // As in a response to several: the call that may have the longest result decides, of those that set a bound.
    batch: (calls) => {
      const maxBytes = Math.max(
        ...calls.flatMap((call) => call.maxBytes ?? (call.readElement === undefined ? [] : RESPONSE_MAX_BYTES)),
      );
      return Promise.resolve(calls.map((call) => respond({ ...call, maxBytes })) as never);
    },
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

  it('asks for fewer blocks in the same reading where their logs are more than is parsed in a moment', async () => {
    const node = nodeOf({}, 2_000, { bytesOfBlock: 100_000 });
    await readOn(new LogWindow(), node, 3);
    expect(blocksOf(node).slice(0, 7)).toEqual([2_000, 1_000, 500, 250, 125, 62, 31]);
    expect(
      blocksOf(node)
        .slice(7)
        .every((blocks) => blocks < 62),
    ).toBe(true);
  });

  it('reads a single block however many logs it has', async () => {
    const node = nodeOf({}, 2_000, { bytesOfBlock: 10_000_000 });
    expect(await readOn(new LogWindow(), node, 3)).toBe(4n);
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

  it('halves the list of contracts, and not the range, where the upstream blocks so many', async () => {
    const node = nodeOf({}, 2_000, { contracts: 1 });
    await readOn(new LogWindow(), node, 2);
    expect(node.asked.map(({ tokens }) => tokens)).toEqual([3, 2, 1, 1, 1, 1, 1, 1, 1]);
    expect(new Set(blocksOf(node))).toEqual(new Set([2_000]));
  });

  describe('where the upstream suggests a range', () => {
    const shouldWork = (from: bigint, most: number): string =>
      `up to a ${most} block range. Based on your parameters, this block range should work: ` +
      `[${hexOf(from)}, ${hexOf(from + BigInt(most) - 1n)}]. Upgrade to PAYG for expanded block range.`;
    const retryWith = (from: bigint, most: number): string =>
      `query exceeds max results 20000, retry with the range ${from}-${from + BigInt(most) - 1n}`;

    it('reads that one, and none that is longer', async () => {
      const node = nodeOf({}, 10, { ofRange: shouldWork });
      await readOn(new LogWindow(), node, 4);
      expect(blocksOf(node)).toEqual([2_000, 10, 10, 10, 10]);
    });

    it('tries longer ones again where it had too many results', async () => {
      const node = nodeOf({}, 500, { ofRange: retryWith });
      await readOn(new LogWindow(), node, 2);
      expect(blocksOf(node)).toEqual([2_000, 500, 1_250, 500]);
    });

    it('halves where the suggestion is of no use', async () => {
      const node = nodeOf({}, 1_000, { ofRange: () => 'Try with this block range [0x2, 0xffffff].' });
      await readOn(new LogWindow(), node, 1);
      expect(blocksOf(node)).toEqual([2_000, 1_000]);
    });
  });

  describe('where old blocks are refused', () => {
    const read = (window: LogWindow, node: RpcNode, from: number): Promise<unknown> =>
      window.read(node, WANTED, BigInt(from), BigInt(HEAD), null);

    it('asks once, and not again for what is as old', async () => {
      const [node, window] = [nodeOf({}, 2_000, { history: 7_000 }), new LogWindow()];
      await expect(read(window, node, HEAD - 8_000)).rejects.toMatchObject({ fault: 'unsupported' });
      await expect(read(window, node, HEAD - 8_001)).rejects.toThrow(
        'has the logs of 8000 blocks, and 8002 are unread',
      );
      expect(blocksOf(node)).toEqual([2_000]);
      await read(window, node, HEAD - 7_000);
      expect(blocksOf(node)).toEqual([2_000, 2_000]);
    });

    it('learns nothing of newer blocks from a range that ends far below the head', async () => {
      const [node, window] = [nodeOf({}, 2_000, { history: 7_000 }), new LogWindow()];
      await expect(window.read(node, WANTED, 1n, 10n, null)).rejects.toMatchObject({ fault: 'unsupported' });
      await read(window, node, HEAD - 7_000);
    });
  });

  describe('an hour after it learned', () => {
    beforeEach(() => void jest.useFakeTimers({ now: 0 }));
    afterEach(() => void jest.useRealTimers());

    it.each<[string, Limits, number]>([
      ['the range', {}, 10],
      ['the list of contracts', { contracts: 1 }, 2_000],
      ['the list of recipients', { listed: 300 }, 2_000],
      ['the history', { history: 7_000 }, 2_000],
    ])('asks without the limit of %s', async (_what, limits, most) => {
      const [node, window] = [nodeOf({}, most, limits), new LogWindow()];
      const wanted = { ...WANTED, recipients: recipients(1_000) };
      const isWhole = async (): Promise<boolean> => {
        node.asked.length = 0;
        const from = BigInt(HEAD - 8_000);
        await window.read(node, wanted, from, BigInt(HEAD), null).catch(() => undefined);
        const [first] = node.asked;
        return first?.blocks === 2_000 && first.tokens === TOKENS.length && first.recipients?.length === 1_000;
      };
      expect([await isWhole(), await isWhole()]).toEqual([true, false]);
      jest.advanceTimersByTime(LEARNED_MS - 1);
      expect(await isWhole()).toBe(false);
      jest.advanceTimersByTime(LEARNED_MS);
      expect(await isWhole()).toBe(true);
    });
  });

  describe('with many recipients', () => {
    const read = async (node: RpcNode, count: number, window = new LogWindow()): Promise<void> =>
      void (await window.read(node, { ...WANTED, recipients: recipients(count) }, 1n, 100n, null));
    const listsOf = ({ asked }: { readonly asked: readonly Asked[] }): readonly number[] =>
      asked.map(({ recipients: list }) => list?.length ?? Number.POSITIVE_INFINITY);

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
      const node = nodeOf({}, 2_000, { listed: 300 });
      const window = new LogWindow();
      await read(node, 1_000, window);
      node.asked.length = 0;
      await read(node, 1_000, window);
      expect(listsOf(node)).toEqual([250, 250, 250, 250]);
      expect(new Set(blocksOf(node))).toEqual(new Set([100]));
    });

    it('halves the lists where the request is too large', async () => {
      const node = nodeOf({}, 2_000, { listed: 300, refusal: 'request entity too large' });
      await read(node, 1_000);
      expect(listsOf(node).slice(-4)).toEqual([250, 250, 250, 250]);
      expect(new Set(blocksOf(node))).toEqual(new Set([100]));
    });

    it('asks for those of all at once beyond 16 lists, and returns those of its recipients alone', async () => {
      const to = (...topics: readonly string[]): object => ({
        address: TOKEN,
        topics: ['0xe', topicOf(TOKEN), ...topics],
        data: '0x01',
        blockNumber: '0x1',
        blockHash: hash('0x1'),
        transactionHash: hash('0x2'),
        logIndex: '0x0',
      });
      const node = nodeOf({}, 2_000, { logs: [to(topicOf(TOKEN)), to(topicOf(STRANGER)), to()] });
      await read(node, 16_000);
      expect(listsOf(node)).toEqual(Array.from({ length: 16 }, () => 1_000));
      node.asked.length = 0;
      const wanted = { ...WANTED, recipients: [...recipients(16_000), TOKEN] };
      const { logs } = await new LogWindow().read(node, wanted, 1n, 100n, null);
      expect(node.asked.map(({ recipients: list }) => list)).toEqual([null]);
      expect(logs.map(({ topics }) => topics[2])).toEqual([topicOf(TOKEN)]);
    });

    it('halves the range, and not lists, where the upstream refuses those of all', async () => {
      const refusal = 'query exceeds max results, narrow the topics';
      const node = nodeOf({}, 60, { ofRange: () => refusal });
      await read(node, 16_001);
      expect(blocksOf(node)).toEqual([100, 50]);
    });

    it('gives up on an upstream that refuses a single block for a single recipient', async () => {
      await expect(read(nodeOf({}, 2_000, { listed: 0 }), 10)).rejects.toThrow(
        'node refuses the logs of block 1: exceed max',
      );
    });
  });

  it('reads nothing from an upstream whose history does not reach back so far', async () => {
    const node = nodeOf({ historyBlocks: 7_000 }, 2_000);
    const read = new LogWindow().read(node, WANTED, 1n, 7_001n, null);
    await expect(read).rejects.toMatchObject({ name: 'RpcUpstreamError', fault: 'unsupported' });
    expect((await new LogWindow().read(node, WANTED, 2n, 7_001n, null)).end.number).toBe(2_001n);
  });
});
