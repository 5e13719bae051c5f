import { afterEach, describe, expect, it } from '@jest/globals';
import type { ChainId } from '@pf/domain';
import type { StackChain } from '@pf/testing';
import { type RpcProxy, startAnvil, startRpcProxy, startSolana, startTempo } from '@pf/testing/chains';
import { type ChainAdapter, createChains, examineUpstream, networkOf } from '../src/index.ts';
import { log } from './base/chain.ts';

/** Where a mint has its decimals, and an account of another number of them, cut to that place. */
const MINT_OF_NINE = {
  lamports: 1,
  owner: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  executable: false,
  data: [Buffer.of(9).toString('base64'), 'base64'],
};
type Respond = RpcProxy['respond'];
const onEvm: Respond = ({ method, params }) =>
  method === 'eth_call' && JSON.stringify(params).includes('0x313ce567') ? `0x${'12'.padStart(64, '0')}` : undefined;
const onSolana: Respond = ({ method }) =>
  method === 'getMultipleAccounts' ? { context: { slot: 1 }, value: [MINT_OF_NINE, MINT_OF_NINE] } : undefined;

describe.each<[string, () => Promise<StackChain & { readonly stop: () => Promise<void> }>, Respond, number]>([
  ['Base', startAnvil, onEvm, 18],
  ['Solana', startSolana, onSolana, 9],
  ['Tempo', startTempo, onEvm, 18],
])('an upstream of %s', (_name, start, respond, decimals) => {
  let closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.toReversed()) await close();
    closing = [];
  });

  it('is used where its tokens have the decimals of the registry, and refused where one has others', async () => {
    const chain = await start();
    const proxy = await startRpcProxy(chain.rpcUrl);
    closing.push(
      () => chain.stop(),
      () => proxy.stop(),
    );
    const id = chain.caip2 as ChainId;
    /** A transaction that is not there, looked up by a new pool. */
    const found = async (): Promise<unknown> => {
      const chains = createChains({ upstreams: new Map([[id, [proxy.url]]]), log });
      closing.push(() => chains.close());
      const adapter = chains.adapters.get(id) as ChainAdapter;
      return adapter.fetchSent(adapter.synthetic().hash);
    };
    expect(await found()).toBeNull();
    proxy.respond = respond;
    await expect(found()).rejects.toThrow(new RegExp(`has ${decimals} decimals there, and 6 in the registry`));
  });

  it('says of its tokens what the registry has, and names those that differ', async () => {
    const chain = await start();
    const proxy = await startRpcProxy(chain.rpcUrl);
    closing.push(
      () => chain.stop(),
      () => proxy.stop(),
    );
    const network = networkOf(chain.caip2 as ChainId);
    const { problem, tokens } = await examineUpstream(network, proxy.url, log);
    expect(problem).toBeNull();
    expect(tokens.flatMap(({ differences }) => differences)).toEqual([]);
    const usdc = tokens.find(({ token }) => token.address === chain.tokens['USDC']);
    expect(usdc?.facts).toMatchObject({ decimals: 6, obstacle: null });
  });
});
