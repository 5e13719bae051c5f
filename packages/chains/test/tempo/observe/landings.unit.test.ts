import { describe, expect, it } from '@jest/globals';
import type { Address, TransactionHash } from '@pf/domain';
import { AbiCoder } from 'ethers/abi';
import { getAddress } from 'ethers/address';
import { id } from 'ethers/hash';
import { zeroPadValue } from 'ethers/utils';
import * as ReceivePolicyReceipt from 'ox/tempo/ReceivePolicyReceipt';
import type { Log, Receipt } from '../../../src/evm/calls.ts';
import { feeIn, GUARD, landingsIn, TRANSFER_BLOCKED, TRANSFER_WITH_MEMO } from '../../../src/tempo/observe/landings.ts';
import { addressOf, network, payer, terms, tokenOf, usdc } from '../payments.ts';

/**
 * Receipts as the real chain gives them, where it can do more than the local one: receive policies (TIP-1028) and
 * virtual addresses (TIP-1022). What they log is in those proposals.
 */
const abi = AbiCoder.defaultAbiCoder();
const from = addressOf(payer);
const virtual = getAddress(`0x12345678${'fd'.repeat(10)}010203040506`) as Address;
const master = getAddress(`0x${'99'.repeat(20)}`) as Address;

type Event = Pick<Log, 'address' | 'topics' | 'data'>;
const word = (text: string): string => zeroPadValue(text, 32).toLowerCase();
const amountOf = (units: bigint): string => abi.encode(['uint256'], [units]);
const transfer = (sender: Address, to: Address, units = terms.amount, token: string = terms.tokenAddress): Event => ({
  address: token as Address,
  topics: [id('Transfer(address,address,uint256)'), word(sender), word(to)],
  data: amountOf(units),
});
const withMemo = (sender: Address, to: Address, units = terms.amount, token: string = terms.tokenAddress): Event => ({
  address: token as Address,
  topics: [TRANSFER_WITH_MEMO, word(sender), word(to), terms.reference],
  data: amountOf(units),
});
const fee = transfer(
  from,
  getAddress('0xfeec000000000000000000000000000000000000') as Address,
  423n,
  tokenOf('AlphaUSD').address,
);
const blocked = (receiver: Address, memo: string = terms.reference, token: string = usdc): Event => {
  const witness = ReceivePolicyReceipt.encode({
    version: 1,
    token: token as `0x${string}`,
    recoveryAuthority: `0x${'00'.repeat(20)}`,
    originator: from as string as `0x${string}`,
    recipient: receiver as string as `0x${string}`,
    blockedAt: 1_795_000_000n,
    blockedNonce: 7n,
    blockedReason: 'receivePolicy',
    kind: 'transfer',
    memo: memo as `0x${string}`,
  });
  return {
    address: GUARD,
    topics: [TRANSFER_BLOCKED, word(token), word(receiver), word('0x07')],
    data: abi.encode(['uint256', 'uint8', 'bytes'], [terms.amount, 1, witness]),
  };
};

const hash = `0x${'ab'.repeat(32)}` as TransactionHash;
const receiptOf = (events: readonly Event[], status = 1n): Receipt => {
  const place = { blockNumber: 12n, blockHash: `0x${'cd'.repeat(32)}` };
  return {
    transactionHash: hash,
    status,
    from,
    ...place,
    logs: events.map((event, index) => ({
      ...event,
      ...place,
      transactionHash: hash,
      logIndex: BigInt(index),
      removed: false,
    })),
  };
};
const landings = (...events: readonly Event[]): readonly unknown[] => landingsIn(receiptOf(events), network);

describe('The fee of a Tempo transaction', () => {
  it('comes from the last log, by which the fee manager took it, in the token that it took', () => {
    expect(feeIn(receiptOf([transfer(from, terms.requestor), withMemo(from, terms.requestor), fee]))).toEqual({
      payer: from,
      amount: 423n,
      tokenAddress: tokenOf('AlphaUSD').address,
    });
  });

  it('is not known where the last log is another', () => {
    expect(feeIn(receiptOf([fee, transfer(from, terms.requestor)]))).toBeNull();
    expect(feeIn(receiptOf([{ ...fee, data: '0x' }]))).toBeNull();
    expect(feeIn(receiptOf([]))).toBeNull();
  });
});

describe('Tempo landings', () => {
  const landed = {
    tokenAddress: terms.tokenAddress,
    from,
    to: terms.requestor,
    amount: terms.amount,
    reference: terms.reference,
    block: 12n,
    blockHash: `0x${'cd'.repeat(32)}`,
  };

  it('come from a transfer with a memo, with its own log index, whatever token paid the fee', () => {
    expect(landings(transfer(from, terms.requestor), withMemo(from, terms.requestor), fee)).toEqual([
      { ...landed, index: '1' },
    ]);
  });

  it('credit the guard where a receive policy blocked the payment', () => {
    expect(landings(transfer(from, GUARD), blocked(terms.requestor), fee)).toEqual([
      { ...landed, to: GUARD, index: '1' },
    ]);
  });

  it('count a payment to a virtual address only where it was forwarded', () => {
    expect(landings(transfer(from, virtual), withMemo(from, virtual), transfer(virtual, master))).toEqual([
      { ...landed, to: virtual, index: '1' },
    ]);
    expect(landings(transfer(from, virtual), withMemo(from, virtual))).toEqual([]);
    expect(landings(transfer(from, virtual), withMemo(from, virtual), transfer(virtual, GUARD))).toEqual([]);
  });

  it('list several payments one by one', () => {
    expect(
      landings(
        transfer(from, terms.requestor),
        withMemo(from, terms.requestor),
        transfer(from, master),
        withMemo(from, master),
      ),
    ).toMatchObject([
      { index: '1', to: terms.requestor },
      { index: '3', to: master },
    ]);
  });

  it('are empty for failed, uncredited, foreign-token and unreadable transfers', () => {
    expect(
      landingsIn(receiptOf([transfer(from, terms.requestor), withMemo(from, terms.requestor)], 0n), network),
    ).toEqual([]);
    expect(landings(withMemo(from, terms.requestor))).toEqual([]);
    expect(landings(transfer(from, terms.requestor, terms.amount - 1n), withMemo(from, terms.requestor))).toEqual([]);
    const foreign = getAddress('0x20c000000000000000000000000000000000dead');
    expect(
      landings(
        transfer(from, terms.requestor, terms.amount, foreign),
        withMemo(from, terms.requestor, terms.amount, foreign),
      ),
    ).toEqual([]);
    expect(
      landings(transfer(from, GUARD, terms.amount, foreign), blocked(terms.requestor, terms.reference, foreign)),
    ).toEqual([]);
    expect(landings(transfer(from, GUARD), { ...blocked(terms.requestor), data: '0x00' })).toEqual([]);
    // Who else than the guard logs what the guard does.
    expect(landings(transfer(from, GUARD), { ...blocked(terms.requestor), address: master })).toEqual([]);
  });
});
