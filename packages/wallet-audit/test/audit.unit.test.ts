import { describe, expect, it } from '@jest/globals';
import type { Moved } from '@pf/chains';
import type { ToldTransfer } from '@pf/database';
import type { Address, TokenAddress, TransactionHash } from '@pf/domain';
import { auditWallet, type AuditOptions } from '../src/audit.ts';

const USDC = '0xusdc' as TokenAddress;
const HOUR = 3_600_000;
/** The time of a block. */
const at = (block: bigint): number => Number(block) * HOUR;

const moved = (hash: string, block: bigint, came = 5n): Moved => ({
  hash: hash as TransactionHash,
  block,
  tokenAddress: USDC,
  came,
  went: 0n,
  from: null,
});
/** @param block null: what is stored does not say */
const told = (hash: string, block: bigint | null, more: Partial<ToldTransfer> = {}): ToldTransfer => ({
  kind: block === null ? 'mismatched' : 'deposit',
  toldBy: `by_${hash}`,
  hash: hash as TransactionHash,
  place: block === null ? null : { index: '0', block },
  tokenAddress: USDC,
  amount: 5n,
  from: null,
  isClaimed: false,
  toldAt: at(15n),
  ...more,
});

/** An audit of the blocks 10 to 20. @param elsewhere what is shown only of a transaction that is asked for */
function audit(
  pages: readonly (readonly Moved[])[],
  all: readonly ToldTransfer[],
  elsewhere: readonly Moved[] = [],
  more: Partial<AuditOptions> = {},
) {
  const looked: TransactionHash[][] = [];
  const since: number[] = [];
  const history: AuditOptions['history'] = {
    final: () => Promise.reject(new Error('it is not asked')),
    timeOf: (block) => Promise.resolve(at(block)),
    read: (_wallet, _range, take) => {
      for (const page of pages) take(page);
      return Promise.resolve(new Map());
    },
    inTransactions: (_wallet, hashes) => {
      looked.push([...hashes]);
      const found = elsewhere.filter(({ hash }) => hashes.includes(hash));
      return Promise.resolve(Map.groupBy(found, ({ hash }) => hash));
    },
  };
  const report = auditWallet({
    history,
    readTold: (from, take) => {
      since.push(from);
      take(all);
      return Promise.resolve([]);
    },
    wallet: '0xwallet' as Address,
    range: { from: 10n, to: 20n },
    ended: new AbortController().signal,
    ...more,
  });
  return { report, looked, since };
}

describe('auditWallet', () => {
  it('compares the pages of the chain with what the ledger tells of the range, some time before it on', async () => {
    const { report, looked, since } = audit(
      [[moved('a', 10n)], [moved('b', 20n)]],
      [told('a', 10n), told('b', 20n), told('before', 9n), told('after', 21n)],
    );
    expect((await report).differences).toEqual([]);
    expect(looked).toEqual([]);
    expect(since).toEqual([at(10n) - HOUR]);
  });

  it('looks up what the chain did not show, some transactions at a time', async () => {
    const many = Array.from({ length: 51 }, (_, n) => told(`t${n}`, 11n));
    const { report, looked } = audit([], many, [moved('t0', 11n)]);
    const { differences } = await report;
    expect(looked.map((hashes) => hashes.length)).toEqual([50, 1]);
    expect(differences).toHaveLength(50);
    expect(differences.map(({ hash }) => hash)).not.toContain('t0');
  });

  it('leaves to other ranges what the chain has in their blocks', async () => {
    const { report } = audit([], [told('a', null), told('b', 12n)], [moved('a', 9n), moved('b', 21n)]);
    expect((await report).differences).toEqual([]);
  });

  it('takes a mismatched payment for one of later blocks that was told of long after the range', async () => {
    const late = { toldAt: at(20n) + 2 * HOUR };
    const { report, looked } = audit([[moved('a', 10n)]], [told('a', null, late), told('b', null, late)]);
    expect((await report).differences).toEqual([]);
    expect(looked).toEqual([]);
  });

  it('finds a mismatched payment that no upstream has', async () => {
    const { report } = audit([], [told('gone', null)]);
    expect((await report).differences).toMatchObject([{ kind: 'beyond', hash: 'gone', block: null }]);
  });

  it('ends when it is asked to, and where there is more than it may hold', async () => {
    await expect(audit([[moved('a', 10n)]], [], [], { ended: AbortSignal.abort() }).report).rejects.toThrow('abort');
    const page = Array.from({ length: 100_000 }, () => moved('a', 10n));
    await expect(audit([page, page, page], []).report).rejects.toThrow('more than 200000 transfers');
  });
});
