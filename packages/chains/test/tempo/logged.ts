import type { Address, TransactionHash } from '@pf/domain';
import { AbiCoder } from 'ethers/abi';
import { getAddress } from 'ethers/address';
import { id } from 'ethers/hash';
import { zeroPadValue } from 'ethers/utils';
import type { Log } from '../../src/evm/calls.ts';
import { TRANSFER_WITH_MEMO } from '../../src/tempo/observe/landings.ts';
import { addressOf, payer, terms } from './payments.ts';

/** What tokens log, as the real chain does where it can do more than the local one: virtual addresses (TIP-1022). */
export type Event = Pick<Log, 'address' | 'topics' | 'data'>;

export const from = addressOf(payer);
export const virtual = getAddress(`0x12345678${'fd'.repeat(10)}010203040506`) as Address;
export const master = getAddress(`0x${'99'.repeat(20)}`) as Address;
export const zero = getAddress(`0x${'00'.repeat(20)}`) as Address;
export const feeManager = getAddress('0xfeec000000000000000000000000000000000000') as Address;

export const word = (text: string): string => zeroPadValue(text, 32).toLowerCase();
const amountOf = (units: bigint): string => AbiCoder.defaultAbiCoder().encode(['uint256'], [units]);

export const transfer = (
  sender: Address,
  to: Address,
  units = terms.amount,
  token: string = terms.tokenAddress,
): Event => ({
  address: token as Address,
  topics: [id('Transfer(address,address,uint256)'), word(sender), word(to)],
  data: amountOf(units),
});
export const withMemo = (
  sender: Address,
  to: Address,
  units = terms.amount,
  token: string = terms.tokenAddress,
  memo: string = terms.reference,
): Event => ({
  address: token as Address,
  topics: [TRANSFER_WITH_MEMO, word(sender), word(to), memo],
  data: amountOf(units),
});
/** Logged behind the Transfer of a mint, or behind its memo. */
export const mint = (to: Address): Event => ({
  ...transfer(zero, to),
  topics: [id('Mint(address,uint256)'), word(to)],
});

export const hash = `0x${'ab'.repeat(32)}` as TransactionHash;
export const place = { blockNumber: 12n, blockHash: `0x${'cd'.repeat(32)}` };
/** Of one transaction, in their order. */
export const logsOf = (events: readonly Event[]): readonly Log[] =>
  events.map((event, index) => ({
    ...event,
    ...place,
    transactionHash: hash,
    logIndex: BigInt(index),
    removed: false,
  }));
