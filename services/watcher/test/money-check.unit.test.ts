import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type BlockRange, type Moved, networkOf, type WalletHistory } from '@pf/chains';
import type { ToldTransfer } from '@pf/database';
import type { AccountId, Address, Instant, TransactionHash } from '@pf/domain';
import { samples } from '@pf/domain/testing';
import { createLogger } from '@pf/runtime';
import { MoneyCheck } from '../src/money-check.ts';

const { ACCOUNT, ALICE, BASE_SEPOLIA, BOB, OTHER_ACCOUNT } = samples;
const USDC = samples.USDC;
const MINUTE_MS = 60_000;
/** A block a minute. */
const timeOf = (block: bigint): Instant => Number(block) * MINUTE_MS;

describe('The check of what has arrived', () => {
  let final: bigint;
  /** Who names each wallet, and since when. */
  let wallets: Map<Address, Map<AccountId, Instant>>;
  let isCurrent: boolean;
  let moved: Moved[];
  let told: ToldTransfer[];
  let failure: Error | null;
  let read: { wallet: Address; range: BlockRange }[];
  let asked: AccountId[];
  let differences: { wallet: Address; differences: { hash: string; kind: string }[] }[];
  let check: MoneyCheck;
  beforeEach(() => {
    final = 100n;
    wallets = new Map([[ALICE, new Map([[ACCOUNT, 0]])]]);
    isCurrent = true;
    [moved, told, read, asked, differences] = [[], [], [], [], []];
    failure = null;
    const history: WalletHistory = {
      final: async () => final,
      timeOf: async (block) => timeOf(block),
      read: async (wallet, range, take) => {
        if (failure !== null) throw failure;
        read.push({ wallet, range });
        take(moved.filter(({ block }) => block >= range.from && block <= range.to));
        return new Map();
      },
      inTransactions: async () => new Map(),
    };
    const log = createLogger('test', 'silent');
    jest.spyOn(log, 'error').mockImplementation(((one: never) => void differences.push(one)) as never);
    check = new MoneyCheck({
      network: networkOf(BASE_SEPOLIA),
      history,
      watching: () =>
        isCurrent
          ? { recipients: () => [...wallets.keys()], ownersSince: (wallet) => wallets.get(wallet) ?? new Map() }
          : null,
      readTold: async (accountId, _wallet, _since, take) => {
        asked.push(accountId);
        take(told);
        return [];
      },
      log,
    });
  });
  /** Checks once more, when the chain has gone on by ten blocks. */
  const next = async (times = 1): Promise<void> => {
    for (let time = 0; time < times; time += 1) {
      await check.check(new AbortController().signal);
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
  const toldOf = ({ hash, block }: Moved): ToldTransfer => ({
    kind: 'deposit',
    toldBy: 'dep_1',
    hash,
    place: { index: '0', block },
    tokenAddress: USDC,
    amount: 5n,
    from: null,
    isClaimed: false,
    toldAt: timeOf(block),
  });

  it('reads each block of the only wallet once, and none that was not final at the check before', async () => {
    await next(5);
    expect(read.map(({ range }) => range)).toEqual([
      { from: 101n, to: 110n },
      { from: 111n, to: 120n },
      { from: 121n, to: 130n },
    ]);
  });

  it('takes wallets in turn, each at most as far back as the checks go that are remembered', async () => {
    wallets.set(BOB, new Map([[ACCOUNT, 0]]));
    await next(8);
    expect(read.map(({ wallet }) => wallet)).toEqual([ALICE, BOB, ALICE, BOB, ALICE, BOB]);
    expect(read.at(-1)?.range).toEqual({ from: 141n, to: 160n });
  });

  it('tells of what nothing explains, and of what the ledger has beyond it, once', async () => {
    const [unseen, seen] = [came(103n, '0x01'), came(104n, '0x02')];
    moved = [unseen, seen];
    told = [toldOf(seen), toldOf(came(105n, '0x03'))];
    await next(5);
    expect(differences).toMatchObject([
      {
        wallet: ALICE,
        differences: [
          { hash: '0x01', kind: 'missing' },
          { hash: '0x03', kind: 'beyond' },
        ],
      },
    ]);
  });

  it('is silent where the ledger explains all, by whichever account names the wallet', async () => {
    wallets.get(ALICE)?.set(OTHER_ACCOUNT, 0);
    moved = [came(103n, '0x01')];
    told = moved.map(toldOf);
    await next(5);
    expect([differences, new Set(asked)]).toEqual([[], new Set([ACCOUNT, OTHER_ACCOUNT])]);
  });

  it('does not read what came before the wallet was named', async () => {
    wallets = new Map([[ALICE, new Map([[ACCOUNT, timeOf(115n)]])]]);
    await next(6);
    expect(read.map(({ range }) => range.from)).toEqual([121n]);
  });

  it('does not read while another process watches, or this one is behind', async () => {
    await next(2);
    isCurrent = false;
    await next(2);
    expect(read).toEqual([]);
    isCurrent = true;
    await next();
    expect(read).toHaveLength(1);
  });

  it('goes on with what it could not read', async () => {
    failure = new Error('no upstream');
    await next(2);
    await expect(next()).rejects.toThrow('no upstream');
    failure = null;
    final += 10n;
    await next();
    expect(read.map(({ range }) => range)).toEqual([{ from: 101n, to: 120n }]);
  });
});
