import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Deposit, PaymentTerms } from '@pf/domain';
import { type RpcProxy, startRpcProxy } from '@pf/testing/chains';
import { getBase58Encoder } from '@solana/kit';
import {
  Connection,
  Keypair,
  PublicKey,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { SolanaObserver } from '../../src/solana/observer.ts';
import { named, Watcher } from '../conformance/watching.ts';
import { solanaPool, type SolanaPayer, type SolanaUnderTest, startSolana, termsOn } from './chain.ts';
import { associatedOf, tokenInstructions } from './token-instructions.ts';

const DAY = 24 * 3_600_000;
const token = tokenInstructions();

describe('Money that arrives on Solana and pays no intent', () => {
  let solana: SolanaUnderTest;
  let connection: Connection;
  let usdc: PublicKey;
  let me: Keypair;
  let proxy: RpcProxy;
  let watcher: Watcher;
  let terms: PaymentTerms;
  let closing: (() => Promise<void>)[];
  beforeAll(async () => {
    solana = await startSolana();
    connection = new Connection(solana.node.rpcUrl, 'confirmed');
    usdc = new PublicKey(solana.node.tokens['USDC'] ?? '');
    me = Keypair.fromSecretKey(Uint8Array.from(getBase58Encoder().encode(solana.node.wallets[0]?.privateKey ?? '')));
  });
  afterAll(() => solana.stop());
  beforeEach(async () => {
    await solana.node.finalize();
    proxy = await startRpcProxy(solana.node.rpcUrl);
    closing = [() => proxy.stop()];
    watcher = new Watcher(newObserver());
    terms = watched('pi_test', 'acc_1');
    await watcher.step();
  });
  afterEach(async () => {
    for (const close of closing) await close();
  });

  function newObserver(...others: readonly string[]): SolanaObserver {
    const pool = solanaPool([proxy.url, ...others]);
    closing.unshift(() => pool.close());
    return new SolanaObserver(solana.adapter.network, pool, solana.clock.now);
  }
  function watched(id: string, ...accounts: readonly string[]): PaymentTerms {
    const its = termsOn(solana);
    watcher.watched.add(id, its);
    watcher.watched.own(its.requestor, ...accounts);
    return its;
  }
  const payer = (): SolanaPayer => solana.payers[0] as SolanaPayer;
  type Pay = Parameters<SolanaPayer['transfer']>[3];
  /** A plain transfer of a wallet, which makes the recipient's account where there is none. */
  const pay = (amount: bigint, by: Pay = {}, { tokenAddress, requestor }: PaymentTerms = terms): Promise<string> =>
    payer().transfer(tokenAddress, requestor, amount, by);
  /** In one transaction. */
  async function send(...instructions: readonly TransactionInstruction[]): Promise<string> {
    const { blockhash } = await connection.getLatestBlockhash();
    const message = new TransactionMessage({
      payerKey: me.publicKey,
      recentBlockhash: blockhash,
      instructions: [...instructions],
    });
    const transaction = new VersionedTransaction(message.compileToV0Message());
    transaction.sign([me]);
    return connection.sendRawTransaction(transaction.serialize());
  }
  const walletOf = ({ requestor }: PaymentTerms): PublicKey => new PublicKey(requestor);
  const making = (of: PaymentTerms): TransactionInstruction => token.createAssociated(me.publicKey, walletOf(of), usdc);
  const moving = (of: PaymentTerms, amount: bigint, ...references: readonly string[]): TransactionInstruction =>
    token.checked(
      associatedOf(me.publicKey, usdc),
      associatedOf(walletOf(of), usdc),
      usdc,
      amount,
      me.publicKey,
      references.map((one) => new PublicKey(one)),
    );
  const deposits = (): readonly Deposit[] => [...watcher.watched.deposits.values()];
  /** What is observed of payments meanwhile. */
  async function after(ms: number, slots = 1): Promise<readonly string[]> {
    await solana.node.advance(slots);
    solana.clock.pass(ms);
    return named(await watcher.step());
  }

  it('is a deposit, confirmed and then final, and told once', async () => {
    const hash = await pay(5n);
    expect(await after(1_000)).toEqual([]);
    expect(deposits()).toMatchObject([
      {
        accountId: 'acc_1',
        level: 'confirmed',
        reason: 'no_reference',
        chain: terms.chain,
        arrival: { hash, from: payer().address, to: terms.requestor, amount: 5n, reference: null, blockHash: null },
      },
    ]);
    const [deposit] = deposits();
    expect(deposit?.arrival).toMatchObject({ index: expect.stringMatching(/^a\d+$/), at: expect.any(Number) });
    expect(deposit?.arrival.token).toEqual({ symbol: 'USDC', decimals: 6 });
    expect(proxy.calls.get('getTransaction')).toBe(1);
    // By a process that remembers nothing.
    watcher = watcher.restart(newObserver());
    await after(1_000, 10);
    expect(deposits()).toMatchObject([{ level: 'finalized', version: 2 }]);
    await after(60_000);
    expect((await watcher.stepOnce()).deposits).toEqual([]);
    expect(deposits()).toMatchObject([{ version: 2 }]);
  });

  it('is found where it came while no watcher ran, to an account that was there', async () => {
    await pay(5n);
    await after(1_000);
    await pay(6n);
    await solana.node.advance(1_000);
    watcher = watcher.restart(newObserver());
    await after(1_000);
    expect(deposits().map(({ arrival }) => arrival.amount)).toEqual([5n, 6n]);
  });

  it('is a deposit without a sender where the token was minted', async () => {
    await solana.node.mint(terms.requestor, usdc.toBase58(), 7n);
    await after(1_000);
    expect(deposits()).toMatchObject([{ reason: 'no_reference', arrival: { from: null, amount: 7n } }]);
  });

  it('is a deposit without a sender where a batch paid', async () => {
    await send(making(terms), token.batch([moving(terms, 5n), moving(terms, 6n)]));
    await after(1_000);
    expect(deposits()).toMatchObject([{ reason: 'no_reference', arrival: { from: null, amount: 11n } }]);
  });

  it('is a deposit of each recipient of one transaction, and of each account that names it', async () => {
    const other = watched('pi_other', 'acc_2', 'acc_3');
    await after(1_000);
    await send(making(terms), making(other), moving(terms, 5n), moving(other, 6n), moving(other, 7n));
    await after(1_000);
    expect(
      deposits()
        .map(({ accountId, arrival }) => [accountId, arrival.to, arrival.amount])
        .sort(),
    ).toEqual([
      ['acc_1', terms.requestor, 5n],
      ['acc_2', other.requestor, 13n],
      ['acc_3', other.requestor, 13n],
    ]);
  });

  it('comes beside a payment in one transaction, and is none of what the intent tells', async () => {
    await send(making(terms), moving(terms, terms.amount, terms.reference), moving(terms, 5n));
    expect(await after(1_000)).toEqual(['landed confirmed']);
    expect(deposits()).toMatchObject([{ arrival: { from: me.publicKey.toBase58(), amount: 5n } }]);
    const above = watched('pi_above', 'acc_2');
    await after(1_000);
    await pay(above.amount + 5n, { references: [above.reference] }, above);
    expect(await after(1_000)).toEqual(['landed confirmed']);
    expect(deposits()).toHaveLength(1);
  });

  it('says which reference it carries that no intent has, or that it carries two', async () => {
    const reference = solana.adapter.newReference();
    await pay(5n, { references: [reference] });
    await after(1_000);
    expect(deposits()).toMatchObject([{ reason: 'unknown_reference', arrival: { reference } }]);
    await pay(6n, { references: [terms.reference, reference] });
    await after(1_000);
    expect(deposits()[1]).toMatchObject({
      reason: 'two_references',
      arrival: { reference: terms.reference, amount: 6n },
    });
  });

  it('is a deposit without proof once a payment of which nothing is certain is given up', async () => {
    const { reference, amount } = terms;
    await send(making(terms), token.batch([moving(terms, amount, reference)]));
    await after(1_000);
    await after(60_000);
    expect(deposits()).toEqual([]);
    await after(DAY);
    expect(deposits()).toMatchObject([{ reason: 'unproven', arrival: { from: null, amount } }]);
  });

  it('is told of again by a watcher whose step was not stored', async () => {
    await pay(5n);
    await solana.node.advance();
    solana.clock.pass(1_000);
    const stored = watcher.restart(newObserver());
    watcher.reaches = false;
    expect((await watcher.stepOnce()).deposits).toHaveLength(1);
    watcher = stored;
    await after(1_000);
    expect(deposits()).toMatchObject([{ version: 1, arrival: { amount: 5n } }]);
  });

  it('is lost where a fork dropped it', async () => {
    await pay(5n);
    await after(1_000);
    await solana.node.reorg(2);
    await after(1_000, 10);
    expect(deposits()).toMatchObject([{ level: 'lost', version: 2 }]);
  });

  it('is lost and received again where a fork has it in another slot', async () => {
    await pay(5n);
    await after(1_000);
    const [before] = deposits();
    await solana.node.reorg(2, { requeue: true });
    await after(1_000, 10);
    await after(1_000);
    const [deposit] = deposits();
    expect(deposit).toMatchObject({ level: 'confirmed', version: 3, id: before?.id });
    expect(deposit?.arrival.block).not.toBe(before?.arrival.block);
    await after(60_000, 10);
    expect(deposits()).toMatchObject([{ level: 'finalized', version: 4 }]);
  });

  it('is final once a second upstream has shown it, too', async () => {
    const other = await startRpcProxy(solana.node.rpcUrl);
    closing.push(() => other.stop());
    watcher = watcher.restart(newObserver(other.url));
    await pay(5n);
    await after(1_000);
    expect(deposits()).toMatchObject([{ level: 'confirmed' }]);
    const silent = other.calls.get('getTransaction') === 1 ? proxy : other;
    silent.respond = ({ method }) => (method === 'getTransaction' ? null : undefined);
    await after(1_000, 10);
    await after(3_600_000);
    expect(deposits()).toMatchObject([{ level: 'confirmed' }]);
    expect(watcher.warnings).toContainEqual(expect.stringContaining('a second upstream shows no such deposit'));
    silent.respond = () => undefined;
    await after(60_000);
    expect(deposits()).toMatchObject([{ level: 'finalized', version: 2 }]);
  });
});
