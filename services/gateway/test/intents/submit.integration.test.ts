import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { depositIdOf, partitionOf, type RelayedCall, type TypedData } from '@pf/contracts';
import { createStore, findIntent } from '@pf/database';
import {
  type AccountId,
  type Address,
  type ChainId,
  COUNTED_MAX,
  type IntentId,
  type Observation,
  type PaymentIntent,
  type TokenAddress,
  type TransactionHash,
  type Transfer,
} from '@pf/domain';
import { deposits, samples } from '@pf/domain/testing';
import { type ApiClient, apiClient, type Cluster, startCluster, until } from '@pf/testing';
import { type Anvil, type RpcFault, type RpcProxy, startAnvil, startRpcProxy } from '@pf/testing/chains';
import { type EvmWallet, evmWallet } from '@pf/testing/wallets';

// Each request waits for a real pipeline, on a machine that may be busy.
const CHAIN = 'eip155:84532';
/** Makes the next broadcast fail, and only that one. */
const ONCE = { methods: ['eth_sendRawTransaction'], times: 1 } as const;
const UNAVAILABLE: RpcFault = { kind: 'cut' };

describe('payments on a local chain without a watcher', () => {
  let anvil: Anvil;
  let proxy: RpcProxy;
  let cluster: Cluster;
  let api: ApiClient;
  let payer: EvmWallet;
  let rival: EvmWallet;
  let merchant: string;
  let usdc: string;

  const wallet = (index: number): EvmWallet =>
    evmWallet(anvil, anvil.wallets[index] ?? { address: '', privateKey: '' });

  beforeAll(async () => {
    [anvil, cluster] = await Promise.all([startAnvil(), startCluster()]);
    proxy = await startRpcProxy(anvil.rpcUrl);
    const [gateway] = await Promise.all([
      cluster.start('gateway', { env: { RPC_BASE_SEPOLIA: proxy.url } }),
      cluster.start('intent'),
    ]);
    api = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
    [payer, rival] = [wallet(0), wallet(1)];
    merchant = wallet(2).address;
    usdc = anvil.tokens['USDC'] ?? '';
  });
  afterEach(async () => {
    expect(proxy.faults.filter(({ times }) => times !== undefined)).toEqual([]);
    proxy.faults = [];
    // Transactions left in the mempool would raise the nonces of the next test's builds.
    await anvil.mine();
  });
  afterAll(async () => {
    await cluster.close();
    await proxy.stop();
    await anvil.stop();
  });

  async function create(more: Record<string, unknown> = {}): Promise<string> {
    const { status, body } = await api.create({
      chain: CHAIN,
      token: 'USDC',
      amount: '2.5',
      requestor: merchant,
      ...more,
    });
    expect([status, body.error]).toEqual([201, undefined]);
    return body.intent.id;
  }
  async function signedBy(wallet: EvmWallet, id: string, change?: Parameters<EvmWallet['sign']>[1]): Promise<string> {
    const { status, body } = await api.build(id, wallet.address);
    expect([status, body.error]).toEqual([200, undefined]);
    return wallet.sign(body.transaction.blob, change);
  }
  async function stored(id: string): Promise<PaymentIntent> {
    const intent = await findIntent(cluster.database, id as IntentId, {
      accountId: cluster.accountId as AccountId,
      livemode: false,
    });
    if (!intent) throw new Error(`${id} is not stored`);
    return intent;
  }
  const codeOf = ({
    status,
    body,
  }: {
    status: number;
    body: { error?: { code: string } };
  }): [number, string | undefined] => [status, body.error?.code];

  describe('a refund', () => {
    it('is neither built nor submitted while its original payment is undone', async () => {
      const publisher = await cluster.log.publisher();
      const id = (await create()) as IntentId;
      const { tokenAddress, requestor, amountBaseUnits, reference } = await stored(id);
      const hash = `0x${'e1'.repeat(32)}` as TransactionHash;
      const observed = (observation: Observation): Promise<void> =>
        publisher.publish('chain.observations', {
          partition: partitionOf(id),
          key: id,
          value: cluster.asWatcher({ ...observation, trace: { traceparent: null, requestId: null } }),
        });
      const transfer: Transfer = {
        tokenAddress,
        from: payer.address as Address,
        to: requestor,
        amount: amountBaseUnits,
        reference,
        block: 1n,
        blockHash: null,
        index: '0',
      };
      const landed = (): Promise<void> =>
        observed({
          kind: 'observation',
          type: 'landed',
          intentId: id,
          data: { hash, level: 'confirmed', transfer },
        });
      const paid = (lost: boolean) =>
        until(`the payment to be ${lost ? 'lost' : 'paid'}`, async () => (await stored(id)).settlement?.lost === lost);
      await landed();
      await paid(false);
      const refund = (await api.refund(id)).body.intent.id;
      const signed = await signedBy(wallet(2), refund);
      await observed({ kind: 'observation', type: 'lost', intentId: id, data: { hash } });
      await paid(true);
      // The build that the intent has would still be valid on chain.
      for (const refused of [await api.build(refund), await api.submit(refund, signed, merchant)])
        expect([refused.status, refused.body.error]).toMatchObject([
          409,
          { code: 'intent.original_unpaid', details: { intent_id: refund, original_intent_id: id } },
        ]);
      await landed();
      await paid(false);
      expect((await api.submit(refund, signed, merchant)).status).toBe(200);
      await publisher.close();
    });
  });

  describe('POST /intents/{id}/authorization/submit', () => {
    it('claims the intent, also against the transaction that its wallet has built before', async () => {
      const id = await create();
      await signedBy(payer, id);
      const ask = <Body>(what: string, body: object) =>
        api.request<Body>('POST', `/intents/${id}/authorization/${what}`, body);
      const { body } = await ask<{ typedData: TypedData }>('build', { fulfiller: payer.address });
      const signature = await payer.signTypedData(body.typedData);
      const authorization = body.typedData.message;
      const claimed = await ask<{ call: RelayedCall }>('submit', { authorization, signature });
      expect([claimed.status, claimed.body.call.to]).toEqual([200, usdc]);
      expect((await stored(id)).submissions).toMatchObject([
        { status: 'live', sender: payer.address, nonce: authorization.nonce },
      ]);
      for (const wallet of [payer, rival])
        expect(codeOf(await api.build(id, wallet.address))).toEqual([409, 'intent.submission_in_progress']);
      expect(codeOf(await ask('build', { fulfiller: rival.address }))).toEqual([409, 'intent.submission_in_progress']);
      // At most one of two with the same nonce moves money.
      expect(codeOf(await ask('build', { fulfiller: payer.address }))).toEqual([200, undefined]);
    });
  });

  describe('POST /intents/{id}/build', () => {
    it('returns 422 for a sponsored transaction on a chain that has none', async () => {
      const path = `/intents/${await create()}/build`;
      const { status, body } = await api.request('POST', path, { fulfiller: payer.address, sponsored: true });
      expect([status, body.error]).toMatchObject([422, { code: 'chain.not_available', param: 'sponsored' }]);
    });

    it('returns the same bytes to the same payer, also for concurrent requests', async () => {
      const id = await create();
      const responses = await Promise.all(Array.from({ length: 8 }, () => api.build(id, payer.address)));
      const later = await api.build(id);
      expect(new Set([...responses, later].map(({ body }) => body.transaction.blob)).size).toBe(1);
      expect(later.body.intent.fulfiller).toBe(payer.address);
      expect((await stored(id)).version).toBe(2);
    });

    it('returns each of two concurrent payers its own transaction', async () => {
      const id = await create();
      const [one, other] = await Promise.all([api.build(id, payer.address), api.build(id, rival.address)]);
      expect([one.status, other.status]).toEqual([200, 200]);
      expect(one.body.intent.fulfiller).toBe(payer.address);
      expect(other.body.intent.fulfiller).toBe(rival.address);
    });

    it('requires a fulfiller other than the requestor', async () => {
      const id = await create();
      for (const [fulfiller, says] of [
        [undefined, /required/],
        [merchant, /must not be the requestor/],
        ['0x12', /EVM address/],
      ] as const) {
        const { status, body } = await api.build(id, fulfiller);
        expect([status, body.error]).toMatchObject([
          400,
          { code: 'request.validation_failed', param: 'fulfiller', message: expect.stringMatching(says) },
        ]);
      }
    });

    it('accepts only the fulfiller that a send intent names', async () => {
      const id = await create({ direction: 'send', fulfiller: payer.address });
      expect(codeOf(await api.build(id, rival.address))).toEqual([400, 'request.validation_failed']);
      expect((await api.build(id)).body.intent.fulfiller).toBe(payer.address);
    });

    it('refuses a requestor whom the token bars, and a payer with an insufficient balance', async () => {
      const barred = `0x${'c0de'.repeat(10)}`;
      await anvil.asTokenOwner(usdc, 'blacklist', [barred]);
      const refused = await api.build(await create({ requestor: barred }), payer.address);
      expect([...codeOf(refused), refused.body.error?.param]).toEqual([422, 'address.not_payable', 'requestor']);
      const poor = await api.build(await create(), `0x${'ab'.repeat(20)}`);
      expect(codeOf(poor)).toEqual([422, 'transaction.rejected']);
      expect(poor.body.error?.details?.['reason']).toMatch(/needs 2.5 USDC/);
    });

    it('returns 503 while the chain is unavailable', async () => {
      const id = await create();
      proxy.faults = [UNAVAILABLE];
      const unavailable = await api.build(id, payer.address);
      expect(codeOf(unavailable)).toEqual([503, 'rpc.unavailable']);
      expect(unavailable.headers.get('retry-after')).toBe(String(unavailable.body.error?.details?.['retry_after']));
    });
  });

  describe('POST /intents/{id}/submit', () => {
    it('claims once for concurrent submissions of the same transaction', async () => {
      const id = await create();
      const signed = await signedBy(payer, id);
      const before = await payer.tokenBalance(usdc);
      const responses = await Promise.all(Array.from({ length: 6 }, () => api.submit(id, signed, payer.address)));
      expect(responses.map(({ status, body }) => [status, body.error?.code, body.intent?.state])).toEqual(
        responses.map(() => [200, undefined, 'pending']),
      );
      expect(new Set(responses.map(({ body }) => body.txSignature)).size).toBe(1);
      await anvil.mine();
      expect(before - (await payer.tokenBalance(usdc))).toBe(2_500_000n);
      expect((await stored(id)).submissions).toHaveLength(1);
      // The bytes are stored for the watcher, which broadcasts them again.
      const hash = responses[0]?.body.txSignature as TransactionHash;
      const kept = await createStore(cluster.database).signedTransactions.find(CHAIN as ChainId, [hash]);
      expect(Buffer.from(kept.get(hash) ?? []).toString('base64')).toBe(signed);
    });

    it('accepts hex, and uses the payer of the build', async () => {
      const id = await create();
      const signed = Buffer.from(await signedBy(payer, id), 'base64').toString('hex');
      const { status, body } = await api.request('POST', `/intents/${id}/submit`, { signedTransaction: `0x${signed}` });
      expect([status, body.intent.state]).toEqual([200, 'pending']);
    });

    it('releases the claim if the node refused the first broadcast', async () => {
      const id = await create();
      const signed = await signedBy(payer, id);
      proxy.faults = [{ kind: 'refuse', reason: 'transaction underpriced', ...ONCE }];
      const refused = await api.submit(id, signed, payer.address);
      expect(codeOf(refused)).toEqual([422, 'transaction.rejected']);
      expect(refused.body.error?.details).toEqual({ intent_id: id, reason: 'transaction underpriced' });
      expect((await stored(id)).submissions).toMatchObject([{ status: 'released', attempts: 1 }]);
      // The claim was released: the same transaction can be submitted again, and another payer's too.
      expect((await api.submit(id, signed, payer.address)).body.intent.state).toBe('pending');
    });

    it('keeps the claim if a broadcast may have been accepted', async () => {
      const id = await create();
      const signed = await signedBy(payer, id);
      const others = await rival.sign((await api.build(id, rival.address)).body.transaction.blob);
      proxy.faults = [{ kind: 'lose', ...ONCE }];
      const unknown = await api.submit(id, signed, payer.address);
      expect(codeOf(unknown)).toEqual([503, 'rpc.unavailable']);
      expect(unknown.body.error?.details).toMatchObject({ intent_id: id });
      for (const held of [
        await api.cancel(id),
        await api.submit(id, others, rival.address),
        await api.build(id, rival.address),
      ]) {
        expect(codeOf(held)).toEqual([409, 'intent.submission_in_progress']);
      }
      // The node has it, as a second submission of the same bytes shows.
      expect((await api.submit(id, signed, payer.address)).body.intent.state).toBe('pending');
    });

    it('does not trust a refusal after an ambiguous attempt', async () => {
      const id = await create();
      const signed = await signedBy(payer, id);
      proxy.faults = [
        { kind: 'cut', ...ONCE },
        { kind: 'refuse', reason: 'transaction underpriced', ...ONCE },
      ];
      expect(codeOf(await api.submit(id, signed, payer.address))).toEqual([503, 'rpc.unavailable']);
      expect(codeOf(await api.submit(id, signed, payer.address))).toEqual([503, 'rpc.unavailable']);
      expect((await stored(id)).submissions).toMatchObject([{ status: 'live', attempts: 2 }]);
      expect((await api.submit(id, signed, payer.address)).body.intent.state).toBe('pending');
    });

    it('accepts one of two concurrent payers', async () => {
      const id = await create();
      const [one, other] = [await signedBy(payer, id), await signedBy(rival, id)];
      const responses = await Promise.all([api.submit(id, one, payer.address), api.submit(id, other, rival.address)]);
      expect(responses.map(({ status }) => status).sort()).toEqual([200, 409]);
      expect((await stored(id)).submissions).toHaveLength(1);
    });

    it('claims nothing for a transaction that does not match the intent', async () => {
      const id = await create();
      const cheaper = await signedBy(payer, id, (transaction) => ({
        ...transaction,
        data: (transaction.data ?? '0x').replace(/2625a0/, '2625a1') as `0x${string}`,
      }));
      const mismatch = await api.submit(id, cheaper, payer.address);
      expect(codeOf(mismatch)).toEqual([422, 'transaction.mismatch']);
      expect(mismatch.body.error?.details).toEqual({ amount: { expected: '2500000', actual: '2500001' } });
      const foreign = await api.submit(id, await signedBy(rival, id), payer.address);
      expect(foreign.body.error?.details).toEqual({ sender: { expected: payer.address, actual: rival.address } });
      expect(codeOf(await api.submit(id, 'hello', payer.address))).toEqual([422, 'transaction.malformed']);
      expect((await stored(id)).submissions).toEqual([]);
    });

    it('claims nothing while the chain is unavailable', async () => {
      const id = await create();
      const signed = await signedBy(payer, id);
      proxy.faults = [UNAVAILABLE];
      expect(codeOf(await api.submit(id, signed, payer.address))).toEqual([503, 'rpc.unavailable']);
      expect((await stored(id)).submissions).toEqual([]);
    });

    it('checks the state before the transaction', async () => {
      const id = await create();
      const signed = await signedBy(rival, id);
      await api.cancel(id);
      const conflict = await api.submit(id, signed, payer.address);
      expect(codeOf(conflict)).toEqual([409, 'intent.invalid_state']);
      expect(conflict.body.error?.details).toEqual({ intent_id: id, current_state: 'cancelled' });
    });

    it('is refused by the state of an intent that has ended, before it is parsed', async () => {
      const id = await create();
      await api.cancel(id);
      for (const text of ['hello', `0x${'ab'.repeat(32)}`])
        expect(codeOf(await api.submit(id, text, payer.address))).toEqual([409, 'intent.invalid_state']);
    });

    it('asks for a hash that no node shows eight times, and not again at once', async () => {
      const id = await create();
      proxy.calls.clear();
      const asked = (): number => proxy.calls.get('eth_getTransactionByHash') ?? 0;
      const hash = `0x${'ac'.repeat(32)}`;
      for (let times = 0; times < 2; times += 1) {
        expect(codeOf(await api.submit(id, hash, payer.address))).toEqual([503, 'transaction.not_visible']);
        expect(asked()).toBe(8);
      }
    });

    it('accepts the hash of a transaction that the wallet sent, once a node shows it', async () => {
      const id = await create();
      const nowhere = await api.submit(id, `0x${'ab'.repeat(32)}`, payer.address);
      expect(codeOf(nowhere)).toEqual([503, 'transaction.not_visible']);
      expect((await stored(id)).submissions).toEqual([]);
      const { reference } = await stored(id);
      const hash = await payer.transfer(usdc, merchant, 2_500_000n, reference as unknown as `0x${string}`);
      const sent = await api.submit(id, hash, payer.address);
      expect([sent.status, sent.body.intent.state, sent.body.txSignature]).toEqual([200, 'pending', hash]);
    });

    it('looks again for the hash of a transaction that the first nodes behind a URL do not show', async () => {
      const id = await create();
      const { reference } = await stored(id);
      const hash = await payer.transfer(usdc, merchant, 2_500_000n, reference as unknown as `0x${string}`);
      proxy.faults = [{ kind: 'forgetful', methods: ['eth_getTransactionByHash'], times: 7 }];
      expect((await api.submit(id, hash, payer.address)).status).toBe(200);
    });

    it('tells the account, once, of money that a sent transaction has moved without the reference', async () => {
      const id = await create();
      const hash = await payer.transfer(usdc, merchant, 2_500_000n);
      await anvil.mine();
      expect(codeOf(await api.submit(id, hash, payer.address))).toEqual([503, 'transaction.not_visible']);
      await anvil.rpc('evm_increaseTime', 2);
      await anvil.mine();
      for (let times = 0; times < 2; times++) {
        const { status, body } = await api.submit(id, hash, payer.address);
        expect([status, body.error?.code, body.error?.message]).toEqual([
          422,
          'transaction.mismatch',
          expect.stringContaining('the account that created the intent was told'),
        ]);
      }
      const { events } = (await api.events(id)).body;
      expect(events.map(({ type }) => type)).toEqual(['intent.created', 'intent.mismatched_payment']);
      expect(events[1]?.data).toMatchObject({
        intent: { state: 'created' },
        payment: { txSignature: hash, sender: payer.address, amount: '2.5', differs: ['reference'], claimed: true },
      });
    });

    it('tells the account once of such a transfer, and then for which other intents it is claimed', async () => {
      const [first, second, third] = [await create(), await create(), await create()];
      const hash = await payer.transfer(usdc, merchant, 2_500_000n);
      await anvil.mine();
      await anvil.rpc('evm_increaseTime', 2);
      await anvil.mine();
      const told = async (id: string): Promise<string | undefined> =>
        (await api.submit(id, hash, payer.address)).body.error?.message;
      expect(await told(first)).toContain('the account that created the intent was told.');
      for (const id of [second, second, third]) {
        expect(await told(id)).toContain('was told of it before, for another of its payment intents');
        expect((await api.events(id)).body.events.map(({ type }) => type)).toEqual(['intent.created']);
      }
      const events = (await api.events(first)).body.events.slice(1);
      expect(events.map(({ type, data }) => [type, data.payment?.claimed, data.claim])).toEqual([
        ['intent.mismatched_payment', true, undefined],
        ['intent.payment_claimed', undefined, { txSignature: hash, intentIds: [second] }],
        ['intent.payment_claimed', undefined, { txSignature: hash, intentIds: [second, third] }],
      ]);
    });

    it('says nothing of the account where the intent has as many reports as it may', async () => {
      const id = await create();
      const hashes: string[] = [];
      for (let count = 0; count <= COUNTED_MAX.mismatched; count += 1)
        hashes.push(await payer.transfer(usdc, merchant, 2_500_000n));
      await anvil.mine();
      await anvil.rpc('evm_increaseTime', 2);
      await anvil.mine();
      const [last = '', ...others] = hashes.reverse();
      const told = async (hash: string): Promise<void> =>
        expect((await api.submit(id, hash, payer.address)).body.error?.message).toContain(
          'the account that created the intent was told.',
        );
      for (const hash of others) await told(hash);
      for (let times = 0; times < 2; times += 1) {
        const { status, body } = await api.submit(id, last, payer.address);
        expect([status, body.error?.code]).toEqual([422, 'transaction.mismatch']);
        expect(body.error?.message).toContain('If it has moved money, ask the requestor before you pay again.');
        expect(body.error?.message).not.toContain('told');
      }
      expect((await stored(id)).transfers).toHaveLength(COUNTED_MAX.mismatched);
    });

    it('tells nothing of a deposit that its account has assigned to an intent', async () => {
      const [paid, other] = [await create(), await create()];
      const hash = (await payer.transfer(usdc, merchant, 2_500_000n)) as TransactionHash;
      await anvil.mine();
      await anvil.rpc('evm_increaseTime', 2);
      await anvil.mine();
      const accountId = cluster.accountId as AccountId;
      const to = { tokenAddress: usdc as TokenAddress, to: merchant as Address, amount: 2_500_000n };
      const arrival = deposits.arrival({ hash, index: '0', from: payer.address as Address, ...to });
      const id = depositIdOf(accountId, samples.BASE_SEPOLIA, arrival, cluster.log.partitions);
      const publisher = await cluster.log.publisher();
      await publisher.publish('chain.observations', {
        partition: partitionOf(id),
        key: id,
        value: cluster.asWatcher({
          ...deposits.depositLanded({ accountId, arrival }, id),
          trace: { traceparent: null, requestId: null },
        }),
      });
      await publisher.close();
      const assign = () => api.request('POST', `/deposits/${id}/assign`, { intentId: paid });
      await until('the deposit to be assigned', async () => (await assign()).status === 200);
      expect((await api.submit(other, hash, payer.address)).body.error).toMatchObject({
        code: 'transaction.mismatch',
        message: expect.stringContaining('for another of its payment intents') as unknown,
      });
      expect((await api.events(other)).body.events.map(({ type }) => type)).toEqual(['intent.created']);
    });

    it('reports no transfer of another amount or from another wallet', async () => {
      const id = await create();
      const [all, less] = [
        await payer.transfer(usdc, merchant, 2_500_000n),
        await payer.transfer(usdc, merchant, 2_400_000n),
      ];
      await anvil.mine();
      for (const [hash, fulfiller] of [
        [less, payer.address],
        [all, rival.address],
      ] as const)
        expect(codeOf(await api.submit(id, hash, fulfiller))).toEqual([422, 'transaction.mismatch']);
      expect((await api.events(id)).body.events.map(({ type }) => type)).toEqual(['intent.created']);
    });
  });
});
