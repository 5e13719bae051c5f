import { beforeEach, describe, expect, it } from '@jest/globals';
import type { AccountId, Address as WalletAddress, Reference, TransactionHash } from '@pf/domain';
import type { Address } from '@solana/kit';
import type { SignatureInfo } from '../../src/solana/calls.ts';
import { pollBalances, readLists } from '../../src/solana/observe/accounts.ts';
import { Memory, type WatchedAccount } from '../../src/solana/observe/memory.ts';

const OWNER = 'owner' as WalletAddress;
const HEAD = 10_000n;
const NOW = 1_000;
const listed = (slot: bigint): SignatureInfo => ({ signature: `of ${slot}` as TransactionHash, slot, err: null });
const MANY = 100;
const NO_OWNERS = { awaited: new Set<WalletAddress>(), ownersOf: () => [] };

describe('a long list of transactions', () => {
  let memory: Memory;
  const account = (): WatchedAccount | undefined => memory.accounts.get(OWNER)?.[0];
  const read = (page: readonly SignatureInfo[]): void =>
    readLists(memory, new Map(), HEAD, NOW, MANY, NO_OWNERS).read([page], HEAD, NOW)();

  beforeEach(() => {
    memory = new Memory();
    memory.accounts.set(OWNER, [
      {
        address: 'account' as Address,
        balance: 1n,
        changedAt: NOW,
        isCompared: true,
        hasMoved: false,
        risen: 0n,
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
    const { calls } = readLists(memory, new Map(), HEAD, NOW, MANY, NO_OWNERS);
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

  it('holds its recipient’s bookmark, too, where it was found by a reference of another one', () => {
    const other = { slot: 8_000n, since: 0, dueAt: 0, of: 'other' as WalletAddress, reference: 'named' as Reference };
    memory.unseen.set(listed(8_000n).signature, other);
    read([listed(9_000n), listed(8_000n)]);
    expect(memory.unseen.get(listed(8_000n).signature)).toEqual({ ...other, of: OWNER });
    expect(memory.firstUnread().get(OWNER)).toBe(8_000n);
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
    const readAt = (now: number): void =>
      readLists(memory, new Map(), HEAD, NOW, MANY, NO_OWNERS).read([[]], HEAD, now)();
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
      const lists = readLists(memory, new Map(), HEAD, now, MANY, NO_OWNERS);
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
    const { calls, isBehind } = readLists(memory, new Map(), HEAD, NOW, 2, NO_OWNERS);
    expect(calls.map(({ params }) => params[0])).toEqual(['first', 'second']);
    expect(isBehind).toBe(true);
  });
});

describe('the list of a recipient that was paid, beside a thousand that a stranger sends dust to in every step', () => {
  const SPAM = 1_000;
  const PAID = 2_000_000n;
  /** As it was read a moment ago, long after those of the others. */
  const watched = (address: string, read: bigint): WatchedAccount => ({
    address: address as Address,
    balance: 1n,
    isCompared: true,
    changedAt: null,
    hasMoved: false,
    risen: 0n,
    isNew: false,
    dueAt: 0,
    read,
    newest: undefined,
    paging: null,
  });
  let memory: Memory;
  let owners: Map<WalletAddress, readonly AccountId[]>;
  let awaited: Set<WalletAddress>;
  beforeEach(() => {
    memory = new Memory();
    owners = new Map();
    awaited = new Set();
    for (let number = 0; number < SPAM; number += 1) add(`dusted ${number}`, 100n, 'acc_busy');
    add('paid', 101n, 'acc_paid');
  });
  function add(recipient: string, read: bigint, ...accounts: readonly string[]): void {
    const wallet = recipient as WalletAddress;
    memory.accounts.set(wallet, [watched(recipient, read)]);
    owners.set(wallet, accounts as readonly AccountId[]);
    awaited.add(wallet);
  }
  /** Reads lists for so many steps. @returns in which step each was read first, from 1 */
  function firstRead(steps: number, paid: ReadonlyMap<string, bigint>): ReadonlyMap<unknown, number> {
    const recipients = { awaited, ownersOf: (recipient: WalletAddress) => owners.get(recipient) ?? [] };
    const seen = new Map<unknown, number>();
    for (let step = 1; step <= steps; step += 1) {
      const [now, head] = [step * 1_000, 102n + BigInt(step)];
      const dust = [...memory.accounts.keys()].map((one): [string, bigint] => [one, 1n]);
      const lists = readLists(memory, new Map([...dust, ...paid]), head, now, Number.POSITIVE_INFINITY, recipients);
      const pages = lists.calls.map(({ params: [account] }) => {
        if (!seen.has(account)) seen.set(account, step);
        return [{ signature: `${String(account)} in ${step}` as TransactionHash, slot: head, err: null }];
      });
      lists.read(pages, head, now)();
    }
    return seen;
  }

  it('is read in the same step where it is another account’s', () => {
    expect(firstRead(1, new Map([['paid', 1n]])).get('paid')).toBe(1);
  });

  it('is read in the same step where the stranger owns an intent to the same recipient too', () => {
    owners.set('paid' as WalletAddress, ['acc_busy', 'acc_paid'] as AccountId[]);
    expect(firstRead(1, new Map([['paid', 1n]])).get('paid')).toBe(1);
  });

  it('is read in the same step where it is the same account’s, as more than dust has arrived', () => {
    owners.set('paid' as WalletAddress, ['acc_busy'] as AccountId[]);
    expect(firstRead(1, new Map([['paid', PAID]])).get('paid')).toBe(1);
  });

  it('is read in the same step by 15 accounts at once, and within two by 30', () => {
    const others = Array.from({ length: 28 }, (_, number) => `other ${number}`);
    for (const one of others.slice(0, 13)) add(one, 101n, `acc ${one}`);
    expect(firstRead(1, new Map()).get('paid')).toBe(1);
    for (const one of others.slice(13)) add(one, 101n, `acc ${one}`);
    const seen = firstRead(2, new Map());
    expect([...others, 'paid'].map((one) => seen.get(one) ?? 3).filter((step) => step > 2)).toEqual([]);
  });

  it('is read in the end although whatever the others got is more', () => {
    owners.set('paid' as WalletAddress, ['acc_busy'] as AccountId[]);
    const more = new Map([...memory.accounts.keys()].map((one): [string, bigint] => [one, 2n * PAID]));
    const steps = Math.ceil(SPAM / 5);
    expect(firstRead(steps, more.set('paid', PAID)).has('paid')).toBe(true);
  });
});

describe('the balances of recipients that are awaited', () => {
  const SPAM = 2_500;
  const place = (address: string): WatchedAccount => ({
    address: address as Address,
    balance: 1n,
    isCompared: true,
    changedAt: null,
    hasMoved: false,
    risen: 0n,
    isNew: false,
    dueAt: 0,
    read: 1n,
    newest: undefined,
    paging: null,
  });

  it('are read in every step of an account with few, however many another has, and of that one in turn', () => {
    const memory = new Memory();
    const spam = Array.from({ length: SPAM }, (_, number) => `spam ${number}` as WalletAddress);
    const paid = 'paid' as WalletAddress;
    for (const one of [...spam, paid]) memory.accounts.set(one, [place(one)]);
    const recipients = {
      awaited: new Set([...spam, paid]),
      ownersOf: (one: WalletAddress) => [(one === paid ? 'acc_paid' : 'acc_busy') as AccountId],
    };
    memory.polledAt = 0;
    const seen = new Map<unknown, number>();
    for (let step = 1; step <= 3; step += 1) {
      const poll = pollBalances(memory, recipients, 0, Number.POSITIVE_INFINITY);
      expect(poll.calls).toHaveLength(10);
      const asked = poll.calls.map(({ params: [accounts] }) => accounts as readonly string[]);
      for (const one of asked.flat()) seen.set(one, (seen.get(one) ?? 0) + 1);
      const moved = poll.read(
        asked.map((part) => ({ context: { slot: 1n }, value: part.map(() => null) })),
        0,
      );
      moved.commit();
    }
    expect(seen.get(paid)).toBe(3);
    expect(spam.filter((one) => !seen.has(one))).toEqual([]);
  });
});
