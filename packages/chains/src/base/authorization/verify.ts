import type { Authorization } from '@pf/contracts';
import type { Address, Instant, PaymentTerms } from '@pf/domain';
import { refusable, type RpcNode, RpcRefusedError, RpcUpstreamError } from '@pf/rpc';
import { getAddress } from 'ethers/address';
import { callContract, getCode, getHead } from '../../evm/calls.ts';
import { reasonOf } from '../../evm/refusal.ts';
import type { NewestHead } from '../../newest-head.ts';
import type { AuthorizationVerification, Differences, SignedAuthorization } from '../../port.ts';
import { askDomain, domainIn, encodeCall, hashOf } from './eip3009.ts';
import { latestValidBefore } from './lifetime.ts';
import { innerSignature } from './signature.ts';
import { settlementOf } from './x402.ts';

/**
 * Compares by meaning: who pays whom how much, and the nonce, which is the intent's reference. The token and the chain
 * are the intent's own, because the signature is judged by that very token. Pure. Empty when it pays these terms.
 */
export function differences(
  { from, to, value, nonce }: Authorization,
  terms: PaymentTerms,
  fulfiller: Address,
): Differences {
  const differs: Record<string, { expected: string; actual: string }> = {};
  const compare = (name: string, expected: string, actual: string): void => {
    if (expected !== actual) differs[name] = { expected, actual };
  };
  compare('sender', fulfiller, getAddress(from.toLowerCase()));
  compare('recipient', terms.requestor, getAddress(to.toLowerCase()));
  compare('amount', terms.amount.toString(), value);
  compare('reference', terms.reference, nonce.toLowerCase());
  return differs;
}

/**
 * Checks what an authorization does, that it ends, and by a simulation that the token would execute it now.
 * @param expiresAt the end of the intent
 */
export async function verifyAuthorization(
  node: RpcNode,
  { authorization, signature }: SignedAuthorization,
  terms: PaymentTerms,
  fulfiller: Address,
  expiresAt: Instant,
  blocks: NewestHead,
): Promise<AuthorizationVerification> {
  const differs = differences(authorization, terms, fulfiller);
  if (Object.keys(differs).length > 0) return { kind: 'mismatch', differs };
  const token = terms.tokenAddress;
  // In canonical form: addresses may be written in any case.
  const signed = { ...authorization, from: fulfiller, to: terms.requestor, nonce: terms.reference };
  const inner = innerSignature(signature);
  const data = encodeCall(signed, inner ?? signature);
  const [name, version, separator, code, head, simulated] = await node.batch([
    ...askDomain(token, fulfiller),
    getCode(fulfiller),
    getHead(),
    refusable(callContract({ from: fulfiller, to: token, data })),
  ]);
  if (head === null) throw new RpcUpstreamError(`${node.name} has no newest block`, 'no');
  const domain = domainIn(terms, [name, version, separator]);
  if (domain === null) return { kind: 'unsupported' };
  const rejected = (reason: string): AuthorizationVerification => ({ kind: 'rejected', reason });
  const validBefore = BigInt(authorization.validBefore);
  const latest = latestValidBefore(head.timestamp, expiresAt);
  if (validBefore > latest)
    return rejected(`validBefore is ${validBefore}, and must be at most ${latest}, so that it ends soon`);
  if (inner !== null && code === '0x')
    return rejected('the wallet is not deployed yet, and the token asks only contracts that are');
  if (simulated instanceof RpcRefusedError) {
    // A node that is behind may not have the money.
    blocks.requireReached(node, head.number);
    return rejected(`the transfer would fail: ${reasonOf(simulated)}`);
  }
  return {
    kind: 'verified',
    transaction: {
      hash: hashOf(domain, signed),
      sender: fulfiller,
      nonce: terms.reference,
      lifetime: { kind: 'time', validBefore },
      terms,
    },
    call: { to: token, data },
    x402: settlementOf(domain, terms, signed, inner ?? signature),
  };
}
