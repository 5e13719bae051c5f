import type { Address, ChainId, PaymentTerms } from '@pf/domain';
import { RpcPool } from '@pf/rpc';
import { createLogger } from '@pf/runtime';
import { type LocalSolana, startSolana as startNode } from '@pf/testing/chains';
import { solanaWallet } from '@pf/testing/wallets';
import {
  type Address as KitAddress,
  assertIsTransactionWithinSizeLimit,
  createKeyPairSignerFromBytes,
  getBase58Encoder,
  getBase64EncodedWireTransaction,
  getTransactionDecoder,
  getTransactionLifetimeConstraintFromCompiledTransactionMessage,
  getCompiledTransactionMessageDecoder,
} from '@solana/kit';
import type { VersionedTransaction } from '@solana/web3.js';
import { networkOf } from '../../src/index.ts';
import type { ChainUnderTest, PayerWallet } from '../conformance/suite.ts';
import { SolanaAdapter } from '../../src/solana/adapter.ts';
import { getHead, identifyGenesis } from '../../src/solana/calls.ts';
import { SolanaObserver } from '../../src/solana/observer.ts';
import { randomAddress } from '../../src/solana/address.ts';
import { tokenAccountOf } from '../../src/solana/payment.ts';
import { Clock } from '../base/chain.ts';
import { changed, tamperings } from './changes.ts';

const log = createLogger('test', 'silent');
const DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' as ChainId;

/** A pool over these upstreams, which may be slow on a busy machine. */
export const solanaPool = (urls: readonly string[], timeoutMs = 10_000): RpcPool =>
  new RpcPool({
    network: 'solana-devnet',
    upstreams: urls,
    dialect: 'solana',
    identify: identifyGenesis(DEVNET),
    probe: getHead(),
    log,
    timeoutMs,
  });

export interface SolanaPayer extends PayerWallet {
  sign(blob: string, change?: (transaction: VersionedTransaction) => VersionedTransaction): Promise<string>;
  /** Sends a plain payment by itself, as a wallet does that scanned a Solana Pay code. */
  transfer: ReturnType<typeof solanaWallet>['transfer'];
}
export interface SolanaUnderTest extends ChainUnderTest {
  readonly node: LocalSolana;
  readonly pool: RpcPool;
  readonly clock: Clock;
  readonly adapter: SolanaAdapter;
  readonly payers: readonly SolanaPayer[];
}

/** Terms with a new reference. @param amount base units */
export function termsOn(
  solana: SolanaUnderTest,
  symbol = 'USDC',
  requestor: Address = solana.newRecipient(),
  amount = 2_000_000n,
): PaymentTerms {
  const { adapter } = solana;
  const token = adapter.token(symbol);
  if (token === null) throw new Error(`devnet has ${symbol}`);
  return {
    chain: adapter.network.chain,
    tokenAddress: token.address,
    amount,
    requestor,
    reference: adapter.newReference(),
  };
}

/** Signs with @solana/kit, the bytes as they are. */
async function signWithKit(blob: string, privateKey: string): Promise<string> {
  const signer = await createKeyPairSignerFromBytes(getBase58Encoder().encode(privateKey));
  const transaction = getTransactionDecoder().decode(Buffer.from(blob, 'base64'));
  assertIsTransactionWithinSizeLimit(transaction);
  const lifetimeConstraint = await getTransactionLifetimeConstraintFromCompiledTransactionMessage(
    getCompiledTransactionMessageDecoder().decode(transaction.messageBytes),
  );
  const [signatures] = await signer.signTransactions([{ ...transaction, lifetimeConstraint }]);
  return getBase64EncodedWireTransaction({ ...transaction, signatures: { ...transaction.signatures, ...signatures } });
}

/** Solana on a local node of one's own whose clock stands still; wallets are web3.js 1.x's. */
export const startSolana = async (): Promise<SolanaUnderTest> => solanaOn(await startNode());

/** @param url where the service reaches this node */
export async function solanaOn(node: LocalSolana, url = node.rpcUrl): Promise<SolanaUnderTest> {
  const pool = solanaPool([url]);
  const network = networkOf(DEVNET);
  const clock = new Clock();
  const payers = node.wallets.map((wallet): SolanaPayer => {
    const own = solanaWallet(node, wallet);
    return {
      address: wallet.address as Address,
      sign: (blob, change) => own.sign(blob, change),
      transfer: (mint, to, amount, pay) => own.transfer(mint, to, amount, pay),
      signers: {
        '@solana/web3.js': (blob) => own.sign(blob),
        '@solana/kit': (blob) => signWithKit(blob, wallet.privateKey),
      },
    };
  });
  return {
    node,
    pool,
    clock,
    adapter: new SolanaAdapter(network, pool),
    observer: new SolanaObserver(network, pool, clock.now),
    payers,
    newRecipient: randomAddress,
    balanceOf: async (address) => {
      const account = await tokenAccountOf(address, node.tokens['USDC'] as KitAddress);
      const found = await node.rpc<{ value: { data: [string, string] } | null }>('getAccountInfo', account, {
        encoding: 'base64',
        commitment: 'processed',
      });
      return found.value === null ? 0n : Buffer.from(found.value.data[0], 'base64').readBigUInt64LE(64);
    },
    now: clock.now,
    land: async () => void (await node.advance()),
    settle: async () => {
      await node.advance();
      clock.pass(5_000);
    },
    finalize: async () => {
      await node.finalize();
      clock.pass(5_000);
    },
    expire: async () => void (await node.expire()),
    spoil: (payer) => node.fail({ payer: payer.address, count: 1 }),
    kill: async () => void (await node.expire()),
    async *tampered(blob, payer, terms: PaymentTerms) {
      for (const [what, change] of await tamperings(terms, payer.address))
        yield [what, await (payer as SolanaPayer).sign(blob, changed(change))];
      const good = Buffer.from(await payer.sign(blob), 'base64');
      yield ['trailing bytes', Buffer.concat([good, Buffer.of(0)]).toString('base64')];
      // The signature of something else.
      yield ['signature', Buffer.from(good.map((byte, place) => (place === 9 ? byte ^ 1 : byte))).toString('base64')];
    },
    stop: async () => {
      await pool.close();
      await node.stop();
    },
  };
}
