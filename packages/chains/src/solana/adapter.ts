import type { Address, Build, Lifetime, PaymentTerms, Reference, TransactionHash } from '@pf/domain';
import { refusable, type RpcNode, type RpcPool, RpcRefusedError, type RpcUpstreamError } from '@pf/rpc';
import type {
  BroadcastResult,
  BuildRequest,
  BuildResult,
  ChainAdapter,
  Expiry,
  Network,
  Parsed,
  SignedTransaction,
  Submitted,
  Token,
  Verification,
} from '../port.ts';
import { BlockPace } from '../block-pace.ts';
import { NewestHead } from '../newest-head.ts';
import { resolveToken } from '../resolve.ts';
import {
  isProgramsWallet,
  parseSignature,
  parseWalletAddress,
  randomAddress,
  randomReference,
  randomSignature,
} from './address.ts';
import { broadcast } from './broadcast.ts';
import { buildPayment, type Heads, isReusable } from './build.ts';
import { getBlockHeight, getTransactionBytes } from './calls.ts';
import { SolanaMpp } from './mpp.ts';
import { decodeSigned, signedTransaction } from './signed-transaction.ts';
import { handedIn, SolanaSponsoring } from './sponsoring.ts';
import { verifyPayment } from './verify.ts';

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The size of a packet: nodes accept no larger transaction of version 0. To decode one takes 2 ms at most. */
const BYTES_MAX = 1_232;
const TEXT_MAX = 4 * Math.ceil(BYTES_MAX / 3);
/** No blockhash lives so long: where a node says so, nothing is known. */
const LIFE_MAX_MS = 3_600_000;

/** The bytes of a transaction, signed or not. */
function parseBytes(text: string): Parsed<Uint8Array> {
  // Its length first: even to find out what it is takes time.
  if (text.length > TEXT_MAX) return { ok: false, problem: `is longer than ${BYTES_MAX} bytes` };
  if (!BASE64.test(text))
    return { ok: false, problem: 'must be a signed transaction in base64, or a transaction signature' };
  const raw = Buffer.from(text, 'base64');
  return raw.length > BYTES_MAX
    ? { ok: false, problem: `is longer than ${BYTES_MAX} bytes` }
    : { ok: true, value: raw };
}

/**
 * Solana behind the port: token transfers with the intent's reference as an account of the instruction (Solana Pay).
 */
export class SolanaAdapter implements ChainAdapter {
  readonly network: Network;
  readonly mpp: SolanaMpp;
  readonly authorizations = null;
  readonly paymasters = null;
  readonly sponsors = 'named';
  readonly sponsoring = new SolanaSponsoring();
  readonly #pool: RpcPool;
  readonly #heads: Heads;

  constructor(network: Network, pool: RpcPool) {
    this.network = network;
    this.mpp = new SolanaMpp(network, (text) => this.parseSubmitted(text));
    this.#pool = pool;
    this.#heads = { slots: new NewestHead(), pace: new BlockPace(network.blockMs) };
  }

  newReference(): Reference {
    return randomReference();
  }

  parseAddress(text: string): Parsed<Address> {
    return parseWalletAddress(this.network, text);
  }

  refundProblem(payer: Address): Promise<string | null> {
    return Promise.resolve(
      isProgramsWallet(payer) ? 'is a wallet of a program: a multisig, a vault or a bridge' : null,
    );
  }

  parseHash(text: string): Parsed<TransactionHash> {
    return parseSignature(text);
  }

  token(text: string): Token | null {
    return resolveToken(this.network, text);
  }

  build(request: BuildRequest): Promise<BuildResult> {
    return this.#pool.run((node) => buildPayment(node, request, this.#heads));
  }

  isReusable({ lifetime, transaction }: Build): Promise<boolean> {
    const lastValid = this.#lastValidOf(lifetime);
    return this.#pool.run((node) => isReusable(node, transaction, lastValid, this.#heads));
  }

  expiryOf(lifetime: Lifetime): Expiry {
    const lastValidBlockHeight = this.#lastValidOf(lifetime);
    const leftMs = this.#heads.pace.msUntil(lastValidBlockHeight);
    const isKnown = leftMs !== null && Math.abs(leftMs) <= LIFE_MAX_MS;
    const expiresAt = isKnown ? Date.now() + Math.round(leftMs) : null;
    return { expiresAt, lastValidBlockHeight };
  }

  #lastValidOf(lifetime: Lifetime): bigint {
    if (lifetime.kind !== 'block_height')
      throw new Error(`a build on ${this.network.name} lives up to a block height, not ${lifetime.kind}`);
    return lifetime.lastValid;
  }

  parseSubmitted(text: string): Parsed<Submitted> {
    const hash = parseSignature(text);
    if (hash.ok) return { ok: true, value: { kind: 'sent', hash: hash.value } };
    const bytes = parseBytes(text);
    if (!bytes.ok) return bytes;
    const raw = bytes.value;
    if (handedIn(raw) !== null) return { ok: true, value: { kind: 'handed', bytes: raw } };
    const decoded = decodeSigned(raw);
    if (!decoded.ok) return decoded;
    return { ok: true, value: { kind: 'signed', transaction: signedTransaction(raw, decoded.value) } };
  }

  async fetchSent(hash: TransactionHash, look?: number): Promise<SignedTransaction | null> {
    const read = async (node: RpcNode): Promise<SignedTransaction | null> => {
      const found = await node.call(refusable(getTransactionBytes(hash)));
      // Missing, or of an unknown version: no payment either way.
      if (found === null || found instanceof RpcRefusedError) return null;
      // Only its bytes are trusted: the first signature is the hash, and verify checks what it signs.
      const decoded = decodeSigned(found);
      return decoded.ok && decoded.value.hash === hash ? signedTransaction(found, decoded.value) : null;
    };
    if (look !== undefined) return this.#pool.inTurn(look, read);
    let answered = false;
    let lastError: RpcUpstreamError | undefined;
    for await (const attempt of this.#pool.attempts(read)) {
      if (attempt.kind === 'failed') {
        lastError = attempt.error;
        continue;
      }
      answered = true;
      if (attempt.value !== null) return attempt.value;
    }
    if (!answered) throw this.#pool.unavailable(lastError);
    return null;
  }

  verify(
    transaction: SignedTransaction,
    terms: PaymentTerms,
    fulfiller: Address,
    sent: boolean,
  ): Promise<Verification> {
    return verifyPayment(this.#pool, this.network, transaction, terms, fulfiller, sent, this.#heads.slots);
  }

  broadcast(transaction: SignedTransaction): Promise<BroadcastResult> {
    return broadcast(this.#pool, transaction, this.#heads.slots);
  }

  synthetic(): { readonly hash: TransactionHash; readonly address: Address } {
    return { hash: randomSignature(), address: randomAddress() };
  }

  ready(timeoutMs: number): Promise<boolean> {
    return this.#pool.ready(getBlockHeight('processed'), timeoutMs);
  }
}
