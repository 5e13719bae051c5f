import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Address as WalletAddress, TransactionHash } from '@pf/domain';
import type { Address } from '@solana/kit';
import type { SignatureInfo, SignatureStatus } from '../../src/solana/calls.ts';
import { readLists } from '../../src/solana/observe/accounts.ts';
import { Memory, type WatchedAccount } from '../../src/solana/observe/memory.ts';

const OWNER = 'owner' as WalletAddress;
const HEAD = 10_000n;
const NOW = 1_000;
const listed = (slot: bigint): SignatureInfo => ({ signature: `of ${slot}` as TransactionHash, slot, err: null });
const KNOWN: SignatureStatus = { slot: 9_000n, err: null, confirmationStatus: 'finalized' };

describe('a long list of transactions', () => {
  let memory: Memory;
  const account = (): WatchedAccount | undefined => memory.accounts.get(OWNER)?.[0];
  const read = (known: readonly (SignatureStatus | null)[], page: readonly SignatureInfo[]): void =>
    readLists(memory, new Set(), HEAD).read(known, [page], HEAD, NOW)();

  beforeEach(() => {
    memory = new Memory();
    memory.accounts.set(OWNER, [
      {
        address: 'account' as Address,
        balance: 1n,
        changedAt: NOW,
        read: 5_000n,
        newest: undefined,
        paging: { before: listed(9_000n).signature, slot: 9_000n, newest: listed(9_900n).signature, head: 9_950n },
      },
    ]);
  });

  it('is requested with the proof that the node knows where the page begins, and has come near the head', () => {
    const { proofs, calls } = readLists(memory, new Set(), HEAD);
    expect(proofs).toMatchObject([
      { method: 'getSignatureStatuses', params: [['of 9000'], { searchTransactionHistory: true }] },
    ]);
    expect(calls).toMatchObject([{ params: ['account', { before: 'of 9000', minContextSlot: 9_850 }] }]);
  });

  it('ends with an empty page of a node that knows where it begins', () => {
    read([KNOWN], []);
    expect(account()).toMatchObject({ paging: null, read: 9_950n, newest: 'of 9900', changedAt: null });
  });

  it('does not end with an empty page of a node that does not: it is read from its newest again', () => {
    read([null], []);
    expect(account()).toMatchObject({ paging: null, read: 5_000n, newest: undefined, changedAt: NOW });
  });

  it('does not end with a page of a node that ignores where it begins', () => {
    read([KNOWN], [listed(9_900n), listed(9_000n)]);
    expect(account()).toMatchObject({ paging: null, read: 5_000n, changedAt: NOW });
    expect(memory.unseen.size).toBe(0);
  });

  it('goes on from the last of a full page', () => {
    const page = Array.from({ length: 1_000 }, (_, index) => listed(8_999n - BigInt(index)));
    read([KNOWN], page);
    expect(account()).toMatchObject({ paging: { before: 'of 8000', slot: 8_000n }, read: 5_000n });
    expect(memory.unseen.size).toBe(1_000);
  });
});
