import { describe, expect, it } from '@jest/globals';
import type { Address, ChainId } from '@pf/domain';
import { type RpcCall, type RpcPool, RpcRefusedError } from '@pf/rpc';
import { getBase58Decoder } from '@solana/kit';
import { networkOf } from '../../src/index.ts';
import { randomAddress } from '../../src/solana/address.ts';
import { SolanaWalletHistory } from '../../src/solana/wallet-history.ts';
import { respondingNode } from '../nodes.ts';

const NETWORK = networkOf('solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' as ChainId);
const WALLET: Address = randomAddress();
const signatureOf = (slot: number): string => getBase58Decoder().decode(Buffer.alloc(64, `slot ${slot} `));

interface Listed {
  readonly slot: number;
  readonly err: unknown;
}
const failed = (slot: number): Listed => ({ slot, err: 'AccountInUse' });

/**
 * A node whose lists have these transactions, the newest first.
 * @param forgets it does not know where a further page begins
 */
function historyOn(listed: readonly Listed[], first = 0, forgets = false) {
  const asked: Readonly<Record<string, unknown>>[] = [];
  const respond = ({ method, params, parse }: RpcCall<unknown>): unknown => {
    if (method === 'getFirstAvailableBlock') return parse(first);
    if (method === 'getBlockTime') return new RpcRefusedError('the slot was skipped', -32_007, null);
    const range = params[1] as { readonly before?: string; readonly limit: number; readonly minContextSlot: number };
    asked.push(range);
    const start =
      range.before === undefined ? 0 : listed.findIndex(({ slot }) => signatureOf(slot) === range.before) + 1;
    const page = forgets && start > 0 ? [] : listed.slice(start, start + range.limit);
    return parse(page.map((one) => ({ ...one, signature: signatureOf(one.slot) })));
  };
  const node = respondingNode(respond);
  const pool: Pick<RpcPool, 'run' | 'call' | 'onAnother'> = {
    run: (work) => work(node),
    call: (call) => node.call(call),
    onAnother: () => Promise.resolve(null),
  };
  return { history: new SolanaWalletHistory(NETWORK, pool), asked };
}
const read = (history: SolanaWalletHistory, from: bigint, to: bigint) =>
  history.read(WALLET, { from, to }, () => undefined);

describe('SolanaWalletHistory', () => {
  it('lists from the newest transaction on, page after page, down to the first slot of the range', async () => {
    const newer = Array.from({ length: 1_500 }, (_, n) => failed(9_000 - n));
    const { history, asked } = historyOn([...newer, ...Array.from({ length: 3_000 }, (_, n) => failed(5_000 - n))]);
    const balances = await read(history, 4_990n, 5_010n);
    const ofToken = asked.length / NETWORK.tokens.length;
    expect(ofToken).toBe(2);
    expect(asked.slice(0, 2)).toEqual([
      expect.objectContaining({ limit: 1_000, minContextSlot: 5_010 }),
      expect.objectContaining({ before: signatureOf(8_002) }),
    ]);
    expect([...balances.values()].every((balance) => 'unknown' in balance)).toBe(true);
  });

  it('reads nothing by a node that no longer has the range, or lists something else than before', async () => {
    await expect(read(historyOn([], 11).history, 10n, 20n)).rejects.toThrow('has the transactions from slot 11 on');
    expect((await read(historyOn([], 10).history, 10n, 20n)).size).toBe(NETWORK.tokens.length);
    const many = Array.from({ length: 1_000 }, (_, n) => failed(9_000 - n));
    await expect(read(historyOn(many, 0, true).history, 10n, 20n)).rejects.toThrow('lists other transactions');
  });

  it('looks at no more than a few transactions, on two pages of a list', async () => {
    const range = { from: 10n, to: 20n };
    const look = async (listed: readonly Listed[], most = 3) => {
      const { history, asked } = historyOn(listed);
      return [await history.readFew(WALLET, range, most), asked.length] as const;
    };
    expect(await look([failed(15)])).toEqual([{ moved: [], through: 20n }, NETWORK.tokens.length]);
    expect(await look([11, 12, 13, 14].map((slot) => ({ slot, err: null })))).toEqual([null, 1]);
    expect(await look(Array.from({ length: 5_000 }, (_, n) => failed(9_000 - n)))).toEqual([null, 2]);
  });

  it('has no time of a slot without a block', async () => {
    expect(await historyOn([]).history.timeOf(7n)).toBeNull();
  });
});
