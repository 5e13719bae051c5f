import { describe, expect, it } from '@jest/globals';
import type { Address, ChainId } from '@pf/domain';
import { type RpcCall, type RpcPool, RpcRefusedError, RpcUnavailableError } from '@pf/rpc';
import { z } from 'zod';
import { readTransfer, TRANSFER } from '../../src/base/observe/landings.ts';
import { EvmWalletHistory } from '../../src/evm/wallet-history.ts';
import { type Moved, networkOf } from '../../src/index.ts';
import { respondingNode } from '../nodes.ts';

const NETWORK = networkOf('eip155:84532' as ChainId);
const USDC = NETWORK.tokens.find(({ symbol }) => symbol === 'USDC')?.address ?? '';
const [WALLET, OTHER, THIRD] = ['1', '2', '3'].map((digit) => `0x${digit.repeat(40)}`) as [Address, Address, Address];
const word = (hex: string): string => `0x${hex.replace('0x', '').padStart(64, '0')}`;

interface Sent {
  readonly block: number;
  readonly hash: string;
  readonly from: string;
  readonly to: string;
  readonly amount: number;
}
const logOf = ({ block, hash, from, to, amount }: Sent, place: number): unknown => ({
  address: USDC,
  topics: [TRANSFER, word(from), word(to)],
  data: word(amount.toString(16)),
  blockNumber: `0x${block.toString(16)}`,
  blockHash: word('b'),
  transactionHash: word(hash),
  logIndex: `0x${place.toString(16)}`,
});
const filter = z.object({
  fromBlock: z.string().transform(Number),
  toBlock: z.string().transform(Number),
  topics: z.array(z.union([z.null(), z.array(z.string())])),
});

/** A node with these transfers that takes so many blocks in a call, or fewer of what was sent. */
function historyOn(sent: readonly Sent[], { blocks = 100, sentBlocks = 100, balance = '0x07' } = {}) {
  const asked: string[] = [];
  const respond = ({ method, params, parse }: RpcCall<unknown>): unknown => {
    if (method === 'eth_call') {
      if (balance === 'none') throw new RpcUnavailableError('the state is pruned');
      return balance === 'refused' ? new RpcRefusedError('reverted', 3, undefined) : parse(balance);
    }
    if (method === 'eth_getBlockByNumber')
      return parse({ number: params[0], hash: word('b'), parentHash: word('a'), timestamp: '0x10' });
    if (method === 'eth_getTransactionReceipt') return null;
    const { fromBlock, toBlock, topics } = filter.parse(params[0]);
    const isIncoming = topics[1] === null;
    asked.push(`${isIncoming ? 'in' : 'out'} ${fromBlock}-${toBlock}`);
    if (toBlock - fromBlock >= (isIncoming ? blocks : sentBlocks))
      return new RpcRefusedError('too many blocks', 1, null);
    const side = isIncoming ? 'to' : 'from';
    const found = sent.filter((one) => one.block >= fromBlock && one.block <= toBlock && one[side] === WALLET);
    return parse(found.map((one) => logOf(one, sent.indexOf(one))));
  };
  const node = respondingNode(respond);
  const pool: Pick<RpcPool, 'run'> = { run: (work) => work(node) };
  return { history: new EvmWalletHistory(NETWORK, pool, TRANSFER, readTransfer), asked };
}
async function read(history: EvmWalletHistory, from: bigint, to: bigint) {
  const pages: (readonly Moved[])[] = [];
  const balances = await history.read(WALLET, { from, to }, (page) => pages.push(page));
  return { pages, balance: balances.get(USDC as never) };
}
const moved = (hash: string, block: bigint, came: bigint, went: bigint, from: string | null) => ({
  hash: word(hash),
  block,
  tokenAddress: USDC,
  came,
  went,
  from,
});

describe('EvmWalletHistory', () => {
  it('sums what came and went in each transaction, and names who has sent it', async () => {
    const { history } = historyOn([
      { block: 10, hash: 'a', from: OTHER, to: WALLET, amount: 5 },
      { block: 10, hash: 'a', from: WALLET, to: OTHER, amount: 2 },
      { block: 11, hash: 'b', from: OTHER, to: WALLET, amount: 1 },
      { block: 11, hash: 'b', from: THIRD, to: WALLET, amount: 3 },
      { block: 12, hash: 'c', from: WALLET, to: THIRD, amount: 4 },
      { block: 13, hash: 'd', from: WALLET, to: WALLET, amount: 9 },
      { block: 14, hash: 'e', from: OTHER, to: WALLET, amount: 9 },
    ]);
    const { pages, balance } = await read(history, 10n, 13n);
    expect(pages).toEqual([
      [moved('a', 10n, 5n, 2n, OTHER), moved('b', 11n, 4n, 0n, null), moved('c', 12n, 0n, 4n, null)],
    ]);
    expect(balance).toEqual({ before: 7n, after: 7n });
  });

  it('reads page by page, each with all that went in its blocks', async () => {
    const sent = [
      { block: 3, hash: 'a', from: OTHER, to: WALLET, amount: 5 },
      { block: 3, hash: 'a', from: WALLET, to: OTHER, amount: 5 },
      { block: 9, hash: 'b', from: WALLET, to: OTHER, amount: 1 },
    ];
    const { history, asked } = historyOn(sent, { blocks: 6, sentBlocks: 2 });
    const { pages } = await read(history, 1n, 10n);
    expect(pages.flat()).toEqual([moved('a', 3n, 5n, 5n, OTHER), moved('b', 9n, 0n, 1n, null)]);
    const passed = (side: string): readonly string[] => asked.filter((one) => one.startsWith(side));
    expect(passed('in').at(-1)).toMatch(/-10$/);
    expect(passed('out').at(-1)).toMatch(/-10$/);
  });

  describe('a look at a few transactions', () => {
    const paid = (count: number, block = 3) =>
      Array.from({ length: count }, (_, n) => ({ block, hash: `a${n}`, from: OTHER, to: WALLET, amount: 1 }));

    it('has all of them, up to the end of the range', async () => {
      const { history } = historyOn([...paid(3), { block: 4, hash: 'b', from: WALLET, to: OTHER, amount: 2 }]);
      const few = await history.readFew(WALLET, { from: 1n, to: 10n }, 4);
      expect(few?.through).toBe(10n);
      expect(few?.moved.map(({ came, went }) => came - went)).toEqual([1n, 1n, 1n, -2n]);
    });

    it('has none where there are more', async () => {
      const range = { from: 1n, to: 10n };
      expect(await historyOn(paid(5)).history.readFew(WALLET, range, 4)).toBeNull();
      const sent = paid(2_000).map((one) => ({ ...one, from: WALLET, to: OTHER }));
      const { history, asked } = historyOn(sent, { sentBlocks: 4 });
      expect(await history.readFew(WALLET, range, 4)).toBeNull();
      // What it has sent in later blocks is not asked for.
      expect(asked.at(-1)).toBe('out 3-5');
    });

    it('ends after a few calls where an upstream takes short ranges', async () => {
      const { history, asked } = historyOn(paid(1, 300), { blocks: 10 });
      const few = await history.readFew(WALLET, { from: 1n, to: 1_000n }, 4);
      expect(few?.moved).toEqual([]);
      expect(Number(few?.through)).toBeLessThan(100);
      expect(asked.length).toBeLessThan(25);
    });
  });

  it.each([
    ['none', 'as an archive node does: the state is pruned'],
    ['refused', 'the token refuses to tell them'],
  ])('says why a balance is not known: %s', async (balance, reason) => {
    expect((await read(historyOn([], { balance }).history, 1n, 2n)).balance).toEqual({
      unknown: expect.stringContaining(reason),
    });
  });

  it('has nothing before the first block, and of a contract that was not there', async () => {
    expect((await read(historyOn([]).history, 0n, 2n)).balance).toEqual({ before: 0n, after: 7n });
    expect((await read(historyOn([], { balance: '0x' }).history, 1n, 2n)).balance).toEqual({ before: 0n, after: 0n });
  });

  it('leaves out the transactions that no upstream shows', async () => {
    expect(await historyOn([]).history.inTransactions(WALLET, [word('a') as never])).toEqual(new Map());
  });
});
