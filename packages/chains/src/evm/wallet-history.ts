import type { Address, TokenAddress, TransactionHash } from '@pf/domain';
import { refusable, type RpcPool, RpcRefusedError, RpcUnavailableError, RpcUpstreamError } from '@pf/rpc';
import type { Network } from '../networks.ts';
import type { Balances, BlockRange, Few, Moved, WalletHistory } from '../wallet-history.ts';
import { balanceOf } from './account.ts';
import { callContract, getBlock, getReceipt, type Log, NO_ACCOUNT, type Receipt } from './calls.ts';
import { LogWindow, type Wanted } from './observe/log-window.ts';

/** Pages of blocks of a look at a few transactions: two calls each, and more where few blocks of what it sent pass. */
const FEW_PAGES = 5;
/** Transfers of one wallet that a usual transaction has at most. */
const LOGS_OF_ONE = 20;

/** A transfer as a token logs it; null for any other log. */
type ReadTransfer = (log: Log) => { readonly from: Address; readonly to: Address; readonly amount: bigint } | null;

/**
 * What moved in a wallet by the logs of the tokens: the incoming ones of a page of blocks, then the outgoing ones of
 * the same blocks, so that each transaction is seen whole.
 */
export class EvmWalletHistory implements WalletHistory {
  readonly #network: Network;
  readonly #pool: Pick<RpcPool, 'run'>;
  readonly #event: string;
  readonly #read: ReadTransfer;
  readonly #window = new LogWindow();

  /** @param event the first topic of a token's Transfer */
  constructor(network: Network, pool: Pick<RpcPool, 'run'>, event: string, read: ReadTransfer) {
    this.#network = network;
    this.#pool = pool;
    this.#event = event;
    this.#read = read;
  }

  final(): Promise<bigint> {
    return this.#pool.run(async (node) => {
      const block = await node.call(getBlock('finalized'));
      if (block === null) throw new RpcUpstreamError(`${node.name} names no final block`, 'no');
      return block.number;
    });
  }

  timeOf(block: bigint): Promise<number | null> {
    return this.#pool.run(async (node) => {
      const found = await node.call(getBlock(block));
      return found === null ? null : Number(found.timestamp) * 1_000;
    });
  }

  async read(
    wallet: Address,
    { from, to }: BlockRange,
    take: (page: readonly Moved[]) => void,
  ): Promise<ReadonlyMap<TokenAddress, Balances>> {
    for await (const { logs } of this.#pages(wallet, { from, to })) take(this.#movedIn(wallet, logs));
    return this.#balances(wallet, { from, to });
  }

  async readFew(wallet: Address, range: BlockRange, most: number): Promise<Few | null> {
    const moved: Moved[] = [];
    let [pages, through] = [0, range.from - 1n];
    for await (const page of this.#pages(wallet, range, most * LOGS_OF_ONE)) {
      if (page.logs.length > most * LOGS_OF_ONE) return null;
      moved.push(...this.#movedIn(wallet, page.logs));
      if (new Set(moved.map(({ hash }) => hash)).size > most) return null;
      through = page.through;
      pages += 1;
      if (pages === FEW_PAGES) break;
    }
    return { moved, through };
  }

  inTransactions(
    wallet: Address,
    hashes: readonly TransactionHash[],
  ): Promise<ReadonlyMap<TransactionHash, readonly Moved[]>> {
    const ours = new Set(this.#network.tokens.map(({ address }) => address.toLowerCase()));
    const keeps = (address: string, event: string | undefined): boolean => ours.has(address) && event === this.#event;
    return this.#pool.run(async (node) => {
      const receipts = await node.batch(hashes.map((hash) => getReceipt(hash, keeps)));
      return new Map(
        receipts
          .filter((receipt): receipt is Receipt => receipt !== null)
          .map((receipt) => [receipt.transactionHash, this.#movedIn(wallet, receipt.logs)]),
      );
    });
  }

  /**
   * The logs of a wallet's transfers by pages of blocks, each with all that came and went in them.
   * @param most a page ends when it has more logs, and is not whole then
   */
  async *#pages(
    wallet: Address,
    { from, to }: BlockRange,
    most = Infinity,
  ): AsyncGenerator<{ readonly logs: readonly Log[]; readonly through: bigint }> {
    for (let next = from; next <= to;) {
      const came = await this.#logs(wallet, next, to);
      const logs = [...came.logs];
      for (let place = next; place <= came.through && logs.length <= most;) {
        const went = await this.#logs(wallet, place, came.through, true);
        logs.push(...went.logs);
        place = went.through + 1n;
      }
      yield { logs, through: came.through };
      next = came.through + 1n;
    }
  }

  #logs(
    wallet: Address,
    from: bigint,
    to: bigint,
    bySender = false,
  ): Promise<{ readonly logs: readonly Log[]; readonly through: bigint }> {
    const wanted: Wanted = {
      address: this.#network.tokens.map(({ address }) => address),
      events: [this.#event],
      recipients: [wallet],
      bySender,
    };
    return this.#pool.run(async (node) => {
      const { logs, end } = await this.#window.read(node, wanted, from, to, null);
      return { logs, through: end.number };
    });
  }

  #movedIn(wallet: Address, logs: readonly Log[]): readonly Moved[] {
    const transfers = logs.flatMap((log) => {
      const transfer = this.#read(log);
      if (transfer === null || transfer.from === transfer.to) return [];
      return transfer.from === wallet || transfer.to === wallet ? [{ ...transfer, log }] : [];
    });
    const ofTransactions = Map.groupBy(transfers, ({ log }) => `${log.transactionHash} ${log.address}`);
    return [...ofTransactions.values()].flatMap((all): Moved[] => {
      const [first] = all;
      if (first === undefined) return [];
      const incoming = all.filter(({ to }) => to === wallet);
      const senders = [...new Set(incoming.map(({ from }) => from))];
      const sumOf = (some: typeof all): bigint => some.reduce((sum, { amount }) => sum + amount, 0n);
      return [
        {
          hash: first.log.transactionHash,
          block: first.log.blockNumber,
          tokenAddress: first.log.address as string as TokenAddress,
          came: sumOf(incoming),
          went: sumOf(all.filter(({ from }) => from === wallet)),
          from: senders.length === 1 ? (senders[0] ?? null) : null,
        },
      ];
    });
  }

  async #balances(wallet: Address, { from, to }: BlockRange): Promise<ReadonlyMap<TokenAddress, Balances>> {
    const { tokens } = this.#network;
    try {
      const [before, after] = [from === 0n ? [] : await this.#held(wallet, from - 1n), await this.#held(wallet, to)];
      return new Map(
        tokens.map(({ address }, place): [TokenAddress, Balances] => {
          const [had, has] = [before[place] ?? 0n, after[place] ?? 0n];
          if (had instanceof RpcRefusedError || has instanceof RpcRefusedError)
            return [address, { unknown: 'the token refuses to tell them' }];
          return [address, { before: had, after: has }];
        }),
      );
    } catch (error) {
      if (!(error instanceof RpcUnavailableError)) throw error;
      const unknown = `no upstream tells those of that time, as an archive node does: ${error.message}`;
      return new Map(tokens.map(({ address }) => [address, { unknown }]));
    }
  }

  /** In the order of the tokens. */
  #held(wallet: Address, block: bigint): Promise<readonly (bigint | RpcRefusedError)[]> {
    const data = balanceOf(wallet);
    return this.#pool.run(async (node) => {
      const answers = await node.batch(
        this.#network.tokens.map(({ address }) =>
          refusable(callContract({ from: NO_ACCOUNT, to: address, data }, block)),
        ),
      );
      // Nothing: its contract was not there yet.
      return answers.map((answer) =>
        answer instanceof RpcRefusedError ? answer : BigInt(answer === '0x' ? 0 : answer),
      );
    });
  }
}
