import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Address, IntentId, PaymentTerms } from '@pf/domain';
import { type RpcProxy, startRpcProxy } from '@pf/testing/chains';
import { decodeFunctionResult, encodeFunctionData, encodeFunctionResult, type Hex, keccak256, toHex } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { Abis, Account, Transaction } from 'viem/tempo';
import type { BuildResult, SignedTransaction, Verification } from '../../src/index.ts';
import { TempoAdapter } from '../../src/tempo/adapter.ts';
import { type Change, startTempoUnderTest, tempoPool, type TempoPayer, type TempoUnderTest } from './chain.ts';

const FEE_MANAGER = '0xfeec000000000000000000000000000000000000';
const POLICY_REGISTRY = '0x403c000000000000000000000000000000000000';
/** TIP-403: a policy of those who may not, and the one by which all may. */
const BLACKLIST = 1;
const ALL_MAY = 1n;
const CURRENCY = encodeFunctionData({ abi: Abis.tip20, functionName: 'currency' });
const EXPIRING = 2n ** 256n - 1n;

describe('Tempo adapter', () => {
  let chain: TempoUnderTest;
  beforeAll(async () => {
    chain = await startTempoUnderTest();
  });
  afterAll(() => chain.stop());

  function payer(index: number): TempoPayer {
    const found = chain.payers[index];
    if (found === undefined) throw new Error('no such payer');
    return found;
  }
  const tokenOf = (symbol: string): Hex => chain.tempo.tokens[symbol] as Hex;
  function newTerms(amount = 3_000_000n, symbol = 'USDC'): PaymentTerms {
    const token = chain.adapter.token(symbol);
    if (token === null) throw new Error(`Tempo has ${symbol}`);
    return {
      chain: chain.adapter.network.chain,
      tokenAddress: token.address,
      amount,
      requestor: chain.newRecipient(),
      reference: chain.adapter.newReference(),
    };
  }
  const build = (terms: PaymentTerms, fulfiller: string, adapter = chain.adapter): Promise<BuildResult> =>
    adapter.build({
      intentId: 'pi_test' as IntentId,
      terms,
      direction: 'request',
      fulfiller: fulfiller as Address,
      expiresAt: chain.now() + 3_600_000,
    });
  async function built(
    terms: PaymentTerms,
    fulfiller: string,
    adapter = chain.adapter,
  ): Promise<Extract<BuildResult, { kind: 'built' }> & { readonly view: Transaction.TransactionSerializableTempo }> {
    const result = await build(terms, fulfiller, adapter);
    if (result.kind !== 'built') throw new Error(JSON.stringify(result));
    return {
      ...result,
      view: Transaction.deserialize(`0x76${Buffer.from(result.transaction.blob, 'base64').toString('hex').slice(2)}`),
    };
  }
  function parsed(text: string): SignedTransaction {
    const submitted = chain.adapter.parseSubmitted(text);
    if (!submitted.ok || submitted.value.kind !== 'signed') throw new Error(JSON.stringify(submitted));
    return submitted.value.transaction;
  }
  async function signed(terms: PaymentTerms, by: TempoPayer, change?: Change): Promise<SignedTransaction> {
    return parsed(await by.sign((await built(terms, by.address)).transaction.blob, change));
  }
  async function verify(by: TempoPayer, change?: Change, sent = false): Promise<Verification> {
    const terms = newTerms();
    return chain.adapter.verify(await signed(terms, by, change), terms, by.address, sent);
  }
  async function send(from: string, to: string, data: Hex): Promise<void> {
    await chain.tempo.rpc('eth_sendTransaction', { from, to, data, gas: toHex(2_000_000) });
    await chain.tempo.mine();
  }
  const transfer = (to: string, amount: bigint): Hex =>
    encodeFunctionData({ abi: Abis.tip20, functionName: 'transfer', args: [to as Hex, amount] });
  const balance = async (symbol: string, of: string): Promise<bigint> =>
    BigInt(
      await chain.tempo.rpc<string>(
        'eth_call',
        {
          to: tokenOf(symbol),
          data: encodeFunctionData({ abi: Abis.tip20, functionName: 'balanceOf', args: [of as Hex] }),
        },
        'latest',
      ),
    );

  describe('build', () => {
    it('returns one transferWithMemo of type 0x76 that expires, with its fee in units of the fee token', async () => {
      const terms = newTerms();
      const { view, lifetime, transaction } = await built(terms, payer(0).address);
      expect(view).toMatchObject({ chainId: 42_431, feeToken: tokenOf('AlphaUSD').toLowerCase(), nonce: 0 });
      expect(view.calls).toHaveLength(1);
      expect(view.calls[0]?.data?.endsWith(terms.reference.slice(2))).toBe(true);
      expect(lifetime).toEqual({ kind: 'time', validBefore: BigInt(view.validBefore ?? 0) });
      expect(transaction).toMatchObject({
        format: 'tempo_tip20',
        ataRentLamports: null,
        estimatedFeeLamports: null,
        estimatedFeeEth: null,
      });
      // The fee that is charged is what was estimated, or a little less: the base fee falls on a quiet chain.
      const before = await balance('AlphaUSD', payer(0).address);
      await chain.adapter.broadcast(parsed(await payer(0).sign(transaction.blob)));
      await chain.tempo.mine();
      const charged = before - (await balance('AlphaUSD', payer(0).address));
      const estimated = BigInt(Math.round(Number(transaction.estimatedFeeUsdc) * 1e6));
      expect(transaction.estimatedFeeUsdc).toMatch(/^0\.\d{1,6}$/);
      expect(charged).toBeGreaterThan(0n);
      expect(charged).toBeLessThanOrEqual(estimated);
      expect(charged).toBeGreaterThan(estimated / 2n);
    });

    it('uses expiring nonces, and a nonce key of its own only on anvil', async () => {
      expect((await built(newTerms(), payer(0).address)).view.nonceKey).toBeLessThan(2n ** 128n);
      const proxy = await startRpcProxy(chain.tempo.rpcUrl);
      const pool = tempoPool([proxy.url]);
      const adapter = new TempoAdapter(chain.adapter.network, pool, () => chain.now());
      proxy.respond = ({ method }) => (method === 'web3_clientVersion' ? 'tempo/v1.9.0' : undefined);
      expect((await built(newTerms(), payer(0).address, adapter)).view).toMatchObject({ nonceKey: EXPIRING, nonce: 0 });
      proxy.respond = ({ method }) =>
        method === 'web3_clientVersion' ? new Error('the method is not available') : undefined;
      expect((await built(newTerms(), payer(0).address, adapter)).view).toMatchObject({ nonceKey: EXPIRING });
      await pool.close();
      await proxy.stop();
    });

    it("pays the fee in the payer's fee token, else in the payment's, else in any dollar token it has", async () => {
      const poor = Account.fromSecp256k1(`0x${'c1'.repeat(32)}`).address;
      await send(payer(1).address, tokenOf('USDC'), transfer(poor, 20_000_000n));
      const feeTokenOf = async (terms = newTerms()): Promise<unknown> => (await built(terms, poor)).view.feeToken;
      expect(await feeTokenOf()).toBe(tokenOf('USDC').toLowerCase());
      // This call is of Ethereum's kind, for which anvil wants to see ether.
      await chain.tempo.rpc('anvil_setBalance', poor, toHex(10n ** 18n));
      await chain.tempo.rpc('anvil_impersonateAccount', poor);
      await send(payer(1).address, tokenOf('BetaUSD'), transfer(poor, 1_000_000n));
      await send(
        poor,
        FEE_MANAGER,
        encodeFunctionData({ abi: Abis.feeManager, functionName: 'setUserToken', args: [tokenOf('BetaUSD')] }),
      );
      expect(await feeTokenOf()).toBe(tokenOf('BetaUSD').toLowerCase());
      await send(poor, tokenOf('BetaUSD'), transfer(payer(1).address, 900_000n));
      await chain.tempo.rpc('anvil_setNextBlockBaseFeePerGas', toHex(10n ** 12n));
      await chain.tempo.mine();
      // It has too little of the one that it has chosen, and dollars in others.
      expect(await feeTokenOf()).toBe(tokenOf('USDC').toLowerCase());
      // Of that one it has the amount, and nothing beside it for the fee.
      expect(await build(newTerms(20_000_000n), poor)).toEqual({
        kind: 'rejected',
        reason: expect.stringMatching(/^the payer has 0\.\d+ BetaUSD for the fee and may need [01]\.\d+ BetaUSD$/),
      });
      await chain.tempo.rpc('anvil_setNextBlockBaseFeePerGas', toHex(10n ** 10n));
      await chain.tempo.mine();
    });

    it("pays the fee in pathUSD where the payment's token is not a dollar token", async () => {
      const proxy = await startRpcProxy(chain.tempo.rpcUrl);
      const pool = tempoPool([proxy.url]);
      const adapter = new TempoAdapter(chain.adapter.network, pool, () => chain.now());
      const euros = encodeFunctionResult({ abi: Abis.tip20, functionName: 'currency', result: 'EUR' });
      proxy.respond = ({ method, params }) =>
        method === 'eth_call' && (params[0] as { data?: string }).data === CURRENCY ? euros : undefined;
      const holder = Account.fromSecp256k1(`0x${'c3'.repeat(32)}`).address;
      await send(payer(1).address, tokenOf('USDC'), transfer(holder, 3_000_000n));
      // The payer has no pathUSD.
      expect(await build(newTerms(), holder, adapter)).toEqual({
        kind: 'rejected',
        reason: expect.stringMatching(/^the payer has 0 pathUSD for the fee and may need 0\.\d+ pathUSD$/),
      });
      await send(payer(1).address, tokenOf('pathUSD'), transfer(holder, 1_000_000n));
      expect((await built(newTerms(), holder, adapter)).view.feeToken).toBe(tokenOf('pathUSD').toLowerCase());
      await pool.close();
      await proxy.stop();
    });

    it("refuses a requestor whom the issuer's policy forbids, whoever pays", async () => {
      const { tempo } = chain;
      const registry = (functionName: 'createPolicy' | 'modifyPolicyBlacklist', args: never): Hex =>
        encodeFunctionData({ abi: Abis.tip403Registry, functionName, args });
      const owner = (await tempo.rpc<readonly Hex[]>('eth_accounts'))[tempo.wallets.length] ?? '0x';
      const answer = await tempo.rpc<Hex>(
        'eth_call',
        { from: owner, to: POLICY_REGISTRY, data: registry('createPolicy', [owner, BLACKLIST] as never) },
        'latest',
      );
      const policy = decodeFunctionResult({ abi: Abis.tip403Registry, functionName: 'createPolicy', data: answer });
      const setPolicy = (id: bigint): Promise<void> =>
        tempo.asTokenOwner(
          tokenOf('USDC'),
          encodeFunctionData({ abi: Abis.tip20, functionName: 'changeTransferPolicyId', args: [id] }),
        );
      const terms = newTerms();
      await tempo.asTokenOwner(POLICY_REGISTRY, registry('createPolicy', [owner, BLACKLIST] as never));
      await tempo.asTokenOwner(
        POLICY_REGISTRY,
        registry('modifyPolicyBlacklist', [policy, terms.requestor, true] as never),
      );
      await tempo.asTokenOwner(
        POLICY_REGISTRY,
        registry('modifyPolicyBlacklist', [policy, payer(8).address, true] as never),
      );
      await setPolicy(policy);
      const [barred, other] = [await build(terms, payer(0).address), await build(newTerms(), payer(8).address)];
      await setPolicy(ALL_MAY);
      expect(barred).toEqual({
        kind: 'not_payable',
        param: 'requestor',
        reason: 'may not receive this token: its issuer has blocked the address',
      });
      // The same refusal, but of the payer's doing.
      expect(other).toEqual({ kind: 'rejected', reason: "the transfer would fail: the token's policy forbids it" });
    });

    it('rejects a payer who lacks the amount or the fee', async () => {
      const poor = Account.fromSecp256k1(`0x${'c2'.repeat(32)}`).address;
      expect(await build(newTerms(), poor)).toEqual({
        kind: 'rejected',
        reason: 'the payer has 0 USDC.e and needs 3 USDC.e',
      });
      await send(payer(1).address, tokenOf('USDC'), transfer(poor, 3_000_000n));
      expect(await build(newTerms(), poor)).toEqual({
        kind: 'rejected',
        reason: expect.stringMatching(
          /^the payer has 3 USDC\.e and needs 3 USDC\.e, and up to 0\.\d+ more for the fee$/,
        ),
      });
    });

    it('refuses contracts and virtual addresses as payers, and requestors that cannot be paid', async () => {
      const { address } = payer(2);
      await chain.tempo.rpc('anvil_setCode', address, '0x600160005260206000f3');
      expect(await build(newTerms(), address)).toMatchObject({ kind: 'not_payable', param: 'fulfiller' });
      await chain.tempo.rpc('anvil_setCode', address, `0xef0100${'44'.repeat(20)}`);
      expect(await build(newTerms(), address)).toMatchObject({ kind: 'built' });
      await chain.tempo.rpc('anvil_setCode', address, '0x');
      expect(await build(newTerms(), `0x12345678${'fd'.repeat(10)}010203040506`)).toMatchObject({
        kind: 'not_payable',
        param: 'fulfiller',
      });
      expect(
        await build({ ...newTerms(), requestor: '0x20C0000000000000000000000000000000000001' as Address }, address),
      ).toMatchObject({ kind: 'not_payable', param: 'requestor' });
    });

    it('expires no later than the intent, also on a chain whose clock is ahead', async () => {
      const behind = new TempoAdapter(chain.adapter.network, chain.pool, () => chain.now() - 86_400_000);
      const head = await chain.tempo.rpc<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false);
      const make = (expiresAt: number): Promise<BuildResult> =>
        behind.build({
          intentId: 'pi_test' as IntentId,
          terms: newTerms(),
          direction: 'request',
          fulfiller: payer(3).address,
          expiresAt,
        });
      const ours = chain.now() - 86_400_000;
      const short = await make(ours + 60_000);
      if (short.kind !== 'built' || short.lifetime.kind !== 'time') throw new Error(JSON.stringify(short));
      const left = short.lifetime.validBefore - BigInt(head.timestamp);
      expect(left).toBeGreaterThan(0n);
      expect(left).toBeLessThanOrEqual(61n);
      expect(await make(ours - 1_000)).toEqual({
        kind: 'rejected',
        reason: 'the payment intent expires before a transaction could land',
      });
    });
  });

  describe('verify', () => {
    it.each<[string, Change, string]>([
      ['a past validBefore', (transaction) => ({ ...transaction, validBefore: 1_700_000_000 }), 'it has expired'],
      [
        'a validAfter in the future',
        (transaction) => ({ ...transaction, validAfter: (transaction.validBefore ?? 0) - 1 }),
        'it cannot land yet',
      ],
      [
        'a validBefore far ahead',
        (transaction) => ({ ...transaction, validBefore: (transaction.validBefore ?? 0) + 3_600 }),
        'too far ahead',
      ],
      ['a used nonce', (transaction) => ({ ...transaction, nonceKey: 0n, nonce: 0 }), 'already used'],
      [
        'an expiring nonce that is not 0',
        (transaction) => ({ ...transaction, nonceKey: EXPIRING, nonce: 1 }),
        'must be 0',
      ],
      [
        'a fee below the base fee',
        (transaction) => ({ ...transaction, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }),
        'base fee',
      ],
      ['too little gas', (transaction) => ({ ...transaction, gas: 40_000n }), 'would fail'],
      [
        'a fee that the payer cannot afford',
        (transaction) => ({ ...transaction, feeToken: tokenOf('USDC'), maxFeePerGas: 10n ** 20n }),
        'more for the fee',
      ],
      [
        'an unknown fee token',
        (transaction) => ({ ...transaction, feeToken: '0x20c000000000000000000000000000000000dead' }),
        'its fee token',
      ],
    ])('rejects %s, unless the transaction was already sent', async (_what, change, reason) => {
      await send(payer(4).address, tokenOf('AlphaUSD'), transfer(payer(5).address, 1n));
      expect(await verify(payer(4), change)).toEqual({ kind: 'rejected', reason: expect.stringContaining(reason) });
      expect(await verify(payer(4), change, true)).toMatchObject({ kind: 'verified' });
    });

    it('returns the nonce that only one transaction can use, and null for an expiring nonce', async () => {
      expect(await verify(payer(4), (transaction) => ({ ...transaction, nonceKey: 77n, nonce: 0 }))).toMatchObject({
        kind: 'verified',
        transaction: { nonce: '77:0', lifetime: { kind: 'time' } },
      });
      expect(await verify(payer(4), (transaction) => ({ ...transaction, nonceKey: EXPIRING, nonce: 0 }))).toMatchObject(
        { kind: 'verified', transaction: { nonce: null } },
      );
    });

    it('rejects a payer who has spent the money in the meantime', async () => {
      const terms = newTerms();
      const transaction = await signed(terms, payer(6));
      await chain.spoil(payer(6));
      expect(await chain.adapter.verify(transaction, terms, payer(6).address, false)).toEqual({
        kind: 'rejected',
        reason: expect.stringContaining('has 0 base units'),
      });
    });
  });

  describe('signature types', () => {
    it.each([
      ['a P256 key', Account.fromP256(`0x${'d1'.repeat(32)}`)],
      [
        'a passkey',
        Account.fromHeadlessWebAuthn(`0x${'d2'.repeat(32)}`, {
          rpId: 'wallet.example',
          origin: 'https://wallet.example',
        }),
      ],
    ])('lands with %s', async (_what, account) => {
      await send(payer(1).address, tokenOf('USDC'), transfer(account.address, 10_000_000n));
      const terms = newTerms();
      const { view } = await built(terms, account.address);
      const transaction = parsed(await account.signTransaction(view));
      expect(await chain.adapter.verify(transaction, terms, account.address as string as Address, false)).toMatchObject(
        { kind: 'verified' },
      );
      expect(await chain.adapter.broadcast(transaction)).toEqual({ kind: 'taken' });
      await chain.tempo.mine();
      expect(await chain.balanceOf(terms.requestor)).toBe(terms.amount);
      expect(await chain.adapter.fetchSent(transaction.hash)).toEqual({
        hash: transaction.hash,
        raw: Buffer.from(transaction.raw),
      });
    });

    it('accepts a transaction whose fee another account pays', async () => {
      const [terms, by, feePayer] = [newTerms(), payer(7), Account.fromSecp256k1(payer(0).privateKey)];
      const { view } = await built(terms, by.address);
      const transaction = parsed(
        await Account.fromSecp256k1(by.privateKey).signTransaction({ ...view, feePayer } as never),
      );
      const before = await balance('AlphaUSD', by.address);
      expect(await chain.adapter.verify(transaction, terms, by.address, false)).toMatchObject({
        kind: 'verified',
        transaction: { sender: by.address },
      });
      expect(await chain.adapter.broadcast(transaction)).toEqual({ kind: 'taken' });
      await chain.tempo.mine();
      expect(await chain.balanceOf(terms.requestor)).toBe(terms.amount);
      expect(await balance('AlphaUSD', by.address)).toBe(before);
      expect(await chain.adapter.fetchSent(transaction.hash)).toEqual({
        hash: transaction.hash,
        raw: Buffer.from(transaction.raw),
      });
    });

    it('builds for a payer without any fee what a sponsor signs after it, and cannot change', async () => {
      const [terms, account] = [newTerms(), Account.fromSecp256k1(generatePrivateKey())];
      await send(payer(1).address, tokenOf('USDC'), transfer(account.address, terms.amount));
      expect(await build(terms, account.address)).toMatchObject({ kind: 'rejected' });
      const result = await chain.adapter.build({
        intentId: 'pi_test' as IntentId,
        terms,
        direction: 'request',
        fulfiller: account.address as string as Address,
        expiresAt: chain.now() + 3_600_000,
        sponsored: true,
      });
      if (result.kind !== 'built') throw new Error(JSON.stringify(result));
      expect(result.transaction.estimatedFeeUsdc).toBeNull();
      const unsigned = Transaction.deserialize(`0x${Buffer.from(result.transaction.blob, 'base64').toString('hex')}`);
      const handed = await account.signTransaction({ ...unsigned, feePayer: true } as never);
      const feePayer = Account.fromSecp256k1(payer(0).privateKey);
      const approve = async (change: object = {}): Promise<Hex> =>
        Transaction.serialize({
          ...(Transaction.deserialize(handed as never) as object),
          feeToken: tokenOf('AlphaUSD'),
          feePayer,
          ...change,
        } as never);
      const judge = async (text: string): Promise<Verification> =>
        chain.adapter.verify(parsed(text), terms, account.address as string as Address, false);
      expect(chain.adapter.parseSubmitted(handed)).toMatchObject({ ok: true, value: { kind: 'handed' } });
      expect(await judge(await approve({ gas: 1_000_000n }))).toMatchObject({
        kind: 'mismatch',
        differs: { sender: {} },
      });
      const approved = await approve();
      expect(await judge(approved)).toMatchObject({ kind: 'verified', transaction: { sender: account.address } });
      expect(await chain.adapter.broadcast(parsed(approved))).toEqual({ kind: 'taken' });
      await chain.tempo.mine();
      expect(await chain.balanceOf(terms.requestor)).toBe(terms.amount);
      expect(await balance('USDC', account.address)).toBe(0n);
    });

    describe('of a payment that a wallet sent as another type of transaction', () => {
      const withMemo = ({ requestor, reference }: PaymentTerms, amount: bigint): Hex =>
        encodeFunctionData({
          abi: Abis.tip20,
          functionName: 'transferWithMemo',
          args: [requestor as string as Hex, amount, reference as string as Hex],
        });
      /** By the eighth payer. @returns what is said of it */
      async function sent(terms: PaymentTerms, data: Hex, isMined = true, fulfiller = payer(8).address) {
        const text = await chain.tempo.rpc<Hex>('eth_sendTransaction', {
          from: payer(8).address,
          to: tokenOf('USDC'),
          data,
          gas: toHex(500_000),
        });
        if (isMined) await chain.tempo.mine();
        const fetched = await chain.adapter.fetchSent(text as string as SignedTransaction['hash']);
        if (fetched === null) throw new Error('the chain shows it');
        return { hash: fetched.hash, verification: await chain.adapter.verify(fetched, terms, fulfiller, true) };
      }

      it('follows it where its receipt shows a payment of exactly these terms', async () => {
        const terms = newTerms();
        const { hash, verification } = await sent(terms, withMemo(terms, terms.amount));
        expect(verification).toMatchObject({
          kind: 'verified',
          transaction: { hash, sender: payer(8).address, nonce: null, lifetime: { kind: 'time' }, terms },
        });
      });

      it('says nothing of it before it is in a block', async () => {
        const terms = newTerms();
        const { verification } = await sent(terms, withMemo(terms, terms.amount), false);
        expect(verification).toEqual({ kind: 'unseen' });
        await chain.tempo.mine();
      });

      it.each<[string, (terms: PaymentTerms) => readonly [Hex, Address?], object]>([
        ['the amount', (terms) => [withMemo(terms, terms.amount - 1n)], { amount: { actual: '2999999' } }],
        ['the payer', (terms) => [withMemo(terms, terms.amount), payer(7).address], { sender: {} }],
        [
          'all where nothing in it names the payment intent',
          (terms) => [transfer(terms.requestor, terms.amount)],
          { type: { expected: '0x76', actual: '0x02' } },
        ],
      ])('names what differs: %s', async (_what, of, differs) => {
        const terms = newTerms();
        const [data, fulfiller] = of(terms);
        const { verification } = await sent(terms, data, true, fulfiller);
        expect(verification).toMatchObject({ kind: 'mismatch', differs });
      });
    });
  });

  it('accepts the addresses of wallets, and none of system contracts or tokens', () => {
    const ok = payer(0).address;
    expect(chain.adapter.parseAddress(ok.toLowerCase())).toEqual({ ok: true, value: ok });
    expect(chain.adapter.parseAddress(`0x12345678${'fd'.repeat(10)}010203040506`)).toMatchObject({ ok: true });
    for (const own of [
      FEE_MANAGER,
      '0x20fc000000000000000000000000000000000000',
      '0xB10C000000000000000000000000000000000000',
      `0x${'00'.repeat(20)}`,
      tokenOf('USDC'),
      '0x20c000000000000000000000000000000000dead',
    ]) {
      expect(chain.adapter.parseAddress(own.toLowerCase())).toMatchObject({ ok: false });
    }
  });

  describe('failover', () => {
    let proxy: RpcProxy;
    beforeAll(async () => {
      proxy = await startRpcProxy(chain.tempo.rpcUrl);
    });
    afterAll(() => proxy.stop());

    it('broadcasts through the next upstream when the first one accepts and hangs', async () => {
      const pool = tempoPool([proxy.url, chain.tempo.rpcUrl], 3_000);
      const adapter = new TempoAdapter(chain.adapter.network, pool, () => chain.now());
      const transaction = await signed(newTerms(), payer(8));
      await adapter.ready(1_000);
      proxy.faults = [{ kind: 'swallow' }];
      expect(await adapter.broadcast(transaction)).toEqual({ kind: 'taken' });
      proxy.faults = [];
      await pool.close();
    });

    it.each([
      [-32_000, 'header not found'],
      [429, 'Too many requests: execution of eth_call'],
    ])('refuses no payment for an error of the node: %i %s', async (code, message) => {
      const pool = tempoPool([proxy.url]);
      const adapter = new TempoAdapter(chain.adapter.network, pool, () => chain.now());
      const terms = newTerms();
      const transaction = await signed(terms, payer(8));
      // The transfer alone: what else is called has no refusal that counts.
      proxy.respond = ({ method, params }) =>
        ['eth_call', 'eth_estimateGas'].includes(method) && JSON.stringify(params).includes(terms.reference.slice(2))
          ? Object.assign(new Error(message), { code })
          : undefined;
      const unavailable = { name: 'RpcUnavailableError' };
      await expect(build(terms, payer(8).address, adapter)).rejects.toMatchObject(unavailable);
      await expect(adapter.verify(transaction, terms, payer(8).address, false)).rejects.toMatchObject(unavailable);
      proxy.respond = () => undefined;
      await pool.close();
    });

    it.each([
      ['already known', 'taken'],
      ['insufficient fee token balance: required 5, but only have 4', 'refused'],
      ['insufficient liquidity in FeeAMM pool to swap fee tokens', 'refused'],
      ['tempo transaction error: transaction expired: current block timestamp 2 >= validBefore 1', 'refused'],
      ['WebAuthn signature verification failed: challenge', 'refused'],
      ['upstream sequencer is unreachable', 'unknown'],
    ])('understands a node that returns "%s": %s', async (message, kind) => {
      const pool = tempoPool([proxy.url]);
      const adapter = new TempoAdapter(chain.adapter.network, pool, () => chain.now());
      proxy.respond = ({ method }) => (method === 'eth_sendRawTransaction' ? new Error(message) : undefined);
      const raw = Buffer.from('76c0', 'hex');
      expect(
        await adapter.broadcast({ hash: keccak256(raw) as string as SignedTransaction['hash'], raw }),
      ).toMatchObject({ kind });
      proxy.respond = () => undefined;
      await pool.close();
    });
  });
});
