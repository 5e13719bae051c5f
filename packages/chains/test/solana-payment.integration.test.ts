import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Address, IntentId, PaymentTerms } from '@pf/domain';
import { type RpcProxy, startRpcProxy } from '@pf/testing';
import { ComputeBudgetProgram, Keypair, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import type { BuildResult, SignedTransaction } from '../src/index.ts';
import { SolanaAdapter } from '../src/solana/adapter.ts';
import { tokenAccountOf } from '../src/solana/payment.ts';
import { solanaPool, type SolanaPayer, type SolanaUnderTest, startSolana } from './solana-chain.ts';
import { changed, type Change } from './solana-changes.ts';

describe('a payment on Solana', () => {
  let solana: SolanaUnderTest;
  beforeAll(async () => {
    solana = await startSolana();
  }, 60_000);
  afterAll(() => solana.stop());

  function payer(index: number): SolanaPayer {
    const found = solana.payers[index];
    if (found === undefined) throw new Error('no such payer');
    return found;
  }
  function newTerms(symbol = 'USDC', requestor: Address = solana.newRecipient()): PaymentTerms {
    const token = solana.adapter.token(symbol);
    if (token === null) throw new Error(`devnet has ${symbol}`);
    return { chain: solana.adapter.network.chain, tokenAddress: token.address, amount: 3_000_000n, requestor, reference: solana.adapter.newReference() };
  }
  const build = (terms: PaymentTerms, fulfiller: Address, adapter = solana.adapter): Promise<BuildResult> =>
    adapter.build({ intentId: 'pi_test' as IntentId, terms, direction: 'request', fulfiller, expiresAt: 0 });
  async function built(terms: PaymentTerms, fulfiller: Address): Promise<Extract<BuildResult, { kind: 'built' }>> {
    const result = await build(terms, fulfiller);
    if (result.kind !== 'built') throw new Error(JSON.stringify(result));
    return result;
  }
  async function signed(terms: PaymentTerms, by: SolanaPayer, change?: Change): Promise<SignedTransaction> {
    const { transaction } = await built(terms, by.address);
    const parsed = solana.adapter.parseSubmitted(await by.sign(transaction.blob, change && changed(change)));
    if (!parsed.ok || parsed.value.kind !== 'signed') throw new Error(JSON.stringify(parsed));
    return parsed.value.transaction;
  }
  async function land(terms: PaymentTerms, by: SolanaPayer): Promise<void> {
    expect(await solana.adapter.broadcast(await signed(terms, by))).toEqual({ kind: 'taken' });
    await solana.land();
  }
  const lamportsOf = async (address: string): Promise<number> => (await solana.node.rpc<{ value: number }>('getBalance', address, { commitment: 'processed' })).value;

  describe('built', () => {
    it.each(['USDC', 'PYUSD'])('says what the %s account of a new recipient and the fee really cost', async (symbol) => {
      const terms = newTerms(symbol);
      const { transaction } = await built(terms, payer(0).address);
      expect(transaction).toMatchObject({ format: 'solana_v0_message', estimatedFeeUsdc: null, estimatedFeeEth: null });
      const before = await lamportsOf(payer(0).address);
      await land(terms, payer(0));
      const account = await tokenAccountOf(terms.requestor, terms.tokenAddress);
      expect(await lamportsOf(account)).toBe(transaction.ataRentLamports);
      expect(before - (await lamportsOf(payer(0).address))).toBe((transaction.ataRentLamports ?? 0) + (transaction.estimatedFeeLamports ?? 0));

      // The account is there now.
      const again = await built({ ...terms, reference: solana.adapter.newReference() }, payer(0).address);
      expect(again.transaction.ataRentLamports).toBeNull();
      expect(Buffer.from(again.transaction.blob, 'base64').length).toBeLessThan(Buffer.from(transaction.blob, 'base64').length);
    });

    it('asks less rent where somebody has put lamports on the account before', async () => {
      const terms = newTerms();
      const { transaction } = await built(terms, payer(0).address);
      await solana.node.airdrop(await tokenAccountOf(terms.requestor, terms.tokenAddress), 1_000_000n);
      await solana.land();
      expect((await built(terms, payer(0).address)).transaction.ataRentLamports).toBe((transaction.ataRentLamports ?? 0) - 1_000_000);
      await land(terms, payer(0));
      expect(await solana.balanceOf(terms.requestor)).toBe(terms.amount);
    });

    it('is rejected with what is missing: tokens, SOL for the fee, SOL for the rent', async () => {
      const poor = Keypair.generate().publicKey.toBase58() as Address;
      expect(await build(newTerms(), poor)).toEqual({ kind: 'rejected', reason: 'the payer has 0 USDC and needs 3 USDC' });
      await solana.node.mint(poor, 'USDC', 5_000_000n);
      await solana.land();
      expect(await build(newTerms(), poor)).toEqual({ kind: 'rejected', reason: expect.stringMatching(/^the payer has 0 SOL and needs 0\.\d+ SOL for the fee and the rent/) });
      // Enough for the fee, but not for the fee and a balance that an account must not fall below.
      await solana.node.airdrop(poor, BigInt(await solana.node.rpc<number>('getMinimumBalanceForRentExemption', 0)) + 3_000n);
      await solana.land();
      expect(await build(newTerms(), poor)).toEqual({ kind: 'rejected', reason: expect.stringMatching(/^the payer has 0\.000\d+ SOL and needs 0\.00\d+ SOL/) });
      expect(await build(newTerms('USDC', payer(1).address), poor)).toEqual({ kind: 'rejected', reason: expect.stringContaining('too little SOL to exist') });
    });

    it('is refused to and for accounts that are no wallets, and made for wallets of programs', async () => {
      const account = await tokenAccountOf(payer(1).address, newTerms().tokenAddress);
      const notPayable = (reason: string, param = 'requestor'): unknown => ({ kind: 'not_payable', param, reason: expect.stringContaining(reason) });
      expect(await build(newTerms('USDC', account as string as Address), payer(0).address)).toEqual(notPayable('a mint or a token account'));
      // The mint of another network's token, say: nobody's wallet.
      expect(await build(newTerms('USDC', newTerms('PYUSD').tokenAddress as string as Address), payer(0).address)).toEqual(notPayable('a mint or a token account'));
      expect(await build(newTerms('USDC', 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL' as Address), payer(0).address)).toEqual(notPayable('is a program'));
      expect(await build(newTerms(), account as string as Address)).toEqual(notPayable('on no point of the curve', 'fulfiller'));
      // Off the curve: the vault of a multisig.
      const vault = account as string as Address;
      const offCurve = (await tokenAccountOf(vault, newTerms().tokenAddress)) as string as Address;
      expect(await build(newTerms('USDC', offCurve), payer(0).address)).toMatchObject({ kind: 'built' });
    });

    it('is dead once the blockhash has expired, and built anew with a fresh one', async () => {
      const terms = newTerms();
      const { transaction, lifetime } = await built(terms, payer(2).address);
      const made = { version: 2, fulfiller: payer(2).address, transaction, lifetime };
      expect(await solana.adapter.canLand(made)).toBe(true);
      await solana.node.advance(150);
      expect(await solana.adapter.canLand(made)).toBe(true);
      await solana.node.advance(2);
      expect(await solana.adapter.canLand(made)).toBe(false);
      expect((await built(terms, payer(2).address)).transaction.blob).not.toBe(transaction.blob);
    });

    it('takes two HTTP requests', async () => {
      const proxy = await startRpcProxy(solana.node.rpcUrl);
      const pool = solanaPool([proxy.url]);
      const adapter = new SolanaAdapter(solana.adapter.network, pool);
      await adapter.ready(5_000);
      let requests = 0;
      proxy.answer = ({ id }) => void (requests += id === 0 ? 1 : 0);
      expect(await build(newTerms(), payer(0).address, adapter)).toMatchObject({ kind: 'built' });
      expect(requests).toBe(2);
      await pool.close();
      await proxy.stop();
    });
  });

  describe('verified', () => {
    it.each<[string, Change, string]>([
      ['too few compute units', (instructions) => instructions.map((one) => (isUnitLimit(one) ? ComputeBudgetProgram.setComputeUnitLimit({ units: 2_000 }) : one)), 'compute units'],
      ['no account to credit', (instructions) => instructions.filter(({ programId }) => programId.toBase58() !== 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'), 'does not exist'],
    ])('is rejected with %s, unless it was sent already', async (_what, change, reason) => {
      const terms = newTerms();
      const transaction = await signed(terms, payer(3), change);
      expect(await solana.adapter.verify(transaction, terms, payer(3).address, false)).toEqual({ kind: 'rejected', reason: expect.stringContaining(reason) });
      expect(await solana.adapter.verify(transaction, terms, payer(3).address, true)).toMatchObject({ kind: 'verified' });
    });

    it('is rejected, by the node still in use, where it breaks a rule that has nothing to do with payments', async () => {
      const terms = newTerms();
      const { transaction } = await built(terms, payer(3).address);
      // The fee payer's account read-only: no node takes that, and none even simulates it.
      const readOnly = Buffer.from(transaction.blob, 'base64');
      readOnly[1 + 64 + 1 + 1] = 1;
      const parsed = solana.adapter.parseSubmitted(await payer(3).sign(readOnly.toString('base64')));
      if (!parsed.ok || parsed.value.kind !== 'signed') throw new Error(JSON.stringify(parsed));
      expect(await solana.adapter.verify(parsed.value.transaction, terms, payer(3).address, false)).toMatchObject({ kind: 'rejected' });
      expect(await solana.adapter.ready(2_000)).toBe(true);
    });

    it('lives as long as the blockhash that the wallet has put in can be used', async () => {
      const terms = newTerms();
      const { transaction, lifetime } = await built(terms, payer(4).address);
      await solana.node.advance(50);
      const { value } = await solana.node.rpc<{ value: { blockhash: string; lastValidBlockHeight: number } }>('getLatestBlockhash', { commitment: 'processed' });
      const parsed = solana.adapter.parseSubmitted(
        await payer(4).sign(transaction.blob, (original) => {
          const message = TransactionMessage.decompile(original.message);
          message.recentBlockhash = value.blockhash;
          return new VersionedTransaction(message.compileToV0Message());
        }),
      );
      if (!parsed.ok || parsed.value.kind !== 'signed') throw new Error('no transaction');
      const verification = await solana.adapter.verify(parsed.value.transaction, terms, payer(4).address, false);
      if (verification.kind !== 'verified' || verification.transaction.lifetime.kind !== 'block_height' || lifetime.kind !== 'block_height') throw new Error(JSON.stringify(verification));
      expect(verification.transaction.nonce).toBeNull();
      expect(verification.transaction.lifetime.lastValid).toBeGreaterThanOrEqual(BigInt(value.lastValidBlockHeight));
      expect(verification.transaction.lifetime.lastValid).toBeGreaterThanOrEqual(lifetime.lastValid + 50n);
    });

    it('pays when it lands, also in PYUSD and with the signature of @solana/kit', async () => {
      const terms = newTerms('PYUSD');
      const by = payer(5);
      const kit = by.signers['@solana/kit'];
      const parsed = solana.adapter.parseSubmitted((await kit?.((await built(terms, by.address)).transaction.blob)) ?? '');
      if (!parsed.ok || parsed.value.kind !== 'signed') throw new Error('no transaction');
      expect(await solana.adapter.verify(parsed.value.transaction, terms, by.address, false)).toMatchObject({ kind: 'verified' });
      expect(await solana.adapter.broadcast(parsed.value.transaction)).toEqual({ kind: 'taken' });
      await solana.land();
      const { value } = await solana.node.rpc<{ value: { amount: string } }>('getTokenAccountBalance', await tokenAccountOf(terms.requestor, terms.tokenAddress), { commitment: 'processed' });
      expect(value.amount).toBe(terms.amount.toString());
    });
  });

  describe('with nodes that fail', () => {
    let proxy: RpcProxy;
    beforeAll(async () => {
      proxy = await startRpcProxy(solana.node.rpcUrl);
    });
    afterAll(() => proxy.stop());

    it('is broadcast by the next upstream when the first takes it and hangs', async () => {
      const pool = solanaPool([proxy.url, solana.node.rpcUrl], 500);
      const adapter = new SolanaAdapter(solana.adapter.network, pool);
      const transaction = await signed(newTerms(), payer(6));
      await adapter.ready(5_000);
      proxy.fault = { kind: 'swallow' };
      expect(await adapter.broadcast(transaction)).toEqual({ kind: 'taken' });
      proxy.fault = null;
      await pool.close();
    });

    it('is verified and broadcast where the first upstream lags and does not know its blockhash', async () => {
      const pool = solanaPool([proxy.url, solana.node.rpcUrl]);
      const adapter = new SolanaAdapter(solana.adapter.network, pool);
      const terms = newTerms();
      const transaction = await signed(terms, payer(6));
      proxy.answer = ({ method }) => (method === 'isBlockhashValid' ? { context: { slot: 1 }, value: false } : undefined);
      expect(await adapter.verify(transaction, terms, payer(6).address, false)).toMatchObject({ kind: 'verified' });
      expect(await adapter.broadcast(transaction)).toEqual({ kind: 'taken' });
      proxy.answer = () => undefined;
      await pool.close();
    });

    it('is neither refused nor taken when nobody can say', async () => {
      const pool = solanaPool([proxy.url]);
      const adapter = new SolanaAdapter(solana.adapter.network, pool);
      const transaction = await signed(newTerms(), payer(6));
      proxy.answer = ({ method }) => (method === 'sendTransaction' ? new Error('the leader is on a break') : undefined);
      expect(await adapter.broadcast(transaction)).toEqual({ kind: 'unknown', reason: 'the leader is on a break' });
      proxy.answer = () => undefined;
      await pool.close();
    });

    it('is not looked for on an upstream of another network', async () => {
      const pool = solanaPool([proxy.url]);
      const adapter = new SolanaAdapter(solana.adapter.network, pool);
      proxy.answer = ({ method }) => (method === 'getGenesisHash' ? '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d' : undefined);
      await expect(build(newTerms(), payer(6).address, adapter)).rejects.toMatchObject({ name: 'RpcUnavailableError' });
      proxy.answer = () => undefined;
      await pool.close();
    });
  });
});

const isUnitLimit = ({ programId, data }: Parameters<Change>[0][number]): boolean => programId.equals(ComputeBudgetProgram.programId) && data[0] === 2;
