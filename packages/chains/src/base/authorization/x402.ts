import type { Authorization, TypedData, X402Settlement } from '@pf/contracts';
import type { PaymentTerms } from '@pf/domain';
import { LIFETIME_S } from './lifetime.ts';

/** A signed authorization as facilitators of x402 take it (version 2, scheme `exact`). */
export function settlementOf(
  { name, version }: TypedData['domain'],
  { chain, tokenAddress, requestor, amount }: PaymentTerms,
  authorization: Authorization,
  signature: string,
): X402Settlement {
  const asked = {
    scheme: 'exact',
    network: chain,
    amount: amount.toString(),
    asset: tokenAddress,
    payTo: requestor,
    maxTimeoutSeconds: Number(LIFETIME_S),
    extra: { name, version },
  } as const;
  return {
    x402Version: 2,
    paymentPayload: { x402Version: 2, accepted: asked, payload: { signature, authorization } },
    paymentRequirements: asked,
  };
}
