import { describe, expect, it } from '@jest/globals';
import type { Address, Transfer } from '@pf/domain';
import { AbiCoder } from 'ethers/abi';
import { getAddress } from 'ethers/address';
import * as ReceivePolicyReceipt from 'ox/tempo/ReceivePolicyReceipt';
import type { Receipt } from '../../../src/evm/calls.ts';
import { claimIn, feeIn, GUARD, paymentsIn, TRANSFER_BLOCKED } from '../../../src/tempo/observe/landings.ts';
import {
  type Event,
  feeManager,
  from,
  hash,
  logsOf,
  master,
  mint,
  place,
  transfer,
  virtual,
  withMemo,
  word,
  zero,
} from '../logged.ts';
import { network, terms, tokenOf, usdc } from '../payments.ts';

/**
 * Receipts as the real chain gives them, where it can do more than the local one: receive policies (TIP-1028) and
 * virtual addresses (TIP-1022). What they log is in those proposals.
 */
const abi = AbiCoder.defaultAbiCoder();
const fee = transfer(from, feeManager, 423n, tokenOf('AlphaUSD').address);
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

const receiptOf = (events: readonly Event[], status = 1n): Receipt => ({
  transactionHash: hash,
  status,
  from,
  ...place,
  logs: logsOf(events),
});
const landings = (...events: readonly Event[]): readonly Transfer[] =>
  paymentsIn(receiptOf(events), network).map(({ transfer: paid }) => paid);

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
    // A log that its contract, whichever that is, made by hand.
    expect(feeIn(receiptOf([{ ...fee, topics: fee.topics.slice(0, 1) }]))).toBeNull();
    expect(feeIn(receiptOf([{ ...fee, topics: [] }]))).toBeNull();
  });

  it('is not known where a contract that is no token has written the last log', () => {
    expect(feeIn(receiptOf([{ ...fee, address: master }]))).toBeNull();
    expect(feeIn(receiptOf([fee, { ...fee, address: master }]))).toBeNull();
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
      paymentsIn(receiptOf([transfer(from, terms.requestor), withMemo(from, terms.requestor)], 0n), network),
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

  it('count one forward of a virtual address for one memo', () => {
    const kept = [transfer(from, virtual), withMemo(from, virtual), transfer(virtual, GUARD)];
    const other = getAddress(`0x${'77'.repeat(20)}`) as Address;
    const forwarded = [transfer(other, virtual), transfer(virtual, master)];
    expect(landings(...kept, ...kept, ...kept, ...forwarded)).toEqual([]);
    expect(landings(...forwarded, ...kept)).toEqual([]);
    const unforwarded = [transfer(from, virtual), withMemo(from, virtual)];
    expect(landings(...unforwarded, ...unforwarded, transfer(virtual, master))).toMatchObject([{ index: '3' }]);
  });

  it('find the forward behind the log of a mint', () => {
    const minted = [transfer(zero, virtual), withMemo(zero, virtual), mint(virtual), transfer(virtual, master)];
    expect(landings(...minted)).toMatchObject([{ from: zero, to: virtual, amount: terms.amount }]);
  });

  it('are worth nothing where the money came from the account that gets it', () => {
    const circle = [transfer(master, virtual), withMemo(master, virtual), transfer(virtual, master)];
    expect(landings(...circle)).toMatchObject([{ from: master, to: virtual, amount: 0n }]);
    expect(landings(transfer(master, master), withMemo(master, master))).toMatchObject([{ amount: 0n }]);
  });

  it('are worth together what the account has gained, however often one amount goes round', () => {
    const to = terms.requestor;
    const round = [transfer(from, to), withMemo(from, to), transfer(to, from)];
    const paid = landings(...round, ...round, transfer(from, to), withMemo(from, to));
    expect(paid).toHaveLength(3);
    expect(paid.reduce((sum, { amount }) => sum + amount, 0n)).toBe(terms.amount);
    expect(landings(...round)).toMatchObject([{ amount: 0n }]);
    // The same by way of virtual addresses of one master account.
    const second = getAddress(`0x12345678${'fd'.repeat(10)}0102030405ff`) as Address;
    const passed = [virtual, second].flatMap((one) => [
      transfer(from, one),
      withMemo(from, one),
      transfer(one, master),
    ]);
    expect(landings(...passed, transfer(master, from)).reduce((sum, { amount }) => sum + amount, 0n)).toBe(
      terms.amount,
    );
  });

  it('are worth less where the account pays out in the same transaction, by the same token only', () => {
    const to = terms.requestor;
    expect(landings(transfer(from, to), withMemo(from, to), transfer(to, master, 1n))).toMatchObject([
      { amount: terms.amount - 1n },
    ]);
    const alpha = tokenOf('AlphaUSD').address;
    expect(landings(transfer(from, to), withMemo(from, to), transfer(to, master, 1n, alpha))).toMatchObject([
      { amount: terms.amount },
    ]);
  });

  it('are whole where the account that is paid pays the fee, and only the last log is a fee', () => {
    const to = terms.requestor;
    const ofRequestor = transfer(to, feeManager, 423n);
    expect(landings(transfer(from, to), withMemo(from, to), ofRequestor)).toMatchObject([{ amount: terms.amount }]);
    expect(landings(ofRequestor, transfer(from, to), withMemo(from, to), fee)).toMatchObject([
      { amount: terms.amount - 423n },
    ]);
  });

  it('belong to the Transfer right before their memo', () => {
    const to = terms.requestor;
    expect(landings(transfer(from, to), transfer(from, master), withMemo(from, to))).toEqual([]);
    expect(landings(withMemo(from, to), transfer(from, to))).toEqual([]);
    expect(landings(transfer(from, to), withMemo(from, to), withMemo(from, to))).toHaveLength(1);
    expect(landings(transfer(master, to), withMemo(from, to))).toEqual([]);
    // Logs of others in between that the reader has left out.
    const { logs, ...receipt } = receiptOf([transfer(from, to), fee, withMemo(from, to)]);
    expect(paymentsIn({ ...receipt, logs: logs.filter((_log, place) => place !== 1) }, network)).toEqual([]);
  });

  it('need a Transfer to the guard each', () => {
    expect(landings(transfer(from, GUARD), blocked(terms.requestor), blocked(terms.requestor))).toHaveLength(1);
    expect(landings(blocked(terms.requestor), transfer(from, GUARD))).toEqual([]);
    expect(landings(transfer(from, GUARD, 1n), blocked(terms.requestor))).toEqual([]);
    // Kept back and claimed in the same transaction: the guard has nothing.
    expect(landings(transfer(from, GUARD), blocked(terms.requestor), transfer(GUARD, master))).toMatchObject([
      { to: GUARD, amount: 0n },
    ]);
  });

  it('are read of no log that is shaped otherwise, and none makes the reader throw', () => {
    const to = terms.requestor;
    const good = [transfer(from, to), withMemo(from, to), transfer(from, GUARD), blocked(to), fee];
    const odd = good.flatMap((event): Event[] => [
      { ...event, data: '0x' },
      { ...event, data: `${event.data}00` },
      { ...event, data: event.data.slice(0, 64) },
      { ...event, data: `0x${'ff'.repeat(4_096)}` },
      ...event.topics.map((_topic, length) => ({ ...event, topics: event.topics.slice(0, length) })),
      { ...event, topics: [...event.topics, word('0x01')] },
      { ...event, topics: event.topics.map(() => `0x${'ff'.repeat(32)}`) },
    ]);
    for (const one of odd) {
      const receipt = receiptOf([transfer(from, to), withMemo(from, to), one]);
      expect(paymentsIn(receipt, network)[0]?.transfer.index).toBe('1');
      expect(() => feeIn(receiptOf([one]))).not.toThrow();
      for (const log of receipt.logs) expect(() => claimIn(log, network)).not.toThrow();
    }
  });
});
