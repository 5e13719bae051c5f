import type { ChainId } from '@pf/domain';
import type { RpcNode, RpcPoolOptions } from '@pf/rpc';
import { networkOf, type Token } from './networks.ts';

/**
 * For RpcPool: what is wrong with an upstream. It may serve another chain, or one on which a token has other decimals
 * than in the registry: every amount would be wrong by powers of ten. Tokens are asked for once.
 * @param whyOtherChain why it does not serve this chain; null where it does
 * @param decimalsOf the decimals of tokens there; null of one that it does not have
 */
export function identifyWith(
  chain: ChainId,
  whyOtherChain: RpcPoolOptions['identify'],
  decimalsOf: (node: RpcNode, tokens: readonly Token[]) => Promise<readonly (number | null)[]>,
): RpcPoolOptions['identify'] {
  const known = new WeakSet<RpcNode>();
  return async (node) => {
    const problem = await whyOtherChain(node);
    if (problem !== null || known.has(node)) return problem;
    const { tokens } = networkOf(chain);
    const found = await decimalsOf(node, tokens);
    for (const [place, { symbol, address, decimals }] of tokens.entries()) {
      const actual = found[place] ?? decimals;
      if (actual !== decimals)
        return `${symbol} (${address}) has ${actual} decimals there, and ${decimals} in the registry`;
    }
    known.add(node);
    return null;
  };
}
