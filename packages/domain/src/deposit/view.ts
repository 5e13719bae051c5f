import type { Instant } from '../model/ids.ts';
import { formatAmount } from '../model/money.ts';
import { isoTime } from '../model/view.ts';
import type { Deposit, DepositLevel, DepositReason, DepositState } from './deposit.ts';

/** A deposit as integrators see it: exactly the fields of docs/reference/contract.md. */
export interface PublicDeposit {
  readonly id: string;
  readonly chain: string;
  /** The symbol; null for a token that is not of the registry. */
  readonly token: string | null;
  /** Null: the chain's own coin. */
  readonly tokenAddress: string | null;
  /** As a decimal; null where the decimals of the token are not known. */
  readonly amount: string | null;
  readonly amountBaseUnits: string;
  readonly recipient: string;
  readonly sender: string | null;
  readonly reference: string | null;
  readonly txSignature: string;
  /** Which transfer of the transaction: a log index, or an instruction's. */
  readonly transferIndex: string;
  readonly block: string;
  readonly blockTime: string | null;
  readonly level: DepositLevel;
  readonly state: DepositState;
  readonly reason: DepositReason;
  readonly intentId: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly livemode: boolean;
}

const isoTimeOrNull = (at: Instant | null): string | null => (at === null ? null : isoTime(at));

/** The public view of a deposit, in API responses and webhooks. The order of the keys is part of the result. */
export const depositView = ({ arrival, ...deposit }: Deposit): PublicDeposit => ({
  id: deposit.id,
  chain: deposit.chain,
  token: arrival.token?.symbol ?? null,
  tokenAddress: arrival.tokenAddress,
  amount: arrival.token && formatAmount(arrival.amount, arrival.token.decimals),
  amountBaseUnits: arrival.amount.toString(),
  recipient: arrival.to,
  sender: arrival.from,
  reference: arrival.reference,
  txSignature: arrival.hash,
  transferIndex: arrival.index,
  block: arrival.block.toString(),
  blockTime: isoTimeOrNull(arrival.at),
  level: deposit.level,
  state: deposit.state,
  reason: deposit.reason,
  intentId: deposit.intentId,
  createdAt: isoTime(deposit.createdAt),
  updatedAt: isoTime(deposit.updatedAt),
  livemode: deposit.livemode,
});
