import { refusable, type RpcNode, RpcRefusedError } from '@pf/rpc';
import { factsOfTokens } from '../evm/token-facts.ts';
import type { Token } from '../networks.ts';
import type { TokenFacts } from '../token-facts.ts';
import { getTransferPolicy } from './calls.ts';

/** The policies that every chain has: one lets nobody be paid, the other everybody (TIP-403). */
const [NOBODY, EVERYBODY] = [0n, 1n];

/** What TIP-20 tokens say of themselves, with their issuers' policies; null of one that is not there. */
export async function factsOfTip20(node: RpcNode, tokens: readonly Token[]): Promise<readonly (TokenFacts | null)[]> {
  const facts = await factsOfTokens(node, tokens);
  const policies = await node.batch(tokens.map(({ address }) => refusable(getTransferPolicy(address))));
  return facts.map((known, place) => {
    const policy = policies[place];
    if (known === null || policy === undefined || policy instanceof RpcRefusedError) return known;
    return {
      ...known,
      blocklist: policy === EVERYBODY ? null : `TIP-403 policy ${policy}`,
      obstacle: policy === NOBODY ? 'a policy that lets no account be paid (TIP-403 policy 0)' : null,
    };
  });
}
