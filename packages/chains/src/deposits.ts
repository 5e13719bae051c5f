import type { Arrival, DepositId, DepositObservation, DepositReason, IntentId, TokenAddress } from '@pf/domain';
import type { Network, OpenDeposit, WatchSet } from './port.ts';

/** Money that pays no intent, and why. */
export interface UnpaidArrival {
  readonly arrival: Arrival;
  readonly reason: DepositReason;
}

/** How an account learns of it. */
export const depositLanded = (
  { depositId, accountId }: ReturnType<WatchSet['depositsOf']>[number],
  { chain, livemode }: Network,
  { arrival, reason }: UnpaidArrival,
): DepositObservation => ({
  kind: 'deposit',
  type: 'deposit_landed',
  depositId,
  data: { accountId, livemode, chain, level: 'confirmed', reason, intentId: null, arrival },
});

export const depositFinal = ({ id: depositId, ...data }: OpenDeposit): DepositObservation => ({
  kind: 'deposit',
  type: 'deposit_landed',
  depositId,
  data: { ...data, level: 'finalized' },
});

type Placed = Pick<Arrival, 'hash' | 'block' | 'blockHash'>;

/** It is no longer where it was. */
export const depositLost = ({
  id,
  arrival,
}: {
  readonly id: DepositId;
  readonly arrival: Placed;
}): DepositObservation => ({
  kind: 'deposit',
  type: 'deposit_lost',
  depositId: id,
  data: { hash: arrival.hash, place: { block: arrival.block, blockHash: arrival.blockHash } },
});

/** It pays this intent, which tells of it. */
export const depositWithdrawn = (
  depositId: DepositId,
  { hash, block, blockHash }: Placed,
  intentId: IntentId,
): DepositObservation => ({
  kind: 'deposit',
  type: 'deposit_withdrawn',
  depositId,
  data: { hash, place: { block, blockHash }, intentId },
});

/** What the registry says of a token; null where it has none such. */
export function listedToken({ tokens }: Network, address: TokenAddress | null): Arrival['token'] {
  const token = tokens.find((known) => known.address === address);
  return token ? { symbol: token.symbol, decimals: token.decimals } : null;
}
