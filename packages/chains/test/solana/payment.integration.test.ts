import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Address, IntentId, PaymentTerms } from '@pf/domain';
import { type RpcProxy, startRpcProxy } from '@pf/testing/chains';
import { freezeAccount } from '@pf/testing/wallets';
import {
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import type { BuildResult, SignedTransaction } from '../../src/index.ts';
import { SolanaAdapter } from '../../src/solana/adapter.ts';
import { tokenAccountOf } from '../../src/solana/payment.ts';
import { TOKEN_PROGRAM_ADDRESS } from '../../src/solana/programs.ts';
import { solanaPool, type SolanaPayer, type SolanaUnderTest, startSolana, termsOn } from './chain.ts';
import { changed, type Change } from './changes.ts';

/** An instruction of the token program, and the authority that it changes. */
const [SET_AUTHORITY, ACCOUNT_OWNER] = [6, 2];

describe('Solana adapter', () => {
  let solana: SolanaUnderTest;
  beforeAll(async () => {
    solana = await startSolana();
  });
  afterAll(() => solana.stop());

  function payer(index: number): SolanaPayer {
    const found = solana.payers[index];
    if (found === undefined) throw new Error('no such payer');
    return found;
  }
  const newTerms = (symbol?: string, requestor?: Address): PaymentTerms =>
    termsOn(solana, symbol, requestor, 3_000_000n);
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
  const blockhash = async (): Promise<string> =>
    (await solana.node.rpc<{ value: { blockhash: string } }>('getLatestBlockhash', { commitment: 'processed' })).value
      .blockhash;
  async function send(transaction: VersionedTransaction): Promise<void> {
    await solana.node.rpc('sendTransaction', Buffer.from(transaction.serialize()).toString('base64'), {
      encoding: 'base64',
      preflightCommitment: 'processed',
    });
    await solana.land();
  }
  async function sign(by: readonly [Keypair, ...Keypair[]], instructions: TransactionInstruction[]): Promise<void> {
    const transaction = new VersionedTransaction(
      new TransactionMessage({
        payerKey: by[0].publicKey,
        recentBlockhash: await blockhash(),
        instructions,
      }).compileToV0Message(),
    );
    transaction.sign([...by]);
    await send(transaction);
  }
  async function freeze(owner: Address): Promise<void> {
    await freezeAccount(solana.node, newTerms().tokenAddress, owner);
    await solana.land();
  }
  const lamportsOf = async (address: string): Promise<number> =>
    (await solana.node.rpc<{ value: number }>('getBalance', address, { commitment: 'processed' })).value;

  describe('build', () => {
    it.each(['USDC', 'PYUSD'])('estimates the rent of a new %s account and the fee exactly', async (symbol) => {
      const terms = newTerms(symbol);
      const { transaction } = await built(terms, payer(0).address);
      expect(transaction).toMatchObject({
        format: 'solana_v0_message',
        estimatedFeeUsdc: null,
        estimatedFeeEth: null,
      });
      const before = await lamportsOf(payer(0).address);
      await land(terms, payer(0));
      const account = await tokenAccountOf(terms.requestor, terms.tokenAddress);
      expect(await lamportsOf(account)).toBe(transaction.ataRentLamports);
      expect(before - (await lamportsOf(payer(0).address))).toBe(
        (transaction.ataRentLamports ?? 0) + (transaction.estimatedFeeLamports ?? 0),
      );

      // The account is there now.
      const again = await built({ ...terms, reference: solana.adapter.newReference() }, payer(0).address);
      expect(again.transaction.ataRentLamports).toBeNull();
      expect(Buffer.from(again.transaction.blob, 'base64').length).toBeLessThan(
        Buffer.from(transaction.blob, 'base64').length,
      );
    });

    it('estimates less rent where the account already holds lamports', async () => {
      const terms = newTerms();
      const { transaction } = await built(terms, payer(0).address);
      await solana.node.airdrop(await tokenAccountOf(terms.requestor, terms.tokenAddress), 1_000_000n);
      await solana.land();
      expect((await built(terms, payer(0).address)).transaction.ataRentLamports).toBe(
        (transaction.ataRentLamports ?? 0) - 1_000_000,
      );
      await land(terms, payer(0));
      expect(await solana.balanceOf(terms.requestor)).toBe(terms.amount);
    });

    it('rejects a payer who lacks tokens, SOL for the fee or SOL for the rent', async () => {
      const poorKey = Keypair.generate();
      const poor = poorKey.publicKey.toBase58() as Address;
      expect(await build(newTerms(), poor)).toEqual({
        kind: 'rejected',
        reason: 'the payer has 0 USDC and needs 3 USDC',
      });
      await solana.node.mint(poor, 'USDC', 5_000_000n);
      await solana.land();
      const sol = '0\\.\\d+ SOL';
      const needs = new RegExp(
        `needs ${sol}: ${sol} for the fee, ${sol} for the rent of the requestor's token account, ` +
          `and ${sol} that must stay in the wallet$`,
      );
      expect(await build(newTerms(), poor)).toEqual({
        kind: 'rejected',
        reason: expect.stringMatching(/^the payer has 0 SOL and /),
      });
      expect(await build(newTerms(), poor)).toEqual({ kind: 'rejected', reason: expect.stringMatching(needs) });
      // Enough for the fee, but not for the fee and a balance that an account must not fall below.
      await solana.node.airdrop(
        poor,
        BigInt(await solana.node.rpc<number>('getMinimumBalanceForRentExemption', 0)) + 3_000n,
      );
      await solana.land();
      expect(await build(newTerms(), poor)).toEqual({
        kind: 'rejected',
        reason: expect.stringMatching(/^the payer has 0\.000\d+ SOL and needs 0\.00\d+ SOL/),
      });
      const withoutRent = await build(newTerms('USDC', payer(1).address), poor);
      expect(withoutRent).toEqual({
        kind: 'rejected',
        reason: expect.stringMatching(
          new RegExp(
            `^the payer has ${sol} and needs ${sol}: ${sol} for the fee, and ${sol} that must stay in the wallet$`,
          ),
        ),
      });
      // So much as is said to be missing is what is missing.
      const [has = '', need = ''] =
        withoutRent.kind === 'rejected'
          ? [...withoutRent.reason.matchAll(/0\.(\d+) SOL/g)].map(([, digits = '']) => digits.padEnd(9, '0'))
          : [];
      await solana.node.airdrop(poor, BigInt(need) - BigInt(has));
      await solana.land();
      const terms = newTerms('USDC', payer(1).address);
      const transaction = VersionedTransaction.deserialize(
        Buffer.from((await built(terms, poor)).transaction.blob, 'base64'),
      );
      transaction.sign([poorKey]);
      await send(transaction);
      expect(await lamportsOf(poor)).toBe(await solana.node.rpc<number>('getMinimumBalanceForRentExemption', 0));
    });

    it('allows the payer to spend the last lamport', async () => {
      const key = Keypair.generate();
      const emptied = key.publicKey.toBase58() as Address;
      const { ataRentLamports, estimatedFeeLamports } = (await built(newTerms(), payer(0).address)).transaction;
      await solana.node.mint(emptied, 'USDC', 3_000_000n);
      await solana.node.airdrop(emptied, BigInt((ataRentLamports ?? 0) + (estimatedFeeLamports ?? 0)));
      await solana.land();
      const transaction = VersionedTransaction.deserialize(
        Buffer.from((await built(newTerms(), emptied)).transaction.blob, 'base64'),
      );
      transaction.sign([key]);
      await send(transaction);
      expect(await lamportsOf(emptied)).toBe(0);
    });

    it('proposes the recent prioritization fees of these accounts, up to a cap', async () => {
      const proxy = await startRpcProxy(solana.node.rpcUrl);
      const pool = solanaPool([proxy.url]);
      const adapter = new SolanaAdapter(solana.adapter.network, pool);
      const asked: unknown[] = [];
      const priceWhere = async (prices: readonly number[]): Promise<bigint | undefined> => {
        proxy.respond = ({ method, params }) => {
          if (method !== 'getRecentPrioritizationFees') return undefined;
          asked.push(params[0]);
          return prices.map((prioritizationFee, slot) => ({ slot, prioritizationFee }));
        };
        const result = await build(newTerms('USDC', payer(1).address), payer(0).address, adapter);
        if (result.kind !== 'built') throw new Error(JSON.stringify(result));
        const { instructions } = TransactionMessage.decompile(
          VersionedTransaction.deserialize(Buffer.from(result.transaction.blob, 'base64')).message,
        );
        // The fee that is told is the one for this price: 30,000 units, and a signature.
        const price = instructions
          .find(({ programId, data }) => programId.equals(ComputeBudgetProgram.programId) && data[0] === 3)
          ?.data.readBigUInt64LE(1);
        expect(result.transaction.estimatedFeeLamports).toBe(5_000 + Math.ceil((30_000 * Number(price)) / 1e6));
        return price;
      };
      expect(await priceWhere([70_000, 5, 90_000, 80_000])).toBe(90_000n);
      expect(await priceWhere([1e12, 1e12])).toBe(2_000_000n);
      const { tokenAddress } = newTerms();
      expect(asked[0]).toEqual([
        payer(0).address,
        await tokenAccountOf(payer(0).address, tokenAddress),
        await tokenAccountOf(payer(1).address, tokenAddress),
      ]);
      await pool.close();
      await proxy.stop();
    });

    it('refuses accounts that are not wallets, and accepts wallets of programs', async () => {
      const account = await tokenAccountOf(payer(1).address, newTerms().tokenAddress);
      const notPayable = (reason: string, param = 'requestor'): unknown => ({
        kind: 'not_payable',
        param,
        reason: expect.stringContaining(reason),
      });
      expect(await build(newTerms('USDC', account as string as Address), payer(0).address)).toEqual(
        notPayable('a mint or a token account'),
      );
      // The mint of another network's token, say: not a wallet.
      expect(
        await build(newTerms('USDC', newTerms('PYUSD').tokenAddress as string as Address), payer(0).address),
      ).toEqual(notPayable('a mint or a token account'));
      expect(
        await build(newTerms('USDC', 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL' as Address), payer(0).address),
      ).toEqual(notPayable('is a program'));
      expect(await build(newTerms(), account as string as Address)).toEqual(
        notPayable('off the ed25519 curve', 'fulfiller'),
      );
      // Off the curve: the vault of a multisig.
      const vault = account as string as Address;
      const offCurve = (await tokenAccountOf(vault, newTerms().tokenAddress)) as string as Address;
      expect(await build(newTerms('USDC', offCurve), payer(0).address)).toMatchObject({ kind: 'built' });
    });

    it('refuses frozen or transferred token accounts, and program accounts as payers', async () => {
      const terms = newTerms('USDC', Keypair.generate().publicKey.toBase58() as Address);
      await solana.node.mint(terms.requestor, 'USDC', 1n);
      await solana.land();
      await freeze(terms.requestor);
      expect(await build(terms, payer(0).address)).toEqual({
        kind: 'not_payable',
        param: 'requestor',
        reason: 'has a frozen token account for this token',
      });

      const [giver, taker] = [Keypair.generate(), Keypair.generate()];
      const given = newTerms('USDC', giver.publicKey.toBase58() as Address);
      await Promise.all([
        solana.node.mint(given.requestor, 'USDC', 1n),
        solana.node.airdrop(given.requestor, 1_000_000_000n),
      ]);
      await solana.land();
      const keys = [
        {
          pubkey: new PublicKey(await tokenAccountOf(given.requestor, given.tokenAddress)),
          isSigner: false,
          isWritable: true,
        },
        { pubkey: giver.publicKey, isSigner: true, isWritable: false },
      ];
      await sign(
        [giver],
        [
          new TransactionInstruction({
            programId: new PublicKey(TOKEN_PROGRAM_ADDRESS),
            data: Buffer.from([SET_AUTHORITY, ACCOUNT_OWNER, 1, ...taker.publicKey.toBytes()]),
            keys,
          }),
        ],
      );
      expect(await build(given, payer(0).address)).toEqual({
        kind: 'not_payable',
        param: 'requestor',
        reason: 'no longer owns its associated token account for this token',
      });
      // Nor can he pay with it any more.
      expect(await build({ ...newTerms(), amount: 1n }, given.requestor)).toEqual({
        kind: 'rejected',
        reason: 'the payer has 0 USDC and needs 0.000001 USDC',
      });

      const nonce = Keypair.generate();
      const transaction = SystemProgram.createNonceAccount({
        fromPubkey: giver.publicKey,
        noncePubkey: nonce.publicKey,
        authorizedPubkey: giver.publicKey,
        lamports: 2_000_000,
      });
      await sign([giver, nonce], transaction.instructions);
      expect(await build(newTerms(), nonce.publicKey.toBase58() as Address)).toEqual({
        kind: 'not_payable',
        param: 'fulfiller',
        reason: expect.stringContaining('is not a wallet'),
      });
    });

    it('rejects a payer whose token account is frozen', async () => {
      const held = Keypair.generate();
      const address = held.publicKey.toBase58() as Address;
      const terms = newTerms();
      await Promise.all([solana.node.mint(address, 'USDC', 5_000_000n), solana.node.airdrop(address, 1_000_000_000n)]);
      await solana.land();
      await freeze(address);
      expect(await build(terms, address)).toEqual({
        kind: 'rejected',
        reason: "the payer's token account is frozen",
      });
    });

    it('takes two HTTP requests', async () => {
      const proxy = await startRpcProxy(solana.node.rpcUrl);
      const pool = solanaPool([proxy.url]);
      const adapter = new SolanaAdapter(solana.adapter.network, pool);
      await adapter.ready(5_000);
      let requests = 0;
      proxy.respond = ({ id }) => void (requests += id === 0 ? 1 : 0);
      expect(await build(newTerms(), payer(0).address, adapter)).toMatchObject({ kind: 'built' });
      expect(requests).toBe(2);
      await pool.close();
      await proxy.stop();
    });
  });

  describe('verify', () => {
    it.each<[string, Change, string]>([
      [
        'too few compute units',
        (instructions) =>
          instructions.map((one) =>
            isUnitLimit(one) ? ComputeBudgetProgram.setComputeUnitLimit({ units: 2_000 }) : one,
          ),
        'compute units',
      ],
      [
        'no account to credit',
        (instructions) =>
          instructions.filter(
            ({ programId }) => programId.toBase58() !== 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
          ),
        'does not exist',
      ],
    ])('rejects %s, unless the transaction was already sent', async (_what, change, reason) => {
      const terms = newTerms();
      const transaction = await signed(terms, payer(3), change);
      expect(await solana.adapter.verify(transaction, terms, payer(3).address, false)).toEqual({
        kind: 'rejected',
        reason: expect.stringContaining(reason),
      });
      expect(await solana.adapter.verify(transaction, terms, payer(3).address, true)).toMatchObject({
        kind: 'verified',
      });
    });

    it('rejects a transaction that no node simulates, without failing over', async () => {
      const terms = newTerms();
      const { transaction } = await built(terms, payer(3).address);
      // The fee payer's account read-only: no node takes that, and none even simulates it.
      const readOnly = Buffer.from(transaction.blob, 'base64');
      readOnly[1 + 64 + 1 + 1] = 1;
      const parsed = solana.adapter.parseSubmitted(await payer(3).sign(readOnly.toString('base64')));
      if (!parsed.ok || parsed.value.kind !== 'signed') throw new Error(JSON.stringify(parsed));
      expect(await solana.adapter.verify(parsed.value.transaction, terms, payer(3).address, false)).toMatchObject({
        kind: 'rejected',
      });
      expect(await solana.adapter.ready(2_000)).toBe(true);
    });

    it('returns the lifetime of the blockhash that the wallet put in', async () => {
      const terms = newTerms();
      const { transaction, lifetime } = await built(terms, payer(4).address);
      await solana.node.advance(50);
      const { value } = await solana.node.rpc<{ value: { blockhash: string; lastValidBlockHeight: number } }>(
        'getLatestBlockhash',
        { commitment: 'processed' },
      );
      const parsed = solana.adapter.parseSubmitted(
        await payer(4).sign(transaction.blob, (original) => {
          const message = TransactionMessage.decompile(original.message);
          message.recentBlockhash = value.blockhash;
          return new VersionedTransaction(message.compileToV0Message());
        }),
      );
      if (!parsed.ok || parsed.value.kind !== 'signed') throw new Error('no transaction');
      const verification = await solana.adapter.verify(parsed.value.transaction, terms, payer(4).address, false);
      if (
        verification.kind !== 'verified' ||
        verification.transaction.lifetime.kind !== 'block_height' ||
        lifetime.kind !== 'block_height'
      )
        throw new Error(JSON.stringify(verification));
      expect(verification.transaction.nonce).toBeNull();
      expect(verification.transaction.lifetime.lastValid).toBeGreaterThanOrEqual(BigInt(value.lastValidBlockHeight));
      expect(verification.transaction.lifetime.lastValid).toBeGreaterThanOrEqual(lifetime.lastValid + 50n);
    });

    describe('of what a wallet sent itself with a further instruction', () => {
      const tip: Change = (instructions) => [
        ...instructions,
        SystemProgram.transfer({
          fromPubkey: new PublicKey(payer(3).address),
          toPubkey: new PublicKey(payer(4).address),
          lamports: 1_000,
        }),
      ];
      it('is a payment where it has paid exactly these terms, and none before it has landed', async () => {
        const terms = newTerms();
        const transaction = await signed(terms, payer(3), tip);
        const judge = (asked: PaymentTerms, sent: boolean) =>
          solana.adapter.verify(transaction, asked, payer(3).address, sent);
        expect(await judge(terms, false)).toMatchObject({ kind: 'mismatch' });
        expect(await judge(terms, true)).toEqual({ kind: 'unseen' });
        expect(await solana.adapter.broadcast(transaction)).toEqual({ kind: 'taken' });
        await solana.land();
        expect(await judge(terms, true)).toMatchObject({
          kind: 'verified',
          transaction: { hash: transaction.hash, sender: payer(3).address, lifetime: { kind: 'block_height' } },
        });
        expect(await judge({ ...terms, amount: terms.amount + 1n }, true)).toEqual({
          kind: 'mismatch',
          differs: { amount: { expected: '3000001', actual: '3000000' } },
        });
      });
    });

    it('pays when it lands, also in PYUSD and signed by @solana/kit', async () => {
      const terms = newTerms('PYUSD');
      const by = payer(5);
      const kit = by.signers['@solana/kit'];
      const parsed = solana.adapter.parseSubmitted(
        (await kit?.((await built(terms, by.address)).transaction.blob)) ?? '',
      );
      if (!parsed.ok || parsed.value.kind !== 'signed') throw new Error('no transaction');
      expect(await solana.adapter.verify(parsed.value.transaction, terms, by.address, false)).toMatchObject({
        kind: 'verified',
      });
      expect(await solana.adapter.broadcast(parsed.value.transaction)).toEqual({ kind: 'taken' });
      await solana.land();
      const { value } = await solana.node.rpc<{ value: { amount: string } }>(
        'getTokenAccountBalance',
        await tokenAccountOf(terms.requestor, terms.tokenAddress),
        { commitment: 'processed' },
      );
      expect(value.amount).toBe(terms.amount.toString());
    });
  });

  describe('failover', () => {
    let proxy: RpcProxy;
    beforeAll(async () => {
      proxy = await startRpcProxy(solana.node.rpcUrl);
    });
    afterAll(() => proxy.stop());

    it('broadcasts through the next upstream when the first one accepts and hangs', async () => {
      const pool = solanaPool([proxy.url, solana.node.rpcUrl], 3_000);
      const adapter = new SolanaAdapter(solana.adapter.network, pool);
      const transaction = await signed(newTerms(), payer(6));
      await adapter.ready(5_000);
      proxy.faults = [{ kind: 'swallow' }];
      expect(await adapter.broadcast(transaction)).toEqual({ kind: 'taken' });
      proxy.faults = [];
      await pool.close();
    });

    it.each([
      [-32_005, 'Node is behind by 150 slots'],
      [429, 'Too many requests for a specific RPC call'],
    ])('refuses no payment for an error of the node: %i %s', async (code, message) => {
      const pool = solanaPool([proxy.url]);
      const adapter = new SolanaAdapter(solana.adapter.network, pool);
      const terms = newTerms();
      const transaction = await signed(terms, payer(6));
      proxy.respond = ({ method }) =>
        method === 'simulateTransaction' ? Object.assign(new Error(message), { code }) : undefined;
      const unavailable = { name: 'RpcUnavailableError' };
      await expect(build(terms, payer(6).address, adapter)).rejects.toMatchObject(unavailable);
      await expect(adapter.verify(transaction, terms, payer(6).address, false)).rejects.toMatchObject(unavailable);
      proxy.respond = () => undefined;
      await pool.close();
    });

    it('verifies and broadcasts although the first upstream lags and does not know the blockhash', async () => {
      const pool = solanaPool([proxy.url, solana.node.rpcUrl]);
      const adapter = new SolanaAdapter(solana.adapter.network, pool);
      const terms = newTerms();
      const transaction = await signed(terms, payer(6));
      proxy.respond = ({ method }) =>
        method === 'isBlockhashValid' ? { context: { slot: 1 }, value: false } : undefined;
      expect(await adapter.verify(transaction, terms, payer(6).address, false)).toMatchObject({ kind: 'verified' });
      expect(await adapter.broadcast(transaction)).toEqual({ kind: 'taken' });
      proxy.respond = () => undefined;
      await pool.close();
    });

    it('returns unknown when no upstream gives a clear response', async () => {
      const pool = solanaPool([proxy.url]);
      const adapter = new SolanaAdapter(solana.adapter.network, pool);
      const transaction = await signed(newTerms(), payer(6));
      proxy.respond = ({ method }) =>
        method === 'sendTransaction' ? new Error('the leader is on a break') : undefined;
      expect(await adapter.broadcast(transaction)).toEqual({
        kind: 'unknown',
        reason: expect.stringContaining('the leader is on a break'),
      });
      proxy.respond = () => undefined;
      await pool.close();
    });

    it('does not use an upstream of another network', async () => {
      const pool = solanaPool([proxy.url]);
      const adapter = new SolanaAdapter(solana.adapter.network, pool);
      proxy.respond = ({ method }) =>
        method === 'getGenesisHash' ? '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d' : undefined;
      await expect(build(newTerms(), payer(6).address, adapter)).rejects.toMatchObject({ name: 'RpcUnavailableError' });
      proxy.respond = () => undefined;
      await pool.close();
    });
  });
});

const isUnitLimit = ({ programId, data }: Parameters<Change>[0][number]): boolean =>
  programId.equals(ComputeBudgetProgram.programId) && data[0] === 2;
