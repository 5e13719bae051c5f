import { refusable, type RpcNode, RpcRefusedError } from '@pf/rpc';
import { factsOfTokens } from '../evm/token-facts.ts';
import type { Token } from '../networks.ts';
import type { TokenFacts } from '../token-facts.ts';
import { getTransferPolicy } from './calls.ts';

/** The policies that every chain has: by one no account can be paid, by the other any (TIP-403). */
const [NO_ACCOUNT, ANY_ACCOUNT] = [0n, 1n];

/** What TIP-20 tokens say of themselves, with their issuers' policies; null of one that is not there. */
export async function factsOfTip20(node: RpcNode, tokens: readonly Token[]): Promise<readonly (TokenFacts | null)[]> {
  const facts = await factsOfTokens(node, tokens);
  const policies = await node.batch(tokens.map(({ address }) => refusable(getTransferPolicy(address))));
  return facts.map((known, place) => {
    const policy = policies[place];
    if (known === null || policy === undefined || policy instanceof RpcRefusedError) return known;
    return {
      ...known,
      blocklist: policy === ANY_ACCOUNT ? null : `TIP-403 policy ${policy}`,
      obstacle: policy === NO_ACCOUNT ? 'a policy that lets no account be paid (TIP-403 policy 0)' : null,
    };
  });
}
