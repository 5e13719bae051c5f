import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type BlockRange, type Moved, networkOf } from '@pf/chains';
import type { ToldTransfer } from '@pf/database';
import type { AccountId, Address, Instant, IntentId, TransactionHash } from '@pf/domain';
import { samples } from '@pf/domain/testing';
import { createLogger } from '@pf/runtime';
import { MoneyCheck, type MoneyCheckOptions } from '../src/money-check.ts';

const { ACCOUNT, ALICE, BASE_SEPOLIA, BOB, OTHER_ACCOUNT } = samples;
const USDC = samples.USDC;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** A block a minute. */
const timeOf = (block: bigint): Instant => Number(block) * MINUTE_MS;
/** Blocks by which the head is ahead of the newest final one. */
const FINALITY = 5n;

describe('The check of what has arrived', () => {
  let final: bigint;
  /** Who names each wallet, and since when. */
  let wallets: Map<Address, Map<AccountId, Instant>>;
  let isCurrent: boolean;
  let moved: Moved[];
  let told: ToldTransfer[];
  let failure: Error | null;
  /** How many blocks one look reads. */
  let reach: bigint;
  let busy: Set<Address>;
  /** Wallets with an intent that newer code has written. */
  let unreadable: Set<Address>;
  let read: { wallet: Address; range: BlockRange }[];
  let asked: Parameters<MoneyCheckOptions['readTold']>[];
  let differences: { wallet: Address; differences: { hash: string; kind: string }[] }[];
  let check: MoneyCheck;
  beforeEach(() => {
    final = 100n;
    wallets = new Map([[ALICE, new Map([[ACCOUNT, 0]])]]);
    isCurrent = true;
    reach = 1_000n;
    [busy, unreadable] = [new Set(), new Set()];
    [moved, told, read, asked, differences] = [[], [], [], [], []];
    failure = null;
    const log = createLogger('test', 'silent');
    jest.spyOn(log, 'error').mockImplementation(((one: never) => void differences.push(one)) as never);
    check = new MoneyCheck({
      network: networkOf(BASE_SEPOLIA),
      history: {
        final: async () => final,
        timeOf: async (block) => timeOf(block),
        readFew: async (wallet, range) => {
          if (failure !== null) throw failure;
          read.push({ wallet, range });
          if (busy.has(wallet)) return null;
          const through = range.from + reach - 1n < range.to ? range.from + reach - 1n : range.to;
          return { moved: moved.filter(({ block }) => block >= range.from && block <= through), through };
        },
      },
      watching: () =>
        isCurrent
          ? {
              head: final + FINALITY,
              set: { recipients: () => [...wallets.keys()], ownersSince: (wallet) => wallets.get(wallet) ?? new Map() },
            }
          : null,
      readTold: async (...asking) => {
        asked.push(asking);
        return { told, unreadable: unreadable.has(asking[0].wallet) ? ['pi_held' as IntentId] : [] };
      },
      now: () => timeOf(final),
      log,
    });
  });
  /** Checks once more, when the chain has gone on by ten blocks. */
  const next = async (times = 1): Promise<void> => {
    for (let time = 0; time < times; time += 1) {
      await check.check();
      final += 10n;
    }
  };
  const came = (block: bigint, hash: string): Moved => ({
    hash: hash as TransactionHash,
    block,
    tokenAddress: USDC,
    came: 5n,
    went: 0n,
    from: null,
  });
  const toldOf = ({ hash, block, came: amount }: Moved): ToldTransfer => ({
    kind: 'deposit',
    toldBy: 'dep_1',
    hash,
    place: { index: '0', block },
    tokenAddress: USDC,
    amount,
    from: null,
    isClaimed: false,
    toldAt: timeOf(block),
  });

  it('reads each block of the only wallet once, and none that was not final at the check before', async () => {
    await next(5);
    expect(read.map(({ range }) => range)).toEqual([
      { from: 106n, to: 110n },
      { from: 111n, to: 120n },
      { from: 121n, to: 130n },
    ]);
  });

  it('goes on where one look has ended', async () => {
    reach = 8n;
    await next(5);
    expect(read.map(({ range: { from } }) => from)).toEqual([106n, 111n, 119n]);
  });

  it('takes wallets in turn, each at most as far back as the checks go that are remembered', async () => {
    wallets.set(BOB, new Map([[ACCOUNT, 0]]));
    await next(8);
    expect(read.map(({ wallet }) => wallet)).toEqual([BOB, ALICE, BOB, ALICE, BOB, ALICE].toReversed());
    expect(read.at(-1)?.range).toEqual({ from: 141n, to: 160n });
  });

  it('tells of what nothing explains in three checks, and of what the ledger tells of it twice, once', async () => {
    const [unseen, seen] = [came(107n, '0x01'), came(108n, '0x02')];
    moved = [unseen, seen];
    told = [toldOf(seen), { ...toldOf(seen), place: { index: '1', block: seen.block } }];
    await next(3);
    expect(differences).toEqual([]);
    await next(4);
    expect(differences).toMatchObject([
      {
        wallet: ALICE,
        differences: [
          { hash: '0x01', kind: 'missing' },
          { hash: '0x02', kind: 'beyond' },
        ],
      },
    ]);
  });

  it('is silent of what the ledger tells of late', async () => {
    moved = [came(107n, '0x01')];
    await next(3);
    told = moved.map(toldOf);
    await next(4);
    expect(differences).toEqual([]);
  });

  it('is silent where the ledger explains all, by whichever account names the wallet', async () => {
    wallets.get(ALICE)?.set(OTHER_ACCOUNT, 0);
    moved = [came(107n, '0x01')];
    told = moved.map(toldOf);
    await next(5);
    expect(differences).toEqual([]);
    expect(asked).toEqual([
      [expect.objectContaining({ wallet: ALICE }), [ACCOUNT, OTHER_ACCOUNT], timeOf(105n), ['0x01']],
    ]);
  });

  it('does not read what came before the wallet was named', async () => {
    wallets = new Map([[ALICE, new Map([[ACCOUNT, timeOf(115n)]])]]);
    await next(6);
    expect(read.map(({ range }) => range.from)).toEqual([121n]);
  });

  it('reads only what this process has read itself, without a gap', async () => {
    await next(2);
    isCurrent = false;
    await next(2);
    expect(read).toEqual([]);
    isCurrent = true;
    await next(3);
    expect(read.map(({ range }) => range)).toEqual([{ from: 146n, to: 150n }]);
  });

  it('goes on with what it could not read', async () => {
    failure = new Error('no upstream');
    await next(2);
    await expect(next()).rejects.toThrow('no upstream');
    final += 10n;
    failure = null;
    await next();
    expect(read.map(({ range }) => range)).toEqual([{ from: 106n, to: 120n }]);
  });

  it('checks other wallets where one cannot be compared, which is given up after two hours', async () => {
    wallets.set(BOB, new Map([[ACCOUNT, 0]]));
    moved = [came(107n, '0x01')];
    await next(3);
    unreadable.add(BOB).add(ALICE);
    const failures: unknown[] = [];
    for (let time = 0; time < 12; time += 1) await check.check().catch((error: unknown) => failures.push(error));
    moved = [];
    for (let time = 0; time < 4; time += 1) {
      final += 10n;
      await check.check();
    }
    expect(failures).toHaveLength(11);
    expect(new Set(read.map(({ wallet }) => wallet))).toEqual(new Set([ALICE, BOB]));
    expect(differences).toEqual([]);
  });

  it('lets a wallet rest for a day that moves too much, or that too many accounts name', async () => {
    wallets.set(BOB, new Map(Array.from({ length: 17 }, (_, n) => [`acc_${n}` as AccountId, 0])));
    busy.add(ALICE);
    await next(10);
    expect(read.map(({ wallet }) => wallet)).toEqual([ALICE]);
    final += BigInt(DAY_MS / MINUTE_MS);
    await next(2);
    expect(read.map(({ wallet }) => wallet)).toEqual([ALICE, ALICE]);
  });
});
