import type {
  Arrival,
  DepositCommand,
  DepositCommandType,
  DepositId,
  DepositObservation,
  Place,
  Received,
} from '../index.ts';
import { ACCOUNT, ALICE, AMOUNT, BASE_SEPOLIA, BOB, COMMAND, FIRST, INTENT, USDC } from './samples.ts';

/** Bob has sent Alice 12.50 USDC without naming an intent. */
export const DEPOSIT = 'dp_1deposit' as DepositId;

/** In block 100, as log 0. */
export const arrival = (change: Partial<Arrival> = {}): Arrival => ({
  hash: FIRST,
  index: '0',
  block: 100n,
  blockHash: `0x${'100'.padStart(64, '0')}`,
  tokenAddress: USDC,
  token: { symbol: 'USDC', decimals: 6 },
  from: BOB,
  to: ALICE,
  amount: AMOUNT,
  reference: null,
  at: Date.UTC(2026, 10, 21, 12),
  ...change,
});

export const received = (change: Partial<Received> = {}): Received => ({
  accountId: ACCOUNT,
  livemode: false,
  chain: BASE_SEPOLIA,
  level: 'confirmed',
  reason: 'no_reference',
  intentId: null,
  arrival: arrival(),
  ...change,
});

export const depositLanded = (change: Partial<Received> = {}, depositId = DEPOSIT): DepositObservation => ({
  kind: 'deposit',
  type: 'deposit_landed',
  depositId,
  data: received(change),
});

export const depositWithdrawn = (place: Place = arrival(), depositId = DEPOSIT): DepositObservation => ({
  kind: 'deposit',
  type: 'deposit_withdrawn',
  depositId,
  data: { hash: FIRST, place: { block: place.block, blockHash: place.blockHash }, intentId: INTENT },
});

export const depositLost = (place: Place = arrival(), depositId = DEPOSIT): DepositObservation => ({
  kind: 'deposit',
  type: 'deposit_lost',
  depositId,
  data: { hash: FIRST, place: { block: place.block, blockHash: place.blockHash } },
});

/** A command of the account that has received it. */
export const depositCommand = (type: DepositCommandType, depositId = DEPOSIT): DepositCommand => ({
  ...(type === 'assign_deposit' ? { type, intentId: INTENT } : { type }),
  kind: 'deposit_command',
  commandId: COMMAND,
  depositId,
  accountId: ACCOUNT,
  livemode: false,
});
