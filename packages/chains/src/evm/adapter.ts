import { randomBytes } from 'node:crypto';
import type { Address, Build, Instant, Lifetime, PaymentTerms, Reference, TransactionHash } from '@pf/domain';
import type { RpcNode, RpcPool, RpcUpstreamError } from '@pf/rpc';
import { getAddress } from 'ethers/address';
import type {
  Authorizations,
  BroadcastResult,
  BuildRequest,
  BuildResult,
  ChainAdapter,
  Expiry,
  MppMethod,
  Network,
  Parsed,
  Paymasters,
  SignedTransaction,
  Sponsoring,
  Sponsors,
  Submitted,
  Token,
  Verification,
} from '../port.ts';
import { resolveToken } from '../resolve.ts';
import { parseEvmHash } from './address.ts';
import { getChainId } from './calls.ts';
import { refundProblem } from './payer.ts';

const HEX = /^0x(?:[0-9a-f]{2})+$/i;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const randomHex = (bytes: number): string => `0x${randomBytes(bytes).toString('hex')}`;

/** The bytes of a transaction; null for a text that is neither base64 nor 0x hex. */
function bytesIn(text: string): Uint8Array | null {
  if (HEX.test(text)) return Buffer.from(text.slice(2), 'hex');
  return BASE64.test(text) ? Buffer.from(text, 'base64') : null;
}

/** What all EVM chains have in common behind the port: references, hashes, and how a signed transaction comes in. */
export abstract class EvmAdapter implements ChainAdapter {
  readonly network: Network;
  readonly mpp: MppMethod | null = null;
  readonly authorizations: Authorizations | null = null;
  readonly sponsors: Sponsors = 'none';
  readonly sponsoring: Sponsoring | null = null;
  readonly paymasters: Paymasters | null = null;
  protected readonly pool: RpcPool;

  constructor(network: Network, pool: RpcPool) {
    this.network = network;
    this.pool = pool;
  }

  abstract parseAddress(text: string): Parsed<Address>;
  abstract build(request: BuildRequest): Promise<BuildResult>;
  abstract isReusable(build: Build, expiresAt: Instant): Promise<boolean>;
  abstract expiryOf(lifetime: Lifetime): Expiry;
  abstract verify(
    transaction: SignedTransaction,
    terms: PaymentTerms,
    fulfiller: Address,
    sent: boolean,
  ): Promise<Verification>;
  abstract broadcast(transaction: SignedTransaction): Promise<BroadcastResult>;
  /** The most bytes of a transaction that is submitted. */
  protected abstract readonly bytesMax: number;
  /** Decodes the raw bytes of a signed transaction. Never throws. */
  protected abstract decode(raw: Uint8Array): Parsed<Submitted>;
  /** The transaction as this node shows it; null where it shows none that makes this hash. */
  protected abstract read(node: RpcNode, hash: TransactionHash): Promise<SignedTransaction | null>;

  newReference(): Reference {
    return randomHex(32) as Reference;
  }

  refundProblem(payer: Address): Promise<string | null> {
    return this.pool.run((node) => refundProblem(node, payer));
  }

  parseHash(text: string): Parsed<TransactionHash> {
    return parseEvmHash(text);
  }

  token(text: string): Token | null {
    return resolveToken(this.network, text);
  }

  parseSubmitted(text: string): Parsed<Submitted> {
    const hash = parseEvmHash(text);
    if (hash.ok) return { ok: true, value: { kind: 'sent', hash: hash.value } };
    // Its length first: even to find out what it is takes time.
    const raw = text.length > 2 + 2 * this.bytesMax ? undefined : bytesIn(text);
    if (raw === null)
      return { ok: false, problem: 'must be a signed transaction in base64 or 0x hex, or a transaction hash' };
    if (raw === undefined || raw.length > this.bytesMax)
      return { ok: false, problem: `is longer than ${this.bytesMax} bytes` };
    return this.decode(raw);
  }

  fetchSent(hash: TransactionHash, look?: number): Promise<SignedTransaction | null> {
    const read = (node: RpcNode) => this.read(node, hash);
    return look === undefined ? this.firstOf(read) : this.pool.inTurn(look, read);
  }

  /** What one upstream after the other is asked for until one has it; null where none of those that respond has. */
  protected async firstOf<T>(work: (node: RpcNode) => Promise<T | null>): Promise<T | null> {
    let answered = false;
    let lastError: RpcUpstreamError | undefined;
    for await (const attempt of this.pool.attempts(work)) {
      if (attempt.kind === 'failed') {
        lastError = attempt.error;
        continue;
      }
      answered = true;
      if (attempt.value !== null) return attempt.value;
    }
    if (!answered) throw this.pool.unavailable(lastError);
    return null;
  }

  synthetic(): { readonly hash: TransactionHash; readonly address: Address } {
    return { hash: randomHex(32) as TransactionHash, address: getAddress(randomHex(20)) as Address };
  }

  ready(timeoutMs: number): Promise<boolean> {
    return this.pool.ready(getChainId(), timeoutMs);
  }
}
