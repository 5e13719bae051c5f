import type { Authorizations, ChainAdapter } from '@pf/chains';
import type { PaymentIntent } from '@pf/domain';
import { ApiError } from '../api-error.ts';

/** @throws ApiError `chain.not_available` */
export function authorizationsOf({ authorizations }: ChainAdapter, { chain }: PaymentIntent): Authorizations {
  if (authorizations) return authorizations;
  throw new ApiError('chain.not_available', {
    message: `Payments on ${chain} cannot be authorized by a signature alone: build and submit a transaction instead.`,
    param: 'chain',
    details: { chain },
  });
}

/** The error for a token whose contract does not support EIP-3009. */
export const unsupported = ({ chain, token }: PaymentIntent): ApiError =>
  new ApiError('token.not_available', {
    message: `${token} on ${chain} does not support EIP-3009: build and submit a transaction instead.`,
    param: 'token',
    details: { chain, token },
  });
