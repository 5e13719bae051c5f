import type { AccountId, ChainId, Deposit, TransactionHash } from '@pf/domain';
import { decideDeposit } from '@pf/domain';
import { depositIdOf } from '@pf/contracts';
import { pad, toHex } from 'viem';
import { TRANSFER } from '../../../src/base/observe/landings.ts';
import type { Sighting } from '../../../src/base/observe/sighting.ts';
import type { Log } from '../../../src/evm/calls.ts';
import { CHAIN, fulfiller, terms } from '../payments.ts';

const ACCOUNT = 'acc_1' as AccountId;
const topic = (address: string) => pad(address.toLowerCase() as `0x${string}`);
export const hashOf = (number: number): TransactionHash =>
  `0x${number.toString(16).padStart(64, '0')}` as TransactionHash;
export const blockHashOf = (block: bigint): string => `0xb${block}`;

/** A transfer of 5 units that names nothing. */
export const logAt = (block: bigint, index: bigint): Log => ({
  address: terms.tokenAddress as string as Log['address'],
  topics: [TRANSFER, topic(fulfiller), topic(terms.requestor)],
  data: toHex(5n, { size: 32 }),
  blockNumber: block,
  blockHash: blockHashOf(block),
  transactionHash: hashOf(Number(block * 1_000n + index)),
  logIndex: index,
  removed: false,
});

export const sighting = (number: number, change: Partial<Sighting> = {}): Sighting => ({
  hash: hashOf(number),
  index: '0',
  block: 100n,
  blockHash: blockHashOf(100n),
  tokenAddress: terms.tokenAddress,
  from: fulfiller,
  to: terms.requestor,
  amount: 5n,
  reference: null,
  reason: 'no_reference',
  seenAt: 0,
  reported: false,
  ...change,
});

/** The deposit that the ledger has of a sighting. */
export function depositOf({ seenAt, reported: _reported, reason, ...seen }: Sighting): Deposit {
  const decided = decideDeposit(
    {
      kind: 'deposit',
      type: 'deposit_landed',
      depositId: depositIdOf(ACCOUNT, 'eip155:84532' as ChainId, seen, 1),
      data: {
        accountId: ACCOUNT,
        livemode: false,
        chain: CHAIN,
        level: 'confirmed',
        reason,
        intentId: null,
        arrival: { ...seen, token: { symbol: 'USDC', decimals: 6 }, at: seenAt },
      },
    },
    seenAt,
    undefined,
  );
  if (decided === null) throw new Error('nothing was decided');
  return decided.deposit;
}
