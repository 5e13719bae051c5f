import { TRANSFER } from '@pf/chains/base';
import type { Address, TokenAddress, TransactionHash } from '@pf/domain';
import { type JsonRpcRequest, type JsonRpcResponse, limitOf, RpcUpstreamError, type RpcTransport } from '@pf/rpc';
import { getAddress } from 'ethers/address';
import { ChainRefusal, type Inclusion, type SimulatedChain } from './chain.ts';
import type { ChainKernel } from './kernel.ts';
import { callOf, type Payment, type SimulatedTransaction } from './transaction.ts';

/** How a node misbehaves now. */
export interface NodeFaults {
  /** It shows the chain as it was this long ago. */
  readonly lagMs: number;
  /** A response waits this long on its way. */
  readonly slowMs: number;
  /** The part of requests that fail, half of them after they have had their effect. */
  readonly fails: number;
  /** The part of transactions whose logs and receipts it leaves out, always the same ones. */
  readonly omits: number;
  /** The part of broadcasts that it refuses, because its pool is full at that moment. */
  readonly refuses: number;
}

export const HONEST: NodeFaults = { lagMs: 0, slowMs: 0, fails: 0, omits: 0, refuses: 0 };

/**
 * What a node does when it is asked for one transaction: it fails, returns what is none, says that it has none, or does
 * not respond; or it only has no trace of it.
 */
export type Unreadable = 'fails' | 'malformed' | 'absent' | 'hangs' | 'traceless';

const quantity = (value: number | bigint): string => `0x${value.toString(16)}`;
const word = (value: bigint | string): string =>
  `0x${(typeof value === 'string' ? value.slice(2).toLowerCase() : value.toString(16)).padStart(64, '0')}`;

/** Selectors of the contract calls that the service makes. */
const BALANCE_OF = '0x70a08231';
const TRANSFER_CALL = '0xa9059cbb';

interface Filter {
  readonly fromBlock: string;
  readonly toBlock: string;
  readonly address: readonly string[];
  readonly topics: readonly (string | readonly string[] | null)[];
}

/** One upstream of a simulated chain: what it answers over JSON-RPC, which is not always the truth. */
export class SimulatedNode {
  readonly name: string;
  faults = HONEST;
  readonly #kernel: ChainKernel;
  readonly #chain: SimulatedChain;
  readonly #unreadable = new Map<TransactionHash, Unreadable>();
  readonly #invented: Inclusion[] = [];

  constructor(name: string, kernel: ChainKernel, chain: SimulatedChain) {
    this.name = name;
    this.#kernel = kernel;
    this.#chain = chain;
  }

  /** What it does from now on when it is asked for this transaction; null: it responds again. */
  setUnreadable(hash: TransactionHash, how: Unreadable | null): void {
    if (how === null) this.#unreadable.delete(hash);
    else this.#unreadable.set(hash, how);
  }

  /** Shows a transaction that no other node has, in its next block and for good. */
  invent(transaction: SimulatedTransaction): void {
    const at = this.#kernel.now();
    const block = this.#chain.height(at) + 1;
    this.#invented.push({
      transaction,
      block,
      index: 1_000,
      firstLog: 1_000,
      succeeded: true,
      transfers: transaction.payments,
      from: at + this.#chain.options.blockMs,
      until: Number.POSITIVE_INFINITY,
    });
  }

  /** The transport to this node from the process that opens it. */
  transport(timeoutMs: number): RpcTransport {
    return {
      name: this.name,
      request: async (request) => first(await this.#send([request], timeoutMs)),
      batch: (requests) => this.#send(requests, timeoutMs),
    };
  }

  async #send(requests: readonly JsonRpcRequest[], limitMs: number): Promise<readonly JsonRpcResponse[]> {
    const timeoutMs = limitOf(requests, limitMs);
    const timeout = (): RpcUpstreamError =>
      new RpcUpstreamError(`${this.name} is unreachable (TimeoutError)`, 'maybe', undefined, 'timeout');
    const { random } = this.#kernel;
    const { fails, slowMs } = this.faults;
    const fail = random.chance(fails);
    const afterwards = fail && random.chance(0.5);
    const responses = await this.#kernel.call(
      this.name,
      () => (fail && !afterwards ? [] : requests.map((request, id) => this.#respond(request, id))),
      timeout,
      { what: () => requests.map(({ method }) => method).join(', '), timeoutMs },
    );
    const hangs = requests.some(({ params }) => this.#unreadable.get(params[0] as TransactionHash) === 'hangs');
    if (hangs) await this.#kernel.sleep(timeoutMs);
    if (hangs) throw timeout();
    if (slowMs > 0) await this.#kernel.sleep(Math.min(slowMs, timeoutMs));
    if (slowMs >= timeoutMs) throw timeout();
    if (fail) throw new RpcUpstreamError(`${this.name} responded with HTTP 502`, 'maybe', undefined, 'http');
    return responses;
  }

  #respond({ method, params }: JsonRpcRequest, id: number): JsonRpcResponse {
    switch (this.#unreadable.get(params[0] as TransactionHash)) {
      case 'fails':
        return { id, error: { code: -32_603, message: 'internal error' } };
      case 'malformed':
        return { id, result: { hash: params[0], logs: [{}] } };
      case 'absent':
        return { id, result: null };
      case 'hangs':
      case 'traceless':
      case undefined:
        break;
    }
    try {
      return { id, result: this.#answer(method, params) };
    } catch (error) {
      if (!(error instanceof ChainRefusal)) throw error;
      return { id, error: { code: error.code, message: error.message } };
    }
  }

  #answer(method: string, params: readonly unknown[]): unknown {
    const chain = this.#chain;
    const at = this.#kernel.now() - this.faults.lagMs;
    switch (method) {
      case 'eth_chainId':
        return quantity(Number(chain.options.chain.slice('eip155:'.length)));
      case 'eth_blockNumber':
        return quantity(chain.height(at));
      case 'eth_getBlockByNumber':
        return this.#block(String(params[0]), at);
      case 'eth_getLogs':
        return this.#logs(params[0] as Filter, at);
      case 'eth_getTransactionReceipt': {
        const inclusion = this.#visible(String(params[0]), at);
        return inclusion === null ? null : this.#receipt(inclusion, at);
      }
      case 'debug_traceTransaction': {
        const hash = String(params[0]) as TransactionHash;
        const inclusion = this.#visible(hash, at);
        if (inclusion === null || this.#unreadable.get(hash) === 'traceless')
          throw new ChainRefusal('required historical state unavailable');
        return trace(inclusion);
      }
      case 'eth_getTransactionByHash':
        return this.#transaction(String(params[0]) as TransactionHash, at);
      case 'eth_getTransactionCount': {
        const account = getAddress(String(params[0])) as Address;
        return quantity(
          params[1] === 'pending'
            ? chain.pendingCount(account, at)
            : chain.transactionCount(account, this.#number(String(params[1]), at), at),
        );
      }
      case 'eth_sendRawTransaction':
        if (this.#kernel.random.chance(this.faults.refuses)) throw new ChainRefusal('txpool is full');
        return chain.submit(String(params[0]));
      // What builds and checks payments: accounts with enough ether, tokens that block none.
      case 'eth_getBalance':
        return quantity(10n ** 20n);
      case 'eth_getCode':
        return '0x';
      case 'eth_feeHistory':
        return {
          oldestBlock: quantity(chain.height(at)),
          baseFeePerGas: [quantity(1_000_000), quantity(1_000_000)],
          reward: [],
        };
      case 'eth_estimateGas':
        this.#execute(params[0] as { from: string; to: string; data: string });
        return quantity(60_000);
      case 'eth_call':
        return this.#execute(params[0] as { from: string; to: string; data: string });
      default:
        throw new ChainRefusal(`the method ${method} does not exist`, -32_601);
    }
  }

  #number(tag: string, at: number): number {
    const { safeMs, finalMs } = this.#chain.options;
    if (tag === 'latest' || tag === 'pending') return this.#chain.height(at);
    if (tag === 'safe') return this.#chain.height(at - safeMs);
    if (tag === 'finalized') return this.#chain.height(at - finalMs);
    return Number(tag);
  }

  #block(tag: string, at: number): unknown {
    const number = this.#number(tag, at);
    if (number > this.#chain.height(at)) return null;
    return {
      number: quantity(number),
      hash: this.#chain.blockHash(number, at),
      parentHash: this.#chain.blockHash(Math.max(0, number - 1), at),
      timestamp: quantity(this.#chain.timestampOf(number)),
      baseFeePerGas: quantity(1_000_000),
    };
  }

  /** Whether this node hides the transaction: always the same ones, or a second request would tell. */
  #omits(hash: TransactionHash): boolean {
    let sum = this.name.length;
    for (const character of `${this.name}${hash.slice(2, 18)}`) sum = (sum * 31 + character.charCodeAt(0)) % 1_000_003;
    return sum % 1_000 < this.faults.omits * 1_000;
  }

  #visible(hash: string, at: number): Inclusion | null {
    const inclusion =
      this.#chain.inclusionOf(hash as TransactionHash, at) ??
      this.#invented.find((one) => one.transaction.hash === hash && one.from <= at) ??
      null;
    return inclusion === null || this.#omits(inclusion.transaction.hash) ? null : inclusion;
  }

  #transaction(hash: TransactionHash, at: number): unknown {
    const inclusion = this.#visible(hash, at);
    if (inclusion === null) {
      const waiting = this.#chain.waiting(hash);
      return waiting === null ? null : shown(waiting, null);
    }
    return shown(inclusion.transaction, this.#chain.blockHash(inclusion.block, at));
  }

  #logs({ fromBlock, toBlock, address, topics: [, , recipients] }: Filter, at: number): unknown[] {
    const [from, to] = [Number(fromBlock), Number(toBlock)];
    return [...this.#chain.included(at), ...this.#invented.filter((one) => one.from <= at)]
      .filter(({ block, transaction: { hash } }) => block >= from && block <= to && !this.#omits(hash))
      .flatMap((inclusion) =>
        inclusion.transfers.flatMap((moved, place) =>
          address.includes(moved.token) && (recipients?.includes(word(moved.to)) ?? true)
            ? [this.#log(inclusion, moved, place, at)]
            : [],
        ),
      );
  }

  #log({ transaction: { hash }, block, firstLog }: Inclusion, moved: Payment, place: number, at: number): object {
    return {
      ...logged(moved),
      blockNumber: quantity(block),
      blockHash: this.#chain.blockHash(block, at),
      transactionHash: hash,
      logIndex: quantity(firstLog + place),
      removed: false,
    };
  }

  #receipt(inclusion: Inclusion, at: number): unknown {
    const { transaction, block, succeeded } = inclusion;
    return {
      transactionHash: transaction.hash,
      status: succeeded ? '0x1' : '0x0',
      blockNumber: quantity(block),
      blockHash: this.#chain.blockHash(block, at),
      from: transaction.sender,
      to: transaction.decoded.to,
      logs: inclusion.transfers.map((moved, place) => this.#log(inclusion, moved, place, at)),
    };
  }

  /** Reads a balance, or tries a transfer. Every other contract is absent. */
  #execute({ from, to, data }: { readonly from: string; readonly to: string; readonly data: string }): string {
    const token = to as TokenAddress;
    if (data.startsWith(BALANCE_OF))
      return word(this.#chain.balanceOf(token, getAddress(`0x${data.slice(34)}`) as Address));
    if (data.startsWith(TRANSFER_CALL)) {
      const amount = BigInt(`0x${data.slice(74, 138)}`);
      if (this.#chain.balanceOf(token, from as Address) < amount)
        throw new ChainRefusal('execution reverted: transfer amount exceeds balance', 3);
      return word(1n);
    }
    return '0x';
  }
}

const first = ([response]: readonly JsonRpcResponse[]): JsonRpcResponse => response ?? { id: 0 };

const logged = ({ token, from, to, amount }: Payment): object => ({
  address: token,
  topics: [TRANSFER, word(from), word(to)],
  data: word(amount),
});

/** The calls of a transaction that succeeded, as Geth's callTracer shows them. */
function trace({ transaction: { sender, payments, decoded }, transfers }: Inclusion): unknown {
  const calls = payments.map((payment, place) => ({
    type: 'CALL',
    from: payment.from,
    to: payment.token,
    input: callOf(payment),
    logs: transfers.slice(place, place + 1).map((moved) => ({ ...logged(moved), position: '0x0' })),
  }));
  const [call] = calls;
  if (decoded.to === call?.to) return call;
  return { type: 'CALL', from: sender, to: decoded.to, input: decoded.data, calls };
}

/** A transaction as nodes show it. */
function shown({ hash, sender, decoded }: SimulatedTransaction, blockHash: string | null): unknown {
  return {
    hash,
    type: '0x2',
    chainId: quantity(decoded.chainId),
    from: sender,
    to: decoded.to,
    nonce: quantity(decoded.nonce),
    gas: quantity(decoded.gasLimit),
    maxFeePerGas: quantity(decoded.maxFeePerGas ?? 0n),
    maxPriorityFeePerGas: quantity(decoded.maxPriorityFeePerGas ?? 0n),
    value: '0x0',
    input: decoded.data,
    accessList: [],
    r: decoded.signature?.r,
    s: decoded.signature?.s,
    yParity: '0x0',
    blockHash,
  };
}
