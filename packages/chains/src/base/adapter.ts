import { randomBytes } from 'node:crypto';
import type { Address, Build, PaymentTerms, Reference, TransactionHash } from '@pf/domain';
import { Transaction, getAddress } from 'ethers';
import { parseEvmHash, parseWalletAddress } from '../evm/address.ts';
import { getBlock, getChainId, getTransaction, getTransactionCount } from '../evm/calls.ts';
import type { BroadcastResult, BuildRequest, BuildResult, ChainAdapter, Network, Parsed, SignedTransaction, Submitted, Token, Verification } from '../port.ts';
import { resolveToken } from '../resolve.ts';
import type { RpcUnreachedError } from '../rpc/errors.ts';
import type { RpcPool } from '../rpc/pool.ts';
import { broadcast } from './broadcast.ts';
import { buildPayment } from './build.ts';
import { whyNotLandable } from './landable.ts';
import { decodeSigned, fromChain, signedTransaction } from './signed-transaction.ts';
import { verifyPayment } from './verify.ts';

const HEX = /^0x(?:[0-9a-f]{2})+$/i;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const randomHex = (bytes: number): string => `0x${randomBytes(bytes).toString('hex')}`;

/** Base behind the port: EIP-1559 transfers with the intent's reference at the end of the calldata. */
export class BaseAdapter implements ChainAdapter {
  readonly network: Network;
  readonly #pool: RpcPool;

  constructor(network: Network, pool: RpcPool) {
    this.network = network;
    this.#pool = pool;
  }

  newReference(): Reference {
    return randomHex(32) as Reference;
  }

  parseAddress(text: string): Parsed<Address> {
    return parseWalletAddress(this.network, text);
  }

  parseHash(text: string): Parsed<TransactionHash> {
    return parseEvmHash(text);
  }

  token(text: string): Token | null {
    return resolveToken(this.network, text);
  }

  build(request: BuildRequest): Promise<BuildResult> {
    return this.#pool.run((node) => buildPayment(node, request));
  }

  async canLand({ fulfiller, transaction: { blob } }: Build): Promise<boolean> {
    const { nonce, maxFeePerGas } = Transaction.from(`0x${Buffer.from(blob, 'base64').toString('hex')}`);
    const [latestCount, pendingCount, block] = await this.#pool.batch([
      getTransactionCount(fulfiller, 'latest'),
      getTransactionCount(fulfiller, 'pending'),
      getBlock('latest'),
    ]);
    return whyNotLandable(BigInt(nonce), maxFeePerGas ?? 0n, { latestCount, pendingCount, baseFee: block?.baseFeePerGas ?? 0n }) === null;
  }

  parseSubmitted(text: string): Parsed<Submitted> {
    const hash = parseEvmHash(text);
    if (hash.ok) return { ok: true, value: { kind: 'sent', hash: hash.value } };
    if (!HEX.test(text) && !BASE64.test(text)) return { ok: false, problem: 'must be a signed transaction in base64 or 0x hex, or the hash of one' };
    const raw = HEX.test(text) ? Buffer.from(text.slice(2), 'hex') : Buffer.from(text, 'base64');
    const decoded = decodeSigned(raw);
    if (!decoded.ok) return decoded;
    return { ok: true, value: { kind: 'signed', transaction: signedTransaction(raw, decoded.value) } };
  }

  async fetchSent(hash: TransactionHash): Promise<SignedTransaction | null> {
    let answered = false;
    let unreached: RpcUnreachedError | undefined;
    for await (const attempt of this.#pool.attempts((node) => node.call(getTransaction(hash)))) {
      if (attempt.kind === 'unreached') {
        unreached = attempt.error;
        continue;
      }
      answered = true;
      const transaction = attempt.value === null ? null : fromChain(hash, attempt.value);
      if (transaction !== null) return transaction;
    }
    if (!answered) throw this.#pool.unavailable(unreached);
    return null;
  }

  verify(transaction: SignedTransaction, terms: PaymentTerms, fulfiller: Address, sent: boolean): Promise<Verification> {
    return verifyPayment(this.#pool, transaction, terms, fulfiller, sent);
  }

  broadcast(transaction: SignedTransaction): Promise<BroadcastResult> {
    return broadcast(this.#pool, transaction);
  }

  synthetic(): { readonly hash: TransactionHash; readonly address: Address } {
    return { hash: randomHex(32) as TransactionHash, address: getAddress(randomHex(20)) as Address };
  }

  ready(timeoutMs: number): Promise<boolean> {
    return this.#pool.ready(getChainId(), timeoutMs);
  }
}
