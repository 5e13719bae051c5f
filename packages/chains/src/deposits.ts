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

/** All that an upstream has told of a deposit: what another tells is of another key. */
export const toldKeyOf = (
  id: DepositId,
  {
    hash,
    index,
    block,
    tokenAddress,
    to,
    amount,
  }: Pick<Arrival, 'hash' | 'index' | 'block' | 'tokenAddress' | 'to' | 'amount'>,
): string => [id, hash, index, block, tokenAddress, to, amount].join(' ');

/** The same transfer in the same block has the same key: of a place, as blocks show it. */
export const placeKeyOf = ({ hash, index, blockHash }: Pick<Arrival, 'hash' | 'index' | 'blockHash'>): string =>
  `${hash} ${index} ${blockHash}`;

/** A payment of an intent, and where its transfer was taken for a deposit, if it was. */
export interface Paid extends Placed, Pick<Arrival, 'index' | 'to'> {
  readonly intentId: IntentId;
}

/**
 * Deposits of which the transfer turns out to pay an intent, which tells of it.
 * @param paid all payments that are known now
 * @param late those that no first reading of their block has found: the transfer may be a deposit that is final
 */
export function withdrawPaid(
  watch: Pick<WatchSet, 'openDeposits' | 'depositsOf'>,
  paid: readonly Paid[],
  late: readonly Paid[],
): readonly DepositObservation[] {
  const told = new Map<DepositId, DepositObservation>();
  const byPlace = new Map(paid.map((one) => [placeKeyOf(one), one]));
  if (byPlace.size > 0)
    for (const { id, arrival } of watch.openDeposits()) {
      const payment = byPlace.get(placeKeyOf(arrival));
      if (payment !== undefined) told.set(id, depositWithdrawn(id, payment, payment.intentId));
    }
  for (const one of late)
    for (const { depositId } of watch.depositsOf(one))
      told.set(depositId, depositWithdrawn(depositId, one, one.intentId));
  return [...told.values()];
}

/** What the registry says of a token; null where it has none such. */
export function listedToken({ tokens }: Network, address: TokenAddress | null): Arrival['token'] {
  const token = tokens.find((known) => known.address === address);
  return token ? { symbol: token.symbol, decimals: token.decimals } : null;
}
