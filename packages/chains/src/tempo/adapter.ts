import type { Address, Build, Instant, Lifetime, PaymentTerms, TransactionHash } from '@pf/domain';
import { type RpcNode, type RpcPool, RpcUpstreamError } from '@pf/rpc';
import { boundedCache } from '@pf/runtime';
import { BlockPace } from '../block-pace.ts';
import { EvmAdapter } from '../evm/adapter.ts';
import { getBlock } from '../evm/calls.ts';
import type {
  BroadcastResult,
  BuildRequest,
  BuildResult,
  Expiry,
  Network,
  Parsed,
  SignedTransaction,
  Submitted,
  Verification,
} from '../port.ts';
import { isVirtual, parseTempoAddress } from './address.ts';
import { broadcast } from './broadcast.ts';
import { buildPayment } from './build.ts';
import { getMaster, getTempoTransaction } from './calls.ts';
import { TempoMpp } from './mpp.ts';
import { BYTES_MAX, decodeSigned, fromChain, handedIn, signedTransaction } from './signed-transaction.ts';
import { TempoSponsoring } from './sponsoring.ts';
import { isFresh } from './time.ts';
import { verifyPayment } from './verify.ts';

/** Virtual addresses whose master account is remembered. */
const MASTERS_KEPT = 10_000;

/**
 * Tempo behind the port: transactions of type 0x76 that call transferWithMemo with the intent's reference, and expire.
 */
export class TempoAdapter extends EvmAdapter {
  override readonly sponsors = 'any';
  override readonly sponsoring = new TempoSponsoring();
  protected override readonly bytesMax = BYTES_MAX;
  override readonly mpp = new TempoMpp((text) => this.parseSubmitted(text));
  readonly #now: () => number;
  readonly #pace: BlockPace;
  readonly #masters = boundedCache<Address, Address>(MASTERS_KEPT);

  /** @param now our clock, in ms */
  constructor(network: Network, pool: RpcPool, now: () => number = Date.now) {
    super(network, pool);
    this.#now = now;
    this.#pace = new BlockPace(network.blockMs);
  }

  parseAddress(text: string): Parsed<Address> {
    return parseTempoAddress(this.network, text);
  }

  /** A virtual address forwards what it is paid to its master account, which stays the same once it is registered. */
  async payee(address: Address): Promise<Address | null> {
    if (!isVirtual(address)) return address;
    const known = this.#masters.get(address);
    if (known !== undefined) return known;
    const master = await this.pool.call(getMaster(address));
    if (master !== null) this.#masters.set(address, master);
    return master;
  }

  build(request: BuildRequest): Promise<BuildResult> {
    return this.pool.run((node) => buildPayment(node, this.#now(), request, this.#pace));
  }

  isReusable({ lifetime, transaction }: Build, expiresAt: Instant): Promise<boolean> {
    return this.pool.run(async (node) => {
      const final = await node.call(getBlock('finalized'));
      if (final === null) throw new RpcUpstreamError(`${node.name} has no final block`, 'no');
      if (lifetime.kind !== 'time' || final.timestamp >= lifetime.validBefore) return false;
      // A sponsor may have it signed: new bytes could pay twice.
      const isSponsored = transaction.estimatedFeeUsdc === null;
      return isSponsored || isFresh(lifetime.validBefore, final, this.#now(), expiresAt);
    });
  }

  expiryOf(lifetime: Lifetime): Expiry {
    const expiresAt = lifetime.kind === 'time' ? Number(lifetime.validBefore) * 1_000 : null;
    return { expiresAt, lastValidBlockHeight: null };
  }

  verify(
    transaction: SignedTransaction,
    terms: PaymentTerms,
    fulfiller: Address,
    sent: boolean,
  ): Promise<Verification> {
    return verifyPayment(this.pool, this.network, this.#now(), transaction, terms, fulfiller, sent);
  }

  broadcast(transaction: SignedTransaction): Promise<BroadcastResult> {
    return broadcast(this.pool, transaction);
  }

  protected decode(raw: Uint8Array): Parsed<Submitted> {
    const handed = handedIn(raw);
    if (handed !== null) return { ok: true, value: { kind: 'handed', bytes: handed } };
    const decoded = decodeSigned(raw);
    return decoded.ok ? { ok: true, value: { kind: 'signed', transaction: signedTransaction(raw) } } : decoded;
  }

  protected async read(node: RpcNode, hash: TransactionHash): Promise<SignedTransaction | null> {
    const found = await node.call(getTempoTransaction(hash));
    return found === null ? null : fromChain(hash, found);
  }
}
