import type { PaymentTerms } from '@pf/domain';
import type { RpcProxy, RpcRequest } from '@pf/testing/chains';
import { type Hex, numberToHex, pad, toHex } from 'viem';
import { encodePayment } from '../../src/base/calldata.ts';
import { TRANSFER } from '../../src/base/observe/landings.ts';
import { type At, logAt, type Shown, topic } from './base.ts';
import type { Respond } from './virtual-upstream.ts';

const PAYER: Hex = `0x${'0a'.repeat(20)}`;
const SAFE_DEPTH = 4n;
const GENESIS_AT = 1_700_000_000n;
const NEVER = new Promise<never>(() => undefined);

/** The logs of a block, as eth_getLogs filters them. */
interface Filtered {
  readonly address: string;
  readonly topics: readonly string[];
  readonly blockNumber: Hex;
}

/** A Base chain of which a test says what its node shows: in its blocks is what the test puts there. */
export class ScriptedChain {
  #head = 0n;
  /** What every account has sent; null: nodes do not tell. */
  sent: number | null = null;
  /** From this block on it has been replaced. */
  #replacedFrom: bigint | null = null;
  #transactions = 0;
  readonly #shown = new Map<string, Shown>();
  #logs: Filtered[] = [];

  /** Puts transactions into the next block. */
  mine(...made: readonly ((place: At) => Shown)[]): readonly Hex[] {
    this.#head += 1n;
    return made.map((make) => {
      const hash = toHex((this.#transactions += 1), { size: 32 });
      this.change(hash, make({ hash, block: this.#head, blockHash: this.#hashOf(this.#head) }));
      this.#logs.push(...((this.#shown.get(hash)?.logs ?? []) as Filtered[]));
      return hash;
    });
  }

  /** From now on the node shows this. */
  change(hash: Hex, shown: Shown): void {
    this.#shown.set(hash, shown);
  }

  readonly respond: RpcProxy['respond'] = ({ method, params }: RpcRequest): unknown => {
    const [first] = params;
    const shown = this.#shown.get(String(first));
    const of = (part: unknown): unknown => (shown === undefined ? null : part === undefined ? NEVER : part);
    switch (method) {
      case 'eth_chainId':
        return '0x14a34';
      case 'eth_blockNumber':
        return numberToHex(this.#head);
      case 'eth_getBlockByNumber':
        return this.#block(String(first));
      case 'eth_getLogs':
        return this.#filtered(first as LogFilter);
      case 'eth_getTransactionByHash':
        return of(shown?.transaction);
      case 'eth_getTransactionReceipt':
        return of(shown?.receipt);
      case 'debug_traceTransaction':
        return of(shown?.trace);
      case 'eth_getTransactionCount':
        return this.sent === null ? new Error('no state here') : numberToHex(this.sent);
      default:
        return new Error(`no ${method} here`);
    }
  };

  /** From this block on the chain is another one, without the transactions that were there. */
  reorganize(from: bigint): void {
    this.#replacedFrom = from;
    this.#logs = this.#logs.filter(({ blockNumber }) => BigInt(blockNumber) < from);
    for (const [hash, { logs }] of this.#shown)
      if ((logs as Filtered[]).some(({ blockNumber }) => BigInt(blockNumber) >= from))
        this.change(hash as Hex, { logs: [], transaction: null, receipt: null, trace: null });
  }

  #hashOf(block: bigint): Hex {
    const isReplaced = this.#replacedFrom !== null && block >= this.#replacedFrom;
    return pad(numberToHex((block < 0n ? 0n : block + 0xb10cn) + (isReplaced ? 2n ** 64n : 0n)), { size: 32 });
  }

  #block(tag: string): object | null {
    const back = { latest: 0n, safe: SAFE_DEPTH, finalized: 2n * SAFE_DEPTH }[tag];
    const asked = back === undefined ? BigInt(tag) : this.#head - back;
    const number = back !== undefined && asked < 0n ? 0n : asked;
    if (number > this.#head) return null;
    return {
      number: numberToHex(number),
      hash: this.#hashOf(number),
      parentHash: this.#hashOf(number - 1n),
      timestamp: numberToHex(GENESIS_AT + number),
    };
  }

  #filtered({ fromBlock, toBlock, address, topics: [events, , recipients] }: LogFilter): readonly Filtered[] {
    return this.#logs.filter(
      (log) =>
        BigInt(log.blockNumber) >= BigInt(fromBlock) &&
        BigInt(log.blockNumber) <= BigInt(toBlock) &&
        address.some((one) => one.toLowerCase() === log.address.toLowerCase()) &&
        events.includes(log.topics[0] ?? '') &&
        (recipients === undefined || recipients.includes(log.topics[2] ?? '')),
    );
  }
}

interface LogFilter {
  readonly fromBlock: string;
  readonly toBlock: string;
  readonly address: readonly string[];
  readonly topics: readonly [readonly string[], null?, (readonly string[])?];
}

/** The payment that a wallet makes by calling the token itself. */
export const honest =
  ({ tokenAddress, requestor, amount, reference }: PaymentTerms) =>
  (at: At): Shown => {
    const { hash, block, blockHash } = at;
    const input = encodePayment(requestor, amount, reference);
    const topics = [TRANSFER, topic(PAYER), topic(requestor)];
    const log = logAt(at, 0, tokenAddress, topics, toHex(amount, { size: 32 }));
    const base = { from: PAYER, to: tokenAddress };
    return {
      logs: [log],
      transaction: { ...base, hash, type: '0x2', nonce: '0x1', gas: '0xffff', value: '0x0', input, blockHash },
      receipt: {
        ...base,
        transactionHash: hash,
        status: '0x1',
        blockNumber: numberToHex(block),
        blockHash,
        logs: [log],
      },
      trace: new Error('not needed'),
    };
  };

/** A smart account's payment, which its trace proves. */
export const nested =
  ({ tokenAddress, requestor, amount, reference }: PaymentTerms, account: number) =>
  (at: At): Shown => {
    const wallet = toHex(0x5afe_0000 + account, { size: 20 });
    const { hash, block, blockHash } = at;
    const logs = [
      logAt(at, account, tokenAddress, [TRANSFER, topic(wallet), topic(requestor)], toHex(amount, { size: 32 })),
    ];
    const payment = encodePayment(requestor, amount, reference);
    const input = `0x6a761202${payment.slice(2)}`;
    const sent = { from: PAYER, to: wallet };
    const calls = [{ type: 'CALL', from: wallet, to: tokenAddress, input: payment, logs }];
    return {
      logs,
      transaction: { ...sent, hash, type: '0x2', nonce: '0x1', gas: '0x30d40', value: '0x0', input, blockHash },
      receipt: { ...sent, transactionHash: hash, status: '0x1', blockNumber: numberToHex(block), blockHash, logs },
      trace: { type: 'CALL', ...sent, input: '0x6a761202', calls },
    };
  };

/** What such a chain's nodes say, in virtual time. */
export const respondOf =
  (chain: ScriptedChain): Respond =>
  (method, params) =>
    chain.respond({ method, params } as RpcRequest);
