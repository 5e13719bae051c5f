import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Address, IntentId, Observation, PaymentTerms } from '@pf/domain';
import { until } from '@pf/testing';
import { type RpcProxy, startRpcProxy } from '@pf/testing/chains';
import { PublicKey } from '@solana/web3.js';
import type { Cursor, SignedTransaction } from '../../src/index.ts';
import { named, Watcher } from '../conformance/watching.ts';
import { SolanaObserver } from '../../src/solana/observer.ts';
import { tokenAccountOf } from '../../src/solana/payment.ts';
import { changed, toSeededAccount } from './changes.ts';
import { solanaPool, type SolanaPayer, type SolanaUnderTest, startSolana, termsOn } from './chain.ts';

describe('SolanaObserver', () => {
  let solana: SolanaUnderTest;
  let proxy: RpcProxy;
  let watcher: Watcher;
  let closing: (() => Promise<void>)[];
  // One node for all: each test has recipients and a watcher of its own, which begins where the test begins.
  beforeAll(async () => {
    solana = await startSolana();
  });
  afterAll(() => solana.stop());
  beforeEach(async () => {
    await solana.node.finalize();
    proxy = await startRpcProxy(solana.node.rpcUrl);
    const pool = solanaPool([proxy.url]);
    watcher = new Watcher(new SolanaObserver(solana.adapter.network, pool, solana.clock.now));
    closing = [() => pool.close(), () => proxy.stop()];
    await watcher.step();
  });
  afterEach(async () => {
    for (const close of closing) await close();
  });

  const newTerms = (symbol?: string, requestor?: Address): PaymentTerms => termsOn(solana, symbol, requestor);
  const payer = (index = 0): SolanaPayer => solana.payers[index] as SolanaPayer;
  /** Built, and signed as it is or changed. */
  async function signed(
    terms: PaymentTerms,
    by: SolanaPayer,
    change?: Parameters<SolanaPayer['sign']>[1],
  ): Promise<SignedTransaction> {
    const built = await solana.adapter.build({
      intentId: 'pi_test' as IntentId,
      terms,
      direction: 'request',
      fulfiller: by.address,
      expiresAt: 0,
    });
    if (built.kind !== 'built') throw new Error(JSON.stringify(built));
    const parsed = solana.adapter.parseSubmitted(await by.sign(built.transaction.blob, change));
    if (!parsed.ok || parsed.value.kind !== 'signed') throw new Error('no transaction');
    return parsed.value.transaction;
  }
  /** A watched intent, paid and broadcast: in the open slot, not confirmed yet. */
  async function pay(
    terms = newTerms(),
    by = payer(),
    send = true,
  ): Promise<{ readonly signed: SignedTransaction; readonly terms: PaymentTerms }> {
    watcher.watched.add('pi_test', terms);
    const transaction = await signed(terms, by);
    const verification = await solana.adapter.verify(transaction, terms, by.address, false);
    if (verification.kind !== 'verified') throw new Error(JSON.stringify(verification));
    watcher.watched.submit(verification.transaction, solana.clock.now());
    if (send) expect(await solana.adapter.broadcast(transaction)).toEqual({ kind: 'taken' });
    return { signed: transaction, terms };
  }
  /** Sent by a wallet on its own, with this reference. */
  const scan = (
    terms: PaymentTerms,
    amount = terms.amount,
    references: readonly string[] = [terms.reference],
    by = payer(),
  ): Promise<string> => by.transfer(terms.tokenAddress, terms.requestor, amount, { references });
  /** The requestor, a payer of the chain, is paid on a token account that is not the associated one. */
  async function payToOtherAccount(terms: PaymentTerms): Promise<string> {
    const { tokenAddress, requestor, amount, reference } = terms;
    const source = await tokenAccountOf(payer().address, tokenAddress);
    const transaction = await signed(
      terms,
      payer(),
      changed((_instructions, from) =>
        toSeededAccount({
          from,
          source: new PublicKey(source),
          mint: new PublicKey(tokenAddress),
          owner: new PublicKey(requestor),
          amount,
          reference: new PublicKey(reference),
        }),
      ),
    );
    expect(await solana.adapter.broadcast(transaction)).toEqual({ kind: 'taken' });
    return transaction.hash;
  }
  async function after(ms: number): Promise<readonly Observation[]> {
    solana.clock.pass(ms);
    return watcher.step();
  }

  it('observes a landing when its slot is confirmed, and again when it is final', async () => {
    await pay();
    expect(await watcher.step()).toEqual([]);
    await solana.node.advance();
    expect(named(await watcher.step())).toEqual(['landed confirmed']);
    expect(await after(1_000)).toEqual([]);
    await solana.node.advance(10);
    expect(named(await watcher.step())).toEqual(['landed finalized']);
    expect(await after(60_000)).toEqual([]);
  });

  it('explains why a transaction failed', async () => {
    await solana.node.fail({ payer: payer().address, count: 1 });
    const { signed } = await pay();
    await solana.node.advance();
    expect(await watcher.step()).toMatchObject([
      { type: 'reverted', data: { hash: signed.hash, reason: expect.stringContaining('frozen') } },
    ]);
  });

  it.each(['USDC', 'PYUSD'])(
    'finds a payment in %s that a wallet sent itself, and observes it as final',
    async (symbol) => {
      const terms = newTerms(symbol);
      watcher.watched.add('pi_test', terms);
      expect(await watcher.step()).toEqual([]);
      const hash = await scan(terms);
      await solana.node.advance();
      const [landed] = await after(1_000);
      expect(landed).toMatchObject({
        type: 'landed',
        intentId: 'pi_test',
        data: {
          hash,
          level: 'confirmed',
          transfer: {
            tokenAddress: terms.tokenAddress,
            from: payer().address,
            to: terms.requestor,
            amount: terms.amount,
            reference: terms.reference,
            index: '1',
          },
        },
      });
      await solana.node.advance(10);
      expect(named(await after(1_000))).toEqual(['landed finalized']);
    },
  );

  it('finds payments made while no watcher ran, also of an intent created in the meantime', async () => {
    const known = newTerms();
    watcher.watched.add('pi_known', known);
    await watcher.step();
    const cursor = JSON.parse(watcher.cursor ?? '') as Cursor;
    const made = newTerms('USDC', known.requestor);
    const hashes = [await scan(known), await scan(made), await scan(newTerms('PYUSD', known.requestor))];
    await solana.node.advance(1_000);
    watcher.watched.add('pi_made', made);
    const pool = solanaPool([proxy.url]);
    closing.unshift(() => pool.close());
    const restarted = await new SolanaObserver(solana.adapter.network, pool, solana.clock.now).step(
      cursor,
      async () => watcher.watched,
    );
    expect(restarted.observations.map(({ intentId, data }) => [intentId, data.hash])).toEqual([
      ['pi_known', hashes[0]],
      ['pi_made', hashes[1]],
    ]);
  });

  it('finds one payment among more than a page of other transactions', async () => {
    const terms = newTerms();
    watcher.watched.add('pi_test', terms);
    await watcher.step();
    const hash = await scan(terms);
    for (let n = 0; n < 60; n += 1) await scan(terms, 1n + BigInt(n), []);
    await solana.node.advance();
    expect(await after(1_000)).toMatchObject([{ type: 'landed', data: { hash, level: 'confirmed' } }]);
  });

  it('observes a wrong amount as it is, and ignores transfers without or with two references', async () => {
    const [terms, other] = [newTerms(), newTerms()];
    watcher.watched.add('pi_test', terms);
    watcher.watched.add('pi_other', other);
    await watcher.step();
    await scan(terms, 1_999_999n);
    await scan(terms, terms.amount, []);
    await scan(terms, terms.amount, [solana.adapter.newReference()]);
    const both = await scan(terms, terms.amount, [terms.reference, other.reference]);
    await solana.node.advance();
    const seen = await after(1_000);
    expect(seen).toMatchObject([
      { type: 'landed', intentId: 'pi_test', data: { transfer: { amount: 1_999_999n, reference: terms.reference } } },
    ]);
    expect(seen).toHaveLength(1);
    expect(watcher.warnings).toEqual([expect.stringContaining(`of ${both} carries 2 references`)]);
  });

  it.each([
    ['once it was detected', 'detect'],
    ['at the latest with the last look after the intent expired', 'expire'],
  ] as const)('finds a payment to another account of the requestor by its reference, %s', async (_when, then) => {
    const terms = newTerms('USDC', payer(6).address);
    watcher.watched.add('pi_test', terms);
    await watcher.step();
    const hash = await payToOtherAccount(terms);
    await solana.node.advance();
    expect(await after(1_000)).toEqual([]);
    watcher.watched[then](terms);
    expect(await after(1_000)).toMatchObject([
      { type: 'landed', intentId: 'pi_test', data: { hash, transfer: { to: terms.requestor, amount: terms.amount } } },
    ]);
  });

  it('passes no slot before its intents are known', async () => {
    const terms = newTerms();
    watcher.watched.add('pi_known', newTerms('USDC', terms.requestor));
    await watcher.step();
    const observer = new SolanaObserver(solana.adapter.network, solana.pool, solana.clock.now);
    // While a step is under way an intent is made and paid: after its set was read.
    let hash: string | undefined;
    let step = await observer.step(JSON.parse(watcher.cursor ?? '') as Cursor, async () => {
      const before = new Watcher(observer).watched;
      before.add('pi_known', newTerms('USDC', terms.requestor));
      hash = await scan(terms);
      await solana.node.advance(3);
      return before;
    });
    expect(step.observations).toEqual([]);
    watcher.watched.add('pi_late', terms);
    step = await observer.step(step.cursor, async () => watcher.watched);
    expect(step.observations).toMatchObject([{ type: 'landed', intentId: 'pi_late', data: { hash } }]);
  });

  it('repeats observations that could not be stored', async () => {
    const terms = newTerms();
    watcher.watched.add('pi_test', terms);
    await watcher.step();
    const cursor = JSON.parse(watcher.cursor ?? '') as Cursor;
    await scan(terms);
    await solana.node.advance();
    const pool = solanaPool([proxy.url]);
    closing.unshift(() => pool.close());
    const observer = new SolanaObserver(solana.adapter.network, pool, solana.clock.now);
    const first = await observer.step(cursor, async () => watcher.watched);
    const second = await observer.step(cursor, async () => watcher.watched);
    expect(named(first.observations)).toEqual(['landed confirmed']);
    expect(second.observations).toEqual(first.observations);
    expect((await observer.step(second.cursor, async () => watcher.watched)).observations).toEqual([]);
  });

  it('forgets nothing when a step fails midway, and reads no list twice for it', async () => {
    const terms = newTerms();
    watcher.watched.add('pi_test', terms);
    await watcher.step();
    const hash = await scan(terms);
    await solana.node.advance();
    // The list is answered, the transaction is not.
    proxy.faults = [{ kind: 'status', status: 403, methods: ['getTransaction'] }];
    await expect(after(1_000)).rejects.toMatchObject({ name: 'RpcUnavailableError' });
    const lists = proxy.calls.get('getSignaturesForAddress') ?? 0;
    proxy.faults = [];
    expect(await after(1_000)).toMatchObject([{ type: 'landed', data: { hash } }]);
    expect((proxy.calls.get('getSignaturesForAddress') ?? 0) - lists).toBeLessThanOrEqual(2);
  });

  describe('after a fork that removed a confirmed landing', () => {
    it('observes it as lost, and as landed in its new slot', async () => {
      const { signed } = await pay();
      await solana.node.advance();
      const [first] = await watcher.step();
      await solana.node.reorg(2);
      await solana.node.advance(2);
      expect(await after(1_000)).toEqual([]);
      await solana.adapter.broadcast(signed);
      await solana.node.advance();
      const seen = await after(1_000);
      expect(named(seen)).toEqual(['lost', 'landed confirmed']);
      expect(seen[1]).not.toEqual(first);
      await solana.node.advance(10);
      expect(named(await after(1_000))).toEqual(['landed finalized']);
    });

    it('observes an extra payment of the fork again once it has landed again', async () => {
      const { signed, terms } = await pay();
      // In the same slot: its blockhash is of one before, which stays.
      const extra = await scan(terms, terms.amount, [terms.reference], payer(3));
      await solana.node.advance();
      expect((await watcher.step()).map(({ data }) => data.hash)).toEqual([signed.hash, extra]);
      await solana.node.drop({ signature: signed.hash });
      await solana.node.reorg(2, { requeue: true });
      await solana.node.advance(10);
      expect(await after(1_000)).toMatchObject([{ type: 'lost', data: { hash: signed.hash } }]);
      expect(await after(1_000)).toContainEqual(
        expect.objectContaining({ type: 'landed', data: expect.objectContaining({ hash: extra }) }),
      );
      await solana.node.heal();
    });

    it('observes it as lost once the final chain is past it, and as dropped once its blockhash expired', async () => {
      const { signed } = await pay();
      await solana.node.advance();
      await watcher.step();
      await solana.node.reorg(2);
      await solana.node.advance(10);
      expect(await after(1_000)).toMatchObject([{ type: 'lost', data: { hash: signed.hash } }]);
      expect(await after(60_000)).toEqual([]);
      await solana.node.expire();
      await solana.node.advance(20);
      expect(await after(60_000)).toMatchObject([{ type: 'dropped', data: { hash: signed.hash } }]);
    });
  });

  describe('with unreliable nodes', () => {
    it('observes no drop while the blockhash is valid, however long the transaction is missing', async () => {
      await pay(newTerms(), payer(), false);
      await solana.node.advance(140);
      await solana.node.finalize();
      for (let hour = 0; hour < 3; hour += 1) expect(await after(3_600_000)).toEqual([]);
    });

    it('does not believe a node without transactions while another one has them', async () => {
      const { signed } = await pay();
      const pool = solanaPool([proxy.url, solana.node.rpcUrl]);
      closing.unshift(() => pool.close());
      const doubting = new Watcher(new SolanaObserver(solana.adapter.network, pool, solana.clock.now));
      const [intent] = watcher.watched.submitted();
      if (intent === undefined) throw new Error('it is submitted');
      doubting.watched.add('pi_test', intent.terms);
      doubting.watched.submit(intent.submission, solana.clock.now());
      proxy.respond = ({ method, params }) => {
        if (method === 'getSignatureStatuses')
          return { context: { slot: 10_000_000 }, value: (params[0] as string[]).map(() => null) };
        return method === 'getSignaturesForAddress' ? [] : method === 'getTransaction' ? null : undefined;
      };
      await doubting.step();
      await solana.node.expire();
      solana.clock.pass(60_000);
      expect(await doubting.step()).toMatchObject([{ type: 'landed', data: { hash: signed.hash } }]);
    });

    it('observes no drop on the word of one of two upstreams, nor of one that is behind', async () => {
      await pay(newTerms(), payer(), false);
      const other = await startRpcProxy(solana.node.rpcUrl);
      const pool = solanaPool([proxy.url, other.url]);
      closing.unshift(
        () => pool.close(),
        () => other.stop(),
      );
      const careful = new Watcher(new SolanaObserver(solana.adapter.network, pool, solana.clock.now));
      const [intent] = watcher.watched.submitted();
      if (intent === undefined) throw new Error('it is submitted');
      careful.watched.add('pi_test', intent.terms);
      careful.watched.submit(intent.submission, solana.clock.now());
      const old = await solana.node.rpc('getEpochInfo', { commitment: 'finalized' });
      await solana.node.expire();
      other.faults = [{ kind: 'status', status: 503 }];
      expect(await careful.step()).toEqual([]);
      other.faults = [];
      other.respond = ({ method }) => (method === 'getEpochInfo' ? old : undefined);
      solana.clock.pass(60_000);
      expect(await careful.step()).toEqual([]);
      other.respond = () => undefined;
      // When the pool has found that it answers again.
      const told = await until('what both say', async () => {
        solana.clock.pass(60_000);
        const observations = await careful.step();
        return observations.length > 0 && observations;
      });
      expect(named(told)).toEqual(['dropped']);
    });

    it('finds a payment that a node lists late and returns later still', async () => {
      const terms = newTerms();
      watcher.watched.add('pi_test', terms);
      await watcher.step();
      const hash = await scan(terms);
      await solana.node.advance();
      proxy.respond = ({ method }) => (method === 'getSignaturesForAddress' ? [] : undefined);
      expect(await after(1_000)).toEqual([]);
      expect(await after(1_000)).toEqual([]);
      proxy.respond = ({ method }) => (method === 'getTransaction' ? null : undefined);
      expect(await after(1_000)).toEqual([]);
      proxy.respond = () => undefined;
      expect(await after(1_000)).toMatchObject([{ type: 'landed', data: { hash } }]);
    });

    it('finds a payment whose look-up was throttled', async () => {
      const terms = newTerms();
      watcher.watched.add('pi_test', terms);
      await watcher.step();
      const hash = await scan(terms);
      await solana.node.advance();
      let throttled = 0;
      proxy.respond = ({ method }) =>
        method === 'getTransaction' && throttled++ < 3
          ? Object.assign(new Error('Too many requests'), { code: 429 })
          : undefined;
      expect(await after(1_000)).toMatchObject([{ type: 'landed', data: { hash } }]);
    });

    it('finds a payment although the balance is unchanged, because the same amount left', async () => {
      const terms = newTerms('USDC', payer(7).address);
      watcher.watched.add('pi_test', terms);
      await watcher.step();
      const hash = await scan(terms);
      await payer(7).transfer(terms.tokenAddress, solana.newRecipient(), terms.amount);
      await solana.node.advance();
      // Its account is listed when it has its turn, as every 6 s one has of the recipient's.
      const observed: Observation[] = [];
      for (const _token of solana.adapter.network.tokens) observed.push(...(await after(6_000)));
      expect(observed).toMatchObject([{ type: 'landed', data: { hash } }]);
    });

    it('waits for a node whose head is behind, with a warning, and continues when it has caught up', async () => {
      const terms = newTerms();
      watcher.watched.add('pi_test', terms);
      const old = await solana.node.rpc('getEpochInfo', { commitment: 'finalized' });
      await solana.node.advance(1_000);
      await watcher.step();
      const hash = await scan(terms);
      await solana.node.advance();
      proxy.respond = ({ method }) => (method === 'getEpochInfo' ? old : undefined);
      expect(await after(1_000)).toEqual([]);
      expect(watcher.warnings).toEqual([expect.stringContaining('below the last slot that was read')]);
      proxy.respond = () => undefined;
      expect(await after(1_000)).toMatchObject([{ type: 'landed', data: { hash } }]);
    });
  });

  it('makes as few requests for 10,000 open intents as for 10, and finds a payment among them', async () => {
    const recipients = Array.from({ length: 20 }, () => solana.newRecipient());
    const measure = async (): Promise<number> => {
      await watcher.step();
      proxy.calls.clear();
      for (let step = 0; step < 20; step += 1) {
        await solana.node.advance(3);
        await after(1_000);
      }
      return [...proxy.calls.values()].reduce((sum, count) => sum + count, 0);
    };
    const add = (count: number): PaymentTerms => {
      const all = Array.from({ length: count }, (_, n) => newTerms('USDC', recipients[n % 20] ?? ('' as Address)));
      for (const [n, terms] of all.entries()) watcher.watched.add(`pi_${n}`, terms);
      return all[count - 1] ?? newTerms();
    };
    add(10);
    const few = await measure();
    const terms = add(9_990);
    const many = await measure();
    expect(many).toBeLessThanOrEqual(few * 1.1);
    expect(few / 20).toBeLessThanOrEqual(6);
    const hash = await scan(terms);
    await solana.node.advance();
    expect(await after(1_000)).toMatchObject([{ type: 'landed', data: { hash } }]);
  });

  it('requests the statuses of 256 pending transactions with one call', async () => {
    const { signed } = await pay(newTerms(), payer(), false);
    const [intent] = watcher.watched.submitted();
    if (intent === undefined) throw new Error('it is submitted');
    for (let n = 0; n < 600; n += 1) {
      const terms = newTerms('USDC', intent.terms.requestor);
      watcher.watched.add(`pi_${n}`, terms);
      watcher.watched.submit(
        { ...intent.submission, hash: solana.adapter.synthetic().hash, terms },
        solana.clock.now(),
      );
    }
    await watcher.step();
    proxy.calls.clear();
    await watcher.step();
    expect(proxy.calls.get('getSignatureStatuses')).toBe(3);
    await solana.adapter.broadcast(signed);
    await solana.node.advance();
    expect(named(await after(1_000))).toEqual(['landed confirmed']);
  });
});
