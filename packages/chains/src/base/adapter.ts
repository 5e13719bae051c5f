import type { Address, Build, PaymentTerms, TransactionHash } from '@pf/domain';
import { RpcBehindError, type RpcNode, type RpcPool } from '@pf/rpc';
import { Transaction } from 'ethers/transaction';
import { EvmAdapter } from '../evm/adapter.ts';
import { getBlock, getReceipt, getTransaction, getTransactionCount, type Receipt } from '../evm/calls.ts';
import { outlivesSigning } from '../evm/fees.ts';
import type {
  Authorizations,
  BroadcastResult,
  BuildRequest,
  BuildResult,
  Expiry,
  Network,
  Parsed,
  Paymasters,
  SignedTransaction,
  Submitted,
  Verification,
} from '../port.ts';
import { PacedHead } from '../newest-head.ts';
import { parseBaseAddress } from './address.ts';
import { buildAuthorization } from './authorization/build.ts';
import { verifyAuthorization } from './authorization/verify.ts';
import { broadcast } from './broadcast.ts';
import { buildPayment } from './build.ts';
import { whyNotLandable } from './landable.ts';
import { paymastersOf } from './paymasters.ts';
import {
  decodeSigned,
  fromChain,
  signedTransaction,
  type Signer,
  signerOf,
  SUBMITTED_BYTES_MAX,
} from './signed-transaction.ts';
import { keptLogsOf } from './nested/kept-logs.ts';
import { judgeOperation } from './sponsored-operation.ts';
import { findUnnamed, isUnnamed } from './unnamed-payment.ts';
import { isNested, verifyNested } from './verify-nested.ts';
import { verifyPayment } from './verify.ts';

/** Base behind the port: EIP-1559 transfers with the intent's reference at the end of the calldata. */
export class BaseAdapter extends EvmAdapter {
  override readonly authorizations: Authorizations;
  override readonly paymasters: Paymasters;
  protected override readonly bytesMax = SUBMITTED_BYTES_MAX;
  readonly #signer: Signer;
  readonly #blocks: PacedHead;

  constructor(network: Network, pool: RpcPool, signer: Signer = signerOf) {
    super(network, pool);
    this.#blocks = new PacedHead(network.blockMs);
    this.authorizations = {
      build: (request) => pool.run((node) => buildAuthorization(node, request, this.#blocks)),
      verify: (signed, terms, fulfiller, expiresAt) =>
        pool.run((node) => verifyAuthorization(node, signed, terms, fulfiller, expiresAt, this.#blocks)),
    };
    this.paymasters = paymastersOf(network, (operation, terms) =>
      this.firstOf((node) => judgeOperation(node, operation, terms, this.#blocks)),
    );
    this.#signer = signer;
  }

  parseAddress(text: string): Parsed<Address> {
    return parseBaseAddress(this.network, text);
  }

  build(request: BuildRequest): Promise<BuildResult> {
    return this.pool.run((node) => buildPayment(node, request, this.#blocks));
  }

  /** It lives until its nonce is used, and is reused as long, unless the fees are about to outgrow it. */
  async isReusable({ fulfiller, transaction: { blob } }: Build): Promise<boolean> {
    const { nonce, maxFeePerGas } = Transaction.from(`0x${Buffer.from(blob, 'base64').toString('hex')}`);
    const [latestCount, pendingCount, block] = await this.pool.batch([
      getTransactionCount(fulfiller, 'latest'),
      getTransactionCount(fulfiller, 'pending'),
      getBlock('latest'),
    ]);
    const [maxFee, baseFee] = [maxFeePerGas ?? 0n, block?.baseFeePerGas ?? 0n];
    return (
      outlivesSigning(maxFee, baseFee) &&
      whyNotLandable(BigInt(nonce), maxFee, { latestCount, pendingCount, baseFee }) === null
    );
  }

  expiryOf(): Expiry {
    return { expiresAt: null, lastValidBlockHeight: null };
  }

  verify(
    transaction: SignedTransaction,
    terms: PaymentTerms,
    fulfiller: Address,
    sent: boolean,
  ): Promise<Verification> {
    return sent
      ? this.#verifySent(transaction, terms, fulfiller)
      : verifyPayment(this.pool, transaction, terms, fulfiller, sent, this.#signer, this.#blocks);
  }

  async #verifySent(transaction: SignedTransaction, terms: PaymentTerms, fulfiller: Address): Promise<Verification> {
    const { hash } = transaction;
    if (isNested(this.network, transaction))
      return verifyNested(this.pool, this.network, transaction, await this.#receiptSeen(hash), terms, fulfiller);
    const verification = await verifyPayment(
      this.pool,
      transaction,
      terms,
      fulfiller,
      true,
      this.#signer,
      this.#blocks,
    );
    if (verification.kind !== 'mismatch') return verification;
    const receipt = await this.firstOf((node) => node.call(getReceipt(hash, keptLogsOf(this.network))));
    const unnamed = await findUnnamed(this.pool, this.network, transaction, receipt, terms, fulfiller);
    return unnamed === null ? verification : { ...verification, unnamed };
  }

  /** The receipt of a nested payment. A node had it when the transaction was read, so one without it lags. */
  #receiptSeen(hash: TransactionHash): Promise<Receipt> {
    return this.pool.run(async (node) => {
      const receipt = await node.call(getReceipt(hash, keptLogsOf(this.network)));
      if (receipt === null) throw new RpcBehindError(`${node.name} lags: another node had the receipt of ${hash}`);
      return receipt;
    });
  }

  broadcast(transaction: SignedTransaction): Promise<BroadcastResult> {
    return broadcast(this.pool, transaction);
  }

  protected decode(raw: Uint8Array): Parsed<Submitted> {
    const decoded = decodeSigned(raw);
    return decoded.ok
      ? { ok: true, value: { kind: 'signed', transaction: signedTransaction(raw, decoded.value) } }
      : decoded;
  }

  protected async read(node: RpcNode, hash: TransactionHash): Promise<SignedTransaction | null> {
    const found = await node.call(getTransaction(hash));
    const transaction = found === null ? null : fromChain(hash, found);
    if (transaction === null || !(isNested(this.network, transaction) || isUnnamed(transaction))) return transaction;
    // What it pays can be seen only once it is in a block. A payment without a reference is told of then.
    return (await node.call(getReceipt(hash, keptLogsOf(this.network)))) === null ? null : transaction;
  }
}
