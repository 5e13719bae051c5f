import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Address, IntentId, PaymentTerms } from '@pf/domain';
import { type RpcProxy, startRpcProxy } from '@pf/testing/chains';
import { Transaction } from 'ethers/transaction';
import { Wallet } from 'ethers/wallet';
import { BaseAdapter } from '../../src/base/adapter.ts';
import { encodePayment } from '../../src/base/calldata.ts';
import type { BuildResult, SignedTransaction, Verification } from '../../src/index.ts';
import { type BaseUnderTest, type EvmPayer, poolOver, startBase } from './chain.ts';

const GAS_PRICE_ORACLE = '0x420000000000000000000000000000000000000F';
/** A contract that answers half an ETH to every question: PUSH8 0x06f05b59d3b20000, stored and returned. */
const HALF_AN_ETH = '0x6706f05b59d3b2000060005260206000f3';

describe('Base adapter', () => {
  let base: BaseUnderTest;
  beforeAll(async () => {
    base = await startBase();
  });
  afterAll(() => base.stop());

  function payer(index: number): EvmPayer {
    const found = base.payers[index];
    if (found === undefined) throw new Error('no such payer');
    return found;
  }
  function newTerms(amount = 3_000_000n): PaymentTerms {
    const token = base.adapter.token('USDC');
    if (token === null) throw new Error('Base has USDC');
    return {
      chain: base.adapter.network.chain,
      tokenAddress: token.address,
      amount,
      requestor: base.newRecipient(),
      reference: base.adapter.newReference(),
    };
  }
  const build = (terms: PaymentTerms, fulfiller: Address, adapter = base.adapter): Promise<BuildResult> =>
    adapter.build({ intentId: 'pi_test' as IntentId, terms, direction: 'request', fulfiller, expiresAt: 0 });
  async function blobOf(terms: PaymentTerms, fulfiller: Address): Promise<string> {
    const built = await build(terms, fulfiller);
    if (built.kind !== 'built') throw new Error(JSON.stringify(built));
    return built.transaction.blob;
  }
  type Change = Parameters<EvmPayer['sign']>[1];
  async function signed(terms: PaymentTerms, by: EvmPayer, change?: Change): Promise<SignedTransaction> {
    const parsed = base.adapter.parseSubmitted(await by.sign(await blobOf(terms, by.address), change));
    if (!parsed.ok || parsed.value.kind !== 'signed') throw new Error('no transaction');
    return parsed.value.transaction;
  }
  async function verify(by: EvmPayer, change?: Change, sent = false): Promise<Verification> {
    const terms = newTerms();
    return base.adapter.verify(await signed(terms, by, change), terms, by.address, sent);
  }

  describe('build', () => {
    it('returns an EIP-1559 transfer with the reference after its arguments, signed by ethers', async () => {
      const terms = newTerms();
      const text = `0x${Buffer.from(await blobOf(terms, payer(0).address), 'base64').toString('hex')}`;
      const unsigned = Transaction.from(text);
      expect(unsigned).toMatchObject({ type: 2, chainId: 84_532n, to: terms.tokenAddress, value: 0n });
      expect(unsigned.data.endsWith(terms.reference.slice(2))).toBe(true);
      const wallet = new Wallet(payer(0).privateKey);
      const parsed = base.adapter.parseSubmitted(await wallet.signTransaction(unsigned));
      if (!parsed.ok || parsed.value.kind !== 'signed') throw new Error('ethers made no transaction');
      expect(await base.adapter.verify(parsed.value.transaction, terms, payer(0).address, false)).toMatchObject({
        kind: 'verified',
      });
    });

    it('estimates the fee in ETH: gas times base fee and tip, plus the L1 fee where the chain has one', async () => {
      const before = await build(newTerms(), payer(0).address);
      await base.anvil.rpc('anvil_setCode', GAS_PRICE_ORACLE, HALF_AN_ETH);
      const after = await build(newTerms(), payer(0).address);
      await base.anvil.rpc('anvil_setCode', GAS_PRICE_ORACLE, '0x');
      if (before.kind !== 'built' || after.kind !== 'built') throw new Error('both can be built');
      const wei = ({ transaction: { estimatedFeeEth } }: typeof before): bigint =>
        BigInt((estimatedFeeEth ?? '').split('.')[1]?.padEnd(18, '0') ?? 0);
      expect(before.transaction.estimatedFeeEth).toMatch(/^0\.\d{1,18}$/);
      // The base fee moves between the two builds, by far less than what the oracle adds.
      const added = wei(after) - wei(before) - 500_000_000_000_000_000n;
      expect(added < 0n ? -added : added).toBeLessThan(1_000_000_000_000n);
      expect(before.transaction).toMatchObject({
        format: 'evm_rlp',
        ataRentLamports: null,
        estimatedFeeLamports: null,
        estimatedFeeUsdc: null,
      });
    });

    it('returns smart accounts the call to make, and asks them for no ETH', async () => {
      const { address } = payer(1);
      const ether = await base.anvil.rpc<string>('eth_getBalance', address, 'latest');
      const terms = newTerms();
      for (const [code, estimatedFeeEth] of [
        ['0x600160005260206000f3', null],
        [`0xef0100${'44'.repeat(20)}`, expect.stringMatching(/^0\.0/)],
      ]) {
        await base.anvil.rpc('anvil_setCode', address, code);
        await base.anvil.rpc('anvil_setBalance', address, '0x0');
        const built = await build(terms, address);
        expect(built).toMatchObject({ kind: 'built', transaction: { estimatedFeeEth } });
        if (built.kind !== 'built') throw new Error('not built');
        const { to, data } = Transaction.from(`0x${Buffer.from(built.transaction.blob, 'base64').toString('hex')}`);
        expect({ to, data }).toEqual({
          to: terms.tokenAddress,
          data: encodePayment(terms.requestor, terms.amount, terms.reference),
        });
      }
      await base.anvil.rpc('anvil_setCode', address, '0x');
      await base.anvil.rpc('anvil_setBalance', address, ether);
    });

    it('rejects a payer who lacks tokens or ETH, or whom the token contract refuses', async () => {
      const poor = '0x00000000000000000000000000000000000A11cE' as Address;
      expect(await build(newTerms(), poor)).toEqual({
        kind: 'rejected',
        reason: 'the payer has 0 USDC and needs 3 USDC',
      });
      await base.anvil.rpc('anvil_setBalance', payer(2).address, '0x1');
      expect(await build(newTerms(), payer(2).address)).toMatchObject({
        kind: 'rejected',
        reason: expect.stringContaining('ETH for fees'),
      });
      await base.spoil(payer(3));
      expect(await build(newTerms(), payer(3).address)).toEqual({
        kind: 'rejected',
        reason: expect.stringContaining('blacklisted'),
      });
      // Enough for the gas, but not for the place on L1 too, which costs half an ETH.
      await base.anvil.rpc('anvil_setBalance', payer(2).address, '0x16345785d8a0000');
      expect(await build(newTerms(), payer(2).address)).toMatchObject({ kind: 'built' });
      await base.anvil.rpc('anvil_setCode', GAS_PRICE_ORACLE, HALF_AN_ETH);
      expect(await build(newTerms(), payer(2).address)).toEqual({
        kind: 'rejected',
        reason: expect.stringMatching(/^the payer has 0\.1 ETH for fees and may need 0\.5\d+ ETH$/),
      });
      await base.anvil.rpc('anvil_setCode', GAS_PRICE_ORACLE, '0x');
    });

    it('refuses a requestor whom the token issuer has blocked, whoever pays', async () => {
      const terms = newTerms();
      await base.anvil.asTokenOwner(terms.tokenAddress, 'blacklist', [terms.requestor]);
      expect(await build(terms, payer(0).address)).toEqual({
        kind: 'not_payable',
        param: 'requestor',
        reason: 'may not receive this token: its issuer has blocked the address',
      });
    });

    it('reuses a build until its nonce is used, or while the base fee exceeds half of its maximum', async () => {
      const baseFeeIs = async (wei: bigint): Promise<void> => {
        await base.anvil.rpc('anvil_setNextBlockBaseFeePerGas', `0x${wei.toString(16)}`);
        await base.anvil.mine();
      };
      await baseFeeIs(1_000_000_000n);
      const terms = newTerms();
      const built = await build(terms, payer(4).address);
      if (built.kind !== 'built') throw new Error('it can be built');
      const made = {
        version: 2,
        fulfiller: payer(4).address,
        transaction: built.transaction,
        lifetime: built.lifetime,
      };
      expect(await base.adapter.isReusable(made)).toBe(true);
      await baseFeeIs(1_200_000_000n);
      expect(await base.adapter.isReusable(made)).toBe(true);
      // It pays 2.6 to 3.1 gwei: that is more, but full blocks would outgrow it while a person signs.
      await baseFeeIs(1_700_000_000n);
      expect(await base.adapter.isReusable(made)).toBe(false);
      await baseFeeIs(1_000_000_000n);
      expect(await base.adapter.isReusable(made)).toBe(true);
      await base.anvil.rpc('anvil_setNonce', payer(4).address, '0x5');
      expect(await base.adapter.isReusable(made)).toBe(false);
    });
  });

  describe('verify', () => {
    it.each<[string, NonNullable<Change>, string]>([
      [
        'a nonce that leaves a gap',
        (transaction) => ({ ...transaction, nonce: (transaction.nonce ?? 0) + 1 }),
        'leaves a gap',
      ],
      [
        'a fee below the base fee',
        (transaction) => ({ ...transaction, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }),
        'base fee',
      ],
      ['too little gas', (transaction) => ({ ...transaction, gas: 30_000n }), 'would fail'],
      [
        'a fee that the payer cannot afford',
        (transaction) => ({ ...transaction, maxFeePerGas: 10n ** 20n }),
        'the payer has',
      ],
    ])('rejects %s, unless the transaction was already sent', async (_what, change, reason) => {
      expect(await verify(payer(5), change)).toEqual({ kind: 'rejected', reason: expect.stringContaining(reason) });
      expect(await verify(payer(5), change, true)).toMatchObject({ kind: 'verified' });
    });

    it('rejects a nonce that another transaction has used', async () => {
      const terms = newTerms();
      const transaction = await signed(terms, payer(6));
      await base.kill(transaction, payer(6));
      expect(await base.adapter.verify(transaction, terms, payer(6).address, false)).toMatchObject({
        kind: 'rejected',
        reason: expect.stringContaining('already used'),
      });
      // Only the chain's history proves that it has not landed itself.
      expect(await base.adapter.broadcast(transaction)).toMatchObject({ kind: 'unknown' });
    });

    it('accepts a nonce after pending transactions, and returns it', async () => {
      const first = newTerms();
      expect(await base.adapter.broadcast(await signed(first, payer(7)))).toEqual({ kind: 'taken' });
      expect(await verify(payer(7))).toMatchObject({
        kind: 'verified',
        transaction: { nonce: '1', lifetime: { kind: 'unlimited' } },
      });
    });
  });

  describe('failover', () => {
    let proxy: RpcProxy;
    beforeAll(async () => {
      proxy = await startRpcProxy(base.anvil.rpcUrl);
    });
    afterAll(() => proxy.stop());

    it('broadcasts through the next upstream when the first one accepts and hangs', async () => {
      const pool = poolOver([proxy.url, base.anvil.rpcUrl], 3_000);
      const adapter = new BaseAdapter(base.adapter.network, pool);
      const transaction = await signed(newTerms(), payer(8));
      await adapter.ready(1_000);
      proxy.faults = [{ kind: 'swallow' }];
      expect(await adapter.broadcast(transaction)).toEqual({ kind: 'taken' });
      await pool.close();
    });

    it.each([
      [-32_000, 'header not found'],
      [429, 'Too many requests: execution of eth_call'],
    ])('refuses no payment for an error of the node: %i %s', async (code, message) => {
      const pool = poolOver([proxy.url]);
      const adapter = new BaseAdapter(base.adapter.network, pool);
      const terms = newTerms();
      const transaction = await signed(terms, payer(8));
      proxy.faults = [];
      proxy.respond = ({ method }) =>
        ['eth_call', 'eth_estimateGas'].includes(method) ? Object.assign(new Error(message), { code }) : undefined;
      const unavailable = { name: 'RpcUnavailableError' };
      await expect(build(terms, payer(8).address, adapter)).rejects.toMatchObject(unavailable);
      await expect(adapter.verify(transaction, terms, payer(8).address, false)).rejects.toMatchObject(unavailable);
      proxy.respond = () => undefined;
      await pool.close();
    });

    it('throws RpcUnavailableError when no upstream responds', async () => {
      const pool = poolOver([proxy.url], 300);
      proxy.faults = [{ kind: 'status', status: 503 }];
      const adapter = new BaseAdapter(base.adapter.network, pool);
      await expect(build(newTerms(), payer(8).address, adapter)).rejects.toMatchObject({
        name: 'RpcUnavailableError',
        retryAfterSeconds: 2,
      });
      await expect(adapter.fetchSent(adapter.synthetic().hash)).rejects.toMatchObject({ name: 'RpcUnavailableError' });
      await pool.close();
    });
  });
});
