import type { ChainId } from '@pf/domain';
import type { RpcNode, RpcPoolOptions } from '@pf/rpc';
import type { Family } from './family.ts';
import { networkOf } from './networks.ts';

/**
 * For RpcPool: what is wrong with an upstream. It may serve another chain, or one on which a token has other decimals
 * than in the registry: every amount would be wrong by powers of ten. Tokens are asked for once.
 */
export function identifyWith(
  chain: ChainId,
  family: Pick<Family, 'whyOtherChain' | 'decimalsOf'>,
): RpcPoolOptions['identify'] {
  const whyOtherChain = family.whyOtherChain(chain);
  const known = new WeakSet<RpcNode>();
  return async (node) => {
    const problem = await whyOtherChain(node);
    if (problem !== null || known.has(node)) return problem;
    const { tokens } = networkOf(chain);
    const found = await family.decimalsOf(node, tokens);
    for (const [place, { symbol, address, decimals }] of tokens.entries()) {
      const actual = found[place] ?? decimals;
      if (actual !== decimals)
        return `${symbol} (${address}) has ${actual} decimals there, and ${decimals} in the registry`;
    }
    known.add(node);
    return null;
  };
}
