import type { BlockRange, Network, WalletHistory } from '@pf/chains';
import type { NamedWallet, ToldTransfer } from '@pf/database';
import type { AccountId, Address, Instant, IntentId } from '@pf/domain';
import { count, type Logger } from '@pf/runtime';
import { auditWallet, type WalletReport } from '@pf/wallet-audit';
import type { WatchedIntents } from './watched-intents.ts';

/** So many checks back a range begins at most; it ends at the one before. */
const CHECKS_BACK = 4;
/** Transfers of one check: some 10 MB of memory. */
const TRANSFERS_MAX = 20_000;
/** A wallet of more accounts is not checked: anyone may name any wallet. */
const OWNERS_MAX = 50;
/** Differences of one check that are logged: one hints at its cause. */
const LOGGED_MAX = 5;
/** The clocks of chains and services differ by less. */
const CLOCKS_MS = 60_000;

/** The wallets of a network, and whose intents name them. */
type Watching = Pick<WatchedIntents, 'recipients' | 'ownersSince'>;

/** What is to be checked. */
interface Due {
  readonly wallet: Address;
  readonly range: BlockRange;
  readonly accounts: readonly AccountId[];
}

export interface MoneyCheckOptions {
  readonly network: Network;
  readonly history: WalletHistory;
  /** Null while another process watches, or this one is behind: the ledger need not have all yet. */
  readonly watching: () => Watching | null;
  readonly readTold: (
    accountId: AccountId,
    wallet: NamedWallet,
    since: Instant,
    take: (page: readonly ToldTransfer[]) => void,
  ) => Promise<readonly IntentId[]>;
  readonly log: Logger;
}

/**
 * Compares, wallet by wallet in turn, what arrived by the chain alone with what the ledger tells, as `pf audit wallets`
 * does: what neither an intent nor a deposit explains is logged and counted (the alert MoneyUnexplained).
 *
 * A check reads what was final at the check before: the ledger has all of that by now.
 */
export class MoneyCheck {
  readonly #options: MoneyCheckOptions;
  /** The newest final block at each of the last checks, the oldest first. */
  #finals: readonly bigint[] = [];
  #turn = 0;
  /** Up to which block each wallet was checked. */
  readonly #checked = new Map<Address, bigint>();

  constructor(options: MoneyCheckOptions) {
    this.#options = options;
  }

  /**
   * Checks the wallet whose turn it is.
   * @throws RpcUnavailableError, TooManyTransfersError, or the database's error
   */
  async check(stopping: AbortSignal): Promise<void> {
    const due = await this.#due();
    if (due === null) return;
    const { network } = this.#options;
    try {
      const report = await this.#audit(due, stopping);
      this.#checked.set(due.wallet, due.range.to);
      const outcome = report.differences.length === 0 ? 'same' : 'differs';
      count('payments.watcher.checks', { network: network.name, outcome });
      if (outcome === 'differs') this.#tell(due, report);
    } catch (error) {
      count('payments.watcher.checks', { network: network.name, outcome: 'failed' });
      throw error;
    }
  }

  /** The next wallet and its range; null where there is nothing to check yet. */
  async #due(): Promise<Due | null> {
    const { history, watching } = this.#options;
    const watched = watching();
    if (watched === null) return null;
    this.#finals = [...this.#finals, await history.final()].slice(-CHECKS_BACK);
    const [oldest, to] = [this.#finals[0], this.#finals.at(-2)];
    const wallets = watched.recipients();
    const wallet = wallets[this.#turn++ % Math.max(1, wallets.length)];
    if (oldest === undefined || to === undefined || wallet === undefined) return null;
    if (this.#checked.size > wallets.length) this.#forgetAllBut(new Set(wallets));
    const checked = this.#checked.get(wallet) ?? oldest;
    const range = { from: (checked > oldest ? checked : oldest) + 1n, to };
    const owners = watched.ownersSince(wallet);
    if (range.from > range.to || owners.size > OWNERS_MAX) return null;
    // What came before the wallet was named is in no ledger.
    const begins = await history.timeOf(range.from);
    if (begins === null || Math.min(...owners.values()) + CLOCKS_MS > begins) return null;
    return { wallet, range, accounts: [...owners.keys()] };
  }

  async #audit({ wallet, range, accounts }: Due, ended: AbortSignal): Promise<WalletReport> {
    const { network, history, readTold } = this.#options;
    const named = { chain: network.chain, livemode: network.livemode, wallet };
    const report = await auditWallet({
      history,
      wallet,
      range,
      ended,
      most: TRANSFERS_MAX,
      readTold: async (since, take) => {
        const unreadable: IntentId[] = [];
        for (const accountId of accounts) unreadable.push(...(await readTold(accountId, named, since, take)));
        return unreadable;
      },
    });
    const [unreadable] = report.unreadable;
    if (unreadable !== undefined)
      throw new Error(`${wallet} cannot be checked: this version cannot read ${unreadable}`);
    return report;
  }

  #tell({ wallet, range }: Due, { differences }: WalletReport): void {
    this.#options.log.error(
      {
        wallet,
        blocks: { from: range.from.toString(), to: range.to.toString() },
        differences: differences.slice(0, LOGGED_MAX).map(({ kind, tokenAddress, hash, arrived, told }) => ({
          kind,
          tokenAddress,
          hash,
          arrived: arrived.toString(),
          told: told.toString(),
        })),
        differencesInAll: differences.length,
        runbook: 'docs/operations/runbooks/money-unexplained.md',
      },
      'what arrived in a wallet and what the ledger tells of it differ',
    );
  }

  #forgetAllBut(wallets: ReadonlySet<Address>): void {
    for (const wallet of this.#checked.keys()) if (!wallets.has(wallet)) this.#checked.delete(wallet);
  }
}
