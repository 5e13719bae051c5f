import { describe, expect, it } from '@jest/globals';
import type { Address, Reference, Transfer } from '@pf/domain';
import { getAddress } from 'ethers/address';
import fc from 'fast-check';
import type { Log, Receipt } from '../../../src/evm/calls.ts';
import { arrivalsOf, nameOf, type Sighting } from '../../../src/tempo/observe/arrivals.ts';
import { claimIn, GUARD, moveIn, paymentsIn } from '../../../src/tempo/observe/landings.ts';
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
  zero,
} from '../logged.ts';
import { network, terms, tokenOf } from '../payments.ts';

const to = terms.requestor;
const UNKNOWN = `0x${'77'.repeat(32)}`;
const withUnknown = (sender: Address, recipient: Address, units = terms.amount): Event =>
  withMemo(sender, recipient, units, terms.tokenAddress, UNKNOWN);

const isNamed = (memo: Reference): boolean => memo === terms.reference;
const seenIn = (logs: readonly Log[], names = isNamed): readonly Sighting[] =>
  arrivalsOf(
    {
      moves: logs.flatMap((log) => moveIn(log) ?? []),
      claims: logs.flatMap((log) => claimIn(log, network) ?? []),
    },
    network,
    names,
  );
const seen = (...events: readonly Event[]): readonly Sighting[] => seenIn(logsOf(events));
/** Where each is, and how much. */
const brief = (...events: readonly Event[]): readonly (readonly [string, Address, bigint])[] =>
  seen(...events).map(({ arrival }) => [arrival.index, arrival.to, arrival.amount]);

describe('Arrivals on Tempo', () => {
  it('come from a plain transfer of a registered token', () => {
    expect(seen(transfer(from, to))).toMatchObject([
      {
        reason: 'no_reference',
        via: null,
        arrival: {
          hash,
          index: '0',
          block: place.blockNumber,
          blockHash: place.blockHash,
          tokenAddress: terms.tokenAddress,
          token: { symbol: 'USDC.e', decimals: 6 },
          from,
          to,
          amount: terms.amount,
          reference: null,
          at: null,
        },
      },
    ]);
    const alpha = tokenOf('AlphaUSD');
    expect(seen(transfer(from, to, 5n, alpha.address))).toMatchObject([{ arrival: { token: { symbol: 'AlphaUSD' } } }]);
    expect(seen(transfer(from, to, 5n, getAddress('0x20c000000000000000000000000000000000dead')))).toEqual([]);
  });

  it('have the time of their block where the node tells it', () => {
    const logs = logsOf([transfer(from, to)]).map((log) => ({ ...log, blockTimestamp: 1_795_000_000n }));
    expect(seenIn(logs)).toMatchObject([{ arrival: { at: 1_795_000_000_000 } }]);
  });

  it('are one where a memo that no intent has stands beside the transfer, in the place of a payment', () => {
    expect(seen(transfer(from, to), withUnknown(from, to))).toMatchObject([
      { reason: 'unknown_reference', arrival: { index: '1', reference: UNKNOWN, amount: terms.amount } },
    ]);
    const blank = withMemo(from, to, terms.amount, terms.tokenAddress, `0x${'00'.repeat(32)}`);
    expect(seen(transfer(from, to), blank)).toMatchObject([
      { reason: 'no_reference', arrival: { index: '1', reference: null } },
    ]);
  });

  it('are none where the memo names an intent, whose payment it is', () => {
    expect(seen(transfer(from, to), withMemo(from, to))).toEqual([]);
    expect(brief(transfer(from, to, 7n), transfer(from, to), withMemo(from, to))).toEqual([['0', to, 7n]]);
    expect(brief(transfer(from, to), withMemo(from, to), transfer(from, to, 7n))).toEqual([['2', to, 7n]]);
    expect(brief(transfer(from, to), withMemo(from, to), transfer(from, to, 7n), withUnknown(from, to, 7n))).toEqual([
      ['3', to, 7n],
    ]);
  });

  it('are two where the memo behind a transfer is of another one', () => {
    for (const memo of [withUnknown(from, to, 1n), withUnknown(master, to), withUnknown(from, master)])
      expect(seen(transfer(from, to), memo)).toHaveLength(2);
    const [first, second] = logsOf([transfer(from, to), withUnknown(from, to)]);
    if (first === undefined || second === undefined) throw new Error('there are two');
    expect(seenIn([first, { ...second, logIndex: 2n }])).toHaveLength(2);
    expect(seenIn([first, { ...second, transactionHash: `0x${'ef'.repeat(32)}` as typeof hash }])).toHaveLength(2);
  });

  it('have no sender where the token was minted', () => {
    expect(seen(transfer(zero, to), mint(to))).toMatchObject([{ arrival: { from: null, index: '0' } }]);
    expect(seen(transfer(zero, to), withUnknown(zero, to), mint(to))).toMatchObject([
      { arrival: { from: null, index: '1', reference: UNKNOWN } },
    ]);
  });

  it('are none where nothing arrives, or the fee manager pays', () => {
    expect(seen(transfer(from, to, 0n), transfer(to, to), transfer(feeManager, to))).toEqual([]);
  });

  it('are told of a virtual address, and of the master account that gets the money as passed on', () => {
    expect(seen(transfer(from, virtual), transfer(virtual, master))).toMatchObject([
      { via: null, arrival: { from, to: virtual, index: '0' } },
      { via: virtual, arrival: { from: null, to: master, index: '1' } },
    ]);
    // The payment of an intent has reached the master account all the same.
    expect(seen(transfer(from, virtual), withMemo(from, virtual), transfer(virtual, master))).toMatchObject([
      { via: virtual, arrival: { to: master, index: '2' } },
    ]);
  });

  it('are none where the guard keeps back what a virtual address is paid', () => {
    expect(brief(transfer(from, virtual), transfer(virtual, GUARD)).filter(([, at]) => at === virtual)).toEqual([]);
    const beside = [transfer(from, virtual), transfer(virtual, master)];
    const memoKept = [transfer(from, virtual), withUnknown(from, virtual), transfer(virtual, GUARD)];
    expect(brief(...beside, ...memoKept).filter(([, at]) => at === virtual)).toEqual([['0', virtual, terms.amount]]);
    expect(brief(...memoKept, ...beside).filter(([, at]) => at === virtual)).toEqual([['3', virtual, terms.amount]]);
    const minted = [transfer(zero, virtual), mint(virtual), transfer(virtual, GUARD)];
    expect(brief(...minted).filter(([, at]) => at === virtual)).toEqual([]);
    const mintedWithMemo = [transfer(zero, virtual), withUnknown(zero, virtual), mint(virtual)];
    expect(brief(...mintedWithMemo, transfer(virtual, GUARD)).filter(([, at]) => at === virtual)).toEqual([]);
  });

  it('have another name where anything of them is told otherwise', () => {
    const nameIn = (logs: readonly Log[]): string | undefined => seenIn(logs).map(({ arrival }) => nameOf(arrival))[0];
    const logs = logsOf([transfer(from, to)]);
    const others = [
      logsOf([transfer(master, to)]),
      logsOf([transfer(from, master)]),
      logsOf([transfer(from, to, 1n)]),
      logsOf([transfer(from, to, terms.amount, tokenOf('AlphaUSD').address)]),
      logsOf([withUnknown(from, to)]),
      logs.map((log) => ({ ...log, logIndex: 1n })),
      logs.map((log) => ({ ...log, blockHash: `0x${'ce'.repeat(32)}` })),
      logs.map((log) => ({ ...log, transactionHash: `0x${'ef'.repeat(32)}` as typeof hash })),
    ];
    expect(new Set([logs, ...others].map(nameIn)).size).toBe(others.length + 1);
  });

  it('are together with the payments of intents what the recipient has gained, to the unit', () => {
    const step = fc.record({
      memo: fc.constantFrom(null, terms.reference, UNKNOWN),
      isMint: fc.boolean(),
      recipient: fc.constantFrom(to, virtual),
      isKept: fc.boolean(),
      units: fc.bigInt({ min: 1n, max: 1_000n }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const logs = logsOf(
          steps.flatMap(({ memo, isMint, recipient, isKept, units }) => {
            const sender = isMint ? zero : from;
            const { tokenAddress } = terms;
            return [
              transfer(sender, recipient, units),
              ...(memo === null ? [] : [withMemo(sender, recipient, units, tokenAddress, memo)]),
              ...(isMint ? [mint(recipient)] : []),
              ...(recipient === virtual ? [transfer(virtual, isKept ? GUARD : master, units)] : []),
            ];
          }),
        );
        const receipt: Receipt = { transactionHash: hash, status: 1n, from, ...place, logs };
        const sum = (all: readonly Pick<Transfer, 'to' | 'amount'>[], at: Address): bigint =>
          all.reduce((units, one) => units + (one.to === at ? one.amount : 0n), 0n);
        const arrived = seenIn(logs).map(({ arrival }) => arrival);
        const paid = paymentsIn(receipt, network)
          .map((one) => one.transfer)
          .filter(({ reference }) => isNamed(reference));
        const gainedBy = (at: Address): bigint =>
          steps.reduce(
            (units, one) => units + (one.recipient === at && !(at === virtual && one.isKept) ? one.units : 0n),
            0n,
          );
        for (const at of [to, virtual]) expect(sum(arrived, at) + sum(paid, at)).toBe(gainedBy(at));
        expect(sum(arrived, master)).toBe(gainedBy(virtual));
      }),
    );
  });
});
