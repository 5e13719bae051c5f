import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Address as WalletAddress, TransactionHash } from '@pf/domain';
import type { Address } from '@solana/kit';
import type { SignatureInfo } from '../../src/solana/calls.ts';
import { readLists } from '../../src/solana/observe/accounts.ts';
import { Memory, type WatchedAccount } from '../../src/solana/observe/memory.ts';

const OWNER = 'owner' as WalletAddress;
const HEAD = 10_000n;
const NOW = 1_000;
const listed = (slot: bigint): SignatureInfo => ({ signature: `of ${slot}` as TransactionHash, slot, err: null });
const MANY = 100;

describe('a long list of transactions', () => {
  let memory: Memory;
  const account = (): WatchedAccount | undefined => memory.accounts.get(OWNER)?.[0];
  const read = (page: readonly SignatureInfo[]): void =>
    readLists(memory, new Set(), HEAD, NOW, MANY).read([page], HEAD, NOW)();

  beforeEach(() => {
    memory = new Memory();
    memory.accounts.set(OWNER, [
      {
        address: 'account' as Address,
        balance: 1n,
        changedAt: NOW,
        isCompared: true,
        hasMoved: false,
        isNew: false,
        dueAt: NOW,
        read: 5_000n,
        newest: undefined,
        paging: {
          before: listed(9_001n).signature,
          last: listed(9_000n).signature,
          newest: listed(9_900n).signature,
          head: 9_950n,
        },
      },
    ]);
  });

  it('continues at the last entry but one, from a node that is near the head', () => {
    const { calls } = readLists(memory, new Set(), HEAD, NOW, MANY);
    expect(calls).toMatchObject([{ params: ['account', { before: 'of 9001', minContextSlot: 9_850 }] }]);
  });

  it('ends with a page that starts with the previous page’s last entry', () => {
    read([listed(9_000n)]);
    expect(account()).toMatchObject({ paging: null, read: 9_950n, newest: 'of 9900', changedAt: null });
  });

  it('restarts from the newest entry when a node that does not know the cursor returns an empty page', () => {
    read([]);
    expect(account()).toMatchObject({ paging: null, read: 5_000n, newest: undefined, changedAt: NOW });
  });

  it('does not end with a page of a node that ignores the cursor', () => {
    read([listed(9_900n), listed(9_000n)]);
    expect(account()).toMatchObject({ paging: null, read: 5_000n, changedAt: NOW });
    expect(memory.unseen.size).toBe(0);
  });

  it('continues from the last entry of a full page', () => {
    const page = Array.from({ length: 1_000 }, (_, index) => listed(9_000n - BigInt(index)));
    read(page);
    expect(account()).toMatchObject({ paging: { before: 'of 8002', last: 'of 8001' }, read: 5_000n });
    expect(memory.unseen.size).toBe(1_000);
  });

  it('continues after a page that is shorter than requested: providers may list fewer', () => {
    read([listed(9_000n), listed(8_990n), listed(8_980n)]);
    expect(account()).toMatchObject({ paging: { before: 'of 8990', last: 'of 8980' }, read: 5_000n });
  });

  it.each([
    [false, 20_000],
    [true, 80_000],
  ] as const)('is read until it shows what moved a balance (%p), or for %p ms', (hasMoved, ms) => {
    const [one] = memory.accounts.get(OWNER) ?? [];
    if (one === undefined) throw new Error('no account');
    memory.accounts.set(OWNER, [{ ...one, paging: null, hasMoved }]);
    const readAt = (now: number): void => readLists(memory, new Set(), HEAD, NOW, MANY).read([[]], HEAD, now)();
    readAt(NOW + ms - 1);
    expect(account()?.changedAt).toBe(NOW);
    readAt(NOW + ms);
    expect(account()?.changedAt).toBeNull();
  });

  it('is read again after 20 and 80 s where a new recipient had a balance, as a node may lag', () => {
    const [one] = memory.accounts.get(OWNER) ?? [];
    if (one === undefined) throw new Error('no account');
    memory.accounts.set(OWNER, [{ ...one, paging: null, isNew: true }]);
    const old = [listed(4_000n)];
    const isReadAt = (now: number): boolean => {
      const lists = readLists(memory, new Set(), HEAD, now, MANY);
      if (lists.calls.length > 0) lists.read([old], HEAD, now)();
      return lists.calls.length > 0;
    };
    // Nothing is listed in turn.
    memory.turnedAt = NOW + 80_000;
    const times = [0, 400, 19_999, 20_000, 20_400, 79_999, 80_000, 80_400].filter((ms) => isReadAt(NOW + ms));
    expect(times).toEqual([0, 20_000, 80_000]);
    expect(account()).toMatchObject({ changedAt: null, isNew: false });
  });

  it('waits for its turn where the rate of the upstream allows fewer lists in a step', () => {
    const [one] = memory.accounts.get(OWNER) ?? [];
    if (one === undefined) throw new Error('no account');
    const addresses = ['first', 'second', 'third'] as Address[];
    memory.accounts.set(
      OWNER,
      addresses.map((address) => ({ ...one, address })),
    );
    const { calls, isBehind } = readLists(memory, new Set(), HEAD, NOW, 2);
    expect(calls.map(({ params }) => params[0])).toEqual(['first', 'second']);
    expect(isBehind).toBe(true);
  });
});
