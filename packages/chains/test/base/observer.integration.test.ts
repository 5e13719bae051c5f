import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Address, IntentId, PaymentTerms } from '@pf/domain';
import { type RpcProxy, startAnvil, startRpcProxy } from '@pf/testing/chains';
import { evmWallet } from '@pf/testing/wallets';
import type { Hex } from 'viem';
import { BaseObserver } from '../../src/base/observer.ts';
import { type KeptBytes, rewindCursor, type SignedTransaction } from '../../src/index.ts';
import { type BaseUnderTest, type EvmPayer, poolOver, startBase } from './chain.ts';
import { named, Watcher } from '../conformance/watching.ts';

describe('BaseObserver', () => {
  let base: BaseUnderTest;
  let proxy: RpcProxy;
  let watcher: Watcher;
  let closing: (() => Promise<void>)[];
  beforeEach(async () => {
    base = await startBase();
    proxy = await startRpcProxy(base.anvil.rpcUrl);
    const pool = poolOver([proxy.url]);
    watcher = new Watcher(new BaseObserver(base.adapter.network, pool, base.clock.now));
    closing = [() => pool.close(), () => proxy.stop(), () => base.stop()];
    await watcher.step();
  });
  afterEach(async () => {
    for (const close of closing) await close();
  });

  function newTerms(): PaymentTerms {
    const token = base.adapter.token('USDC');
    if (token === null) throw new Error('Base has USDC');
    return {
      chain: base.adapter.network.chain,
      tokenAddress: token.address,
      amount: 2_000_000n,
      requestor: base.newRecipient(),
      reference: base.adapter.newReference(),
    };
  }
  function payer(index: number): EvmPayer {
    const found = base.payers[index];
    if (found === undefined) throw new Error('no such payer');
    return found;
  }
  type Change = Parameters<EvmPayer['sign']>[1];
  async function sign(terms: PaymentTerms, from: EvmPayer, change?: Change): Promise<SignedTransaction> {
    const built = await base.adapter.build({
      intentId: 'pi_test' as IntentId,
      terms,
      direction: 'request',
      fulfiller: from.address,
      expiresAt: 0,
    });
    if (built.kind !== 'built') throw new Error(JSON.stringify(built));
    const parsed = base.adapter.parseSubmitted(await from.sign(built.transaction.blob, change));
    if (!parsed.ok || parsed.value.kind !== 'signed') throw new Error('no transaction');
    return parsed.value.transaction;
  }
  async function submit(signed: SignedTransaction, terms: PaymentTerms, from: EvmPayer): Promise<void> {
    const verification = await base.adapter.verify(signed, terms, from.address, false);
    if (verification.kind !== 'verified') throw new Error(JSON.stringify(verification));
    watcher.watched.submit(verification.transaction, base.clock.now());
    expect(await base.adapter.broadcast(signed)).toEqual({ kind: 'taken' });
  }
  /** A watched intent, paid and broadcast, not yet in a block. */
  async function pay(id = 'pi_test', from = payer(0)): Promise<{ signed: SignedTransaction; terms: PaymentTerms }> {
    const terms = newTerms();
    watcher.watched.add(id, terms);
    const signed = await sign(terms, from);
    await submit(signed, terms, from);
    return { signed, terms };
  }
  /** Confirmed and observed, then orphaned by a reorg, and its nonce used by another transaction, for good. */
  async function payInVain(): Promise<SignedTransaction> {
    const { signed } = await pay();
    await base.anvil.mine();
    await watcher.step();
    await base.settle();
    await watcher.step();
    await base.anvil.rpc('anvil_reorg', 3, []);
    expect(named(await watcher.step())).toEqual(['lost']);
    await base.kill(signed, payer(0));
    await base.finalize();
    return signed;
  }

  it('reports a landing once it has been canonical for two seconds', async () => {
    await pay();
    await base.anvil.mine();
    expect(await watcher.step()).toEqual([]);
    base.clock.pass(1_999);
    await base.anvil.mine();
    expect(await watcher.step()).toEqual([]);
    base.clock.pass(1);
    expect(named(await watcher.step())).toEqual(['landed confirmed']);
  });

  it('makes nothing final for the reference that only one of two upstreams shows behind a transfer', async () => {
    const honest = await startRpcProxy(base.anvil.rpcUrl);
    const pool = poolOver([proxy.url, honest.url]);
    closing.unshift(
      () => pool.close(),
      () => honest.stop(),
    );
    const [terms, thief] = [newTerms(), newTerms()];
    watcher = new Watcher(new BaseObserver(base.adapter.network, pool, base.clock.now));
    watcher.watched.add('pi_honest', terms);
    watcher.watched.add('pi_thief', { ...thief, requestor: terms.requestor });
    await watcher.step();
    const [wallet] = base.anvil.wallets;
    if (wallet === undefined) throw new Error('anvil has wallets');
    const paid = evmWallet(base.anvil, wallet);
    await paid.transfer(terms.tokenAddress, terms.requestor, terms.amount, terms.reference as string as Hex);
    await base.anvil.mine();
    proxy.respond = async ({ method, params: [hash] }) => {
      if (method !== 'eth_getTransactionByHash') return undefined;
      const shown = await base.anvil.rpc<{ readonly input: string }>(method, hash);
      return { ...shown, input: shown.input.replace(terms.reference.slice(2), thief.reference.slice(2)) };
    };
    const seen: string[] = [];
    for (let step = 0; step < 10; step += 1) {
      await base.finalize();
      base.clock.pass(3_000);
      seen.push(...(await watcher.step()).map((one) => `${one.intentId} ${named([one])[0] ?? ''}`));
    }
    expect(seen).toContain('pi_thief landed confirmed');
    expect(seen).not.toContain('pi_thief landed finalized');
  });

  it('tells what a landing has cost its sender, and does not wait for it where a node does not tell', async () => {
    const cost = async (): Promise<unknown> => {
      await base.anvil.mine();
      await watcher.step();
      await base.settle();
      const [landed] = await watcher.step();
      return landed?.type === 'landed' ? (landed.data.fee ?? 'unknown') : landed;
    };
    const balance = async (): Promise<bigint> =>
      BigInt(await base.anvil.rpc<string>('eth_getBalance', payer(0).address, 'latest'));
    const before = await balance();
    await pay();
    const fee = await cost();
    expect(fee).toEqual({ payer: payer(0).address, amount: before - (await balance()), tokenAddress: null });

    proxy.respond = ({ method }) => (method === 'eth_getTransactionReceipt' ? null : undefined);
    await pay('pi_other', payer(1));
    expect(await cost()).toBe('unknown');
  });

  it('reports a landing without what it has cost where the node cannot tell that now', async () => {
    const terms = newTerms();
    watcher.watched.add('pi_test', terms);
    // A receipt is read for the fee alone: the service does not know this transaction.
    expect(await base.adapter.broadcast(await sign(terms, payer(0)))).toEqual({ kind: 'taken' });
    await base.anvil.mine();
    await watcher.step();
    await base.settle();
    proxy.respond = ({ method }) => (method === 'eth_getTransactionReceipt' ? new Error('internal error') : undefined);
    expect(named(await watcher.step())).toEqual(['landed confirmed']);
  });

  it('reports a landing again while the ledger still waits for its transaction: the report was lost', async () => {
    await pay();
    await base.anvil.mine();
    await watcher.step();
    await base.settle();
    watcher.reaches = false;
    expect(named(await watcher.step())).toEqual(['landed confirmed']);
    expect(await watcher.step()).toEqual([]);
    base.clock.pass(30_000);
    watcher.reaches = true;
    expect(named(await watcher.step())).toEqual(['landed confirmed']);
    base.clock.pass(30_000);
    expect(await watcher.step()).toEqual([]);
  });

  it('reports again, when its cursor is rewound, a landing of which nothing but the chain tells', async () => {
    const terms = newTerms();
    watcher.watched.add('pi_unsubmitted', terms);
    await base.adapter.broadcast(await sign(terms, payer(0)));
    await base.anvil.mine();
    await watcher.step();
    await base.settle();
    watcher.reaches = false;
    expect(named(await watcher.step())).toEqual(['landed confirmed']);
    watcher.reaches = true;
    watcher.moveCursor((cursor) => rewindCursor(base.adapter.network, cursor, 1n));
    await watcher.step();
    base.clock.pass(2_000);
    expect(named(await watcher.step())).toEqual(['landed confirmed']);
  });

  it('waits again after a reorg that orphans a landing before it was confirmed', async () => {
    const { signed } = await pay();
    await base.anvil.mine();
    await watcher.step();
    await base.anvil.rpc('anvil_reorg', 2, []);
    base.clock.pass(5_000);
    expect(await watcher.step()).toEqual([]);
    expect(watcher.warnings).toEqual([expect.stringContaining('reorganized')]);
    await base.adapter.broadcast(signed);
    await base.anvil.mine();
    expect(await watcher.step()).toEqual([]);
    await base.settle();
    expect(named(await watcher.step())).toEqual(['landed confirmed']);
  });

  it('observes a landing as lost after a reorg, and as landed again in its new block', async () => {
    const { signed } = await pay();
    await base.anvil.mine();
    await watcher.step();
    await base.settle();
    const [first] = await watcher.step();
    await base.anvil.rpc('anvil_reorg', 3, []);
    expect(await watcher.step()).toMatchObject([{ type: 'lost', data: { hash: signed.hash } }]);
    await base.adapter.broadcast(signed);
    await base.anvil.mine(2);
    await watcher.step();
    await base.settle();
    const [again] = await watcher.step();
    expect(again).toMatchObject({ type: 'landed', data: { hash: signed.hash, level: 'confirmed' } });
    expect(first).not.toEqual(again);
    await base.finalize();
    expect(named(await watcher.step())).toEqual(['landed finalized']);
  });

  it('observes a lost settlement as dropped when another transaction used its nonce', async () => {
    await payInVain();
    base.clock.pass(2_000);
    expect(named([...(await watcher.step())])).toEqual(['dropped']);
  });

  it('proves from the stored bytes that a lost settlement is dropped, when no node knows the transaction', async () => {
    const signed = await payInVain();
    const pool = poolOver([proxy.url]);
    closing.push(() => pool.close());
    const restarted = (keptBytes?: KeptBytes) =>
      watcher.restart(new BaseObserver(base.adapter.network, pool, base.clock.now, keptBytes));
    expect(await restarted().step()).toEqual([]);
    base.clock.pass(2_000);
    expect(await restarted((hash) => Promise.resolve(hash === signed.hash ? signed.raw : null)).step()).toMatchObject([
      { type: 'dropped', data: { hash: signed.hash } },
    ]);
  });

  it('finds a fee-bumped replacement by its reference, then proves that the first transaction is dropped', async () => {
    const terms = newTerms();
    watcher.watched.add('pi_test', terms);
    const first = await sign(terms, payer(0));
    const second = await sign(terms, payer(0), (transaction) => ({
      ...transaction,
      maxFeePerGas: (transaction.maxFeePerGas ?? 0n) * 2n,
      maxPriorityFeePerGas: (transaction.maxPriorityFeePerGas ?? 0n) * 2n,
    }));
    expect(second.hash).not.toBe(first.hash);
    await submit(first, terms, payer(0));
    await base.adapter.broadcast(second);
    await base.anvil.mine();
    await watcher.step();
    await base.settle();
    expect(await watcher.step()).toMatchObject([{ type: 'landed', data: { hash: second.hash, level: 'confirmed' } }]);
    await base.finalize();
    base.clock.pass(60_000);
    const rest = await watcher.step();
    expect(named(rest).sort()).toEqual(['dropped', 'landed finalized']);
    expect(rest.find(({ type }) => type === 'dropped')?.data.hash).toBe(first.hash);
  });

  it('observes a wrong amount as the chain recorded it, and ignores transfers without a reference', async () => {
    const terms = newTerms();
    watcher.watched.add('pi_test', terms);
    const [chain, first] = [base.anvil, base.anvil.wallets[1]];
    if (first === undefined) throw new Error('no wallet');
    const wallet = evmWallet(chain, first);
    await wallet.transfer(terms.tokenAddress, terms.requestor, 1_999_999n, terms.reference as string as Hex);
    await wallet.transfer(terms.tokenAddress, terms.requestor, 2_000_000n);
    await wallet.transfer(
      terms.tokenAddress,
      terms.requestor,
      2_000_000n,
      base.adapter.newReference() as string as Hex,
    );
    await base.anvil.mine();
    await watcher.step();
    await base.settle();
    const seen = await watcher.step();
    expect(seen).toMatchObject([
      {
        type: 'landed',
        intentId: 'pi_test',
        data: { transfer: { amount: 1_999_999n, from: wallet.address as Address, reference: terms.reference } },
      },
    ]);
    expect(seen).toHaveLength(1);
  });

  it('never observes a missing transaction as dropped without proof', async () => {
    await pay();
    await base.anvil.rpc('anvil_dropAllTransactions');
    for (let hour = 0; hour < 24; hour += 1) {
      base.clock.pass(3_600_000);
      await base.anvil.mine(3);
      expect(await watcher.step()).toEqual([]);
    }
  });

  it('finds on another node the receipt and the transfer that one node leaves out', async () => {
    const { signed } = await pay();
    const pool = poolOver([proxy.url, base.anvil.rpcUrl]);
    closing.unshift(() => pool.close());
    const doubting = new Watcher(new BaseObserver(base.adapter.network, pool, base.clock.now));
    // This one denies the transaction and its transfer, and tells the truth about nonces.
    proxy.respond = ({ method }) =>
      method === 'eth_getTransactionReceipt' ? null : method === 'eth_getLogs' ? [] : undefined;
    const intent = [...watcher.watched.submitted()][0];
    if (intent === undefined) throw new Error('it is submitted');
    doubting.watched.add('pi_test', intent.terms);
    doubting.watched.submit(intent.submission, base.clock.now());
    await doubting.step();
    await base.anvil.mine(20);
    base.clock.pass(600_000);
    expect(await doubting.step()).toEqual([]);
    base.clock.pass(2_000);
    expect((await doubting.step())[0]).toMatchObject({
      type: 'landed',
      data: { hash: signed.hash, level: 'confirmed' },
    });
  });

  it('finds at the safe block what a lagging node left out', async () => {
    const { signed } = await pay();
    proxy.respond = ({ method }) =>
      method === 'eth_getLogs' ? [] : method === 'eth_getTransactionReceipt' ? null : undefined;
    await base.anvil.mine();
    expect(await watcher.step()).toEqual([]);
    proxy.respond = ({ method }) => (method === 'eth_getTransactionReceipt' ? null : undefined);
    await base.anvil.mine(5);
    base.clock.pass(2_000);
    await watcher.step();
    await base.settle();
    expect(await watcher.step()).toMatchObject([{ type: 'landed', data: { hash: signed.hash, level: 'confirmed' } }]);
  });

  it('continues at its cursor after a restart, and finds what landed in between', async () => {
    const { signed } = await pay();
    await base.anvil.mine(50);
    const pool = poolOver([proxy.url]);
    closing.unshift(() => pool.close());
    const restarted = new BaseObserver(base.adapter.network, pool, base.clock.now);
    const cursor = JSON.parse(watcher.cursor ?? '') as Record<string, unknown>;
    const step = await restarted.step(cursor, async () => watcher.watched);
    base.clock.pass(2_000);
    const next = await restarted.step(step.cursor, async () => watcher.watched);
    expect(next.observations[0]).toMatchObject({ type: 'landed', data: { hash: signed.hash, level: 'confirmed' } });
  });

  it('reads nothing from an upstream that has started to serve another network', async () => {
    await pay();
    // Started in the same second, its first block would be the same: the chain's id is not in it.
    const foreign = await startAnvil({ chain: 'eip155:8453', genesisAt: Math.floor(Date.now() / 1_000) - 1_000 });
    closing.unshift(() => foreign.stop());
    await foreign.mine(3);
    const { cursor } = watcher;
    proxy.target = foreign.rpcUrl;
    await expect(watcher.step()).rejects.toThrow('it serves eip155:8453');
    expect(watcher.cursor).toBe(cursor);
  });

  it('warns of a different chain, reads it from the start and drops nothing', async () => {
    await pay();
    const other = await startAnvil({ genesisAt: Math.floor(Date.now() / 1_000) - 1_000 });
    closing.unshift(() => other.stop());
    await other.mine(3);
    proxy.target = other.rpcUrl;
    base.clock.pass(60_000);
    expect(await watcher.step()).toEqual([]);
    expect(watcher.warnings).toEqual([expect.stringContaining('a different one')]);
    const landed = await pay('pi_other', payer(3));
    proxy.target = other.rpcUrl;
    await other.rpc('eth_sendRawTransaction', `0x${Buffer.from(landed.signed.raw).toString('hex')}`);
    await other.mine();
    await watcher.step();
    base.clock.pass(2_000);
    expect(await watcher.step()).toMatchObject([{ type: 'landed', intentId: 'pi_other' }]);
  });

  it('waits for a node that is behind, and concludes nothing from it', async () => {
    await base.anvil.mine(100);
    await watcher.step();
    const { signed } = await pay();
    const old = await base.anvil.rpc<{ number: string }>('eth_getBlockByNumber', '0x20', false);
    proxy.respond = ({ method, params }) => {
      if (method !== 'eth_getBlockByNumber') return undefined;
      const [tag] = params;
      if (tag === 'latest' || tag === 'safe' || tag === 'finalized') return old;
      return typeof tag === 'string' && BigInt(tag) > 0x20n ? null : undefined;
    };
    base.clock.pass(60_000);
    expect(await watcher.step()).toEqual([]);
    proxy.respond = () => undefined;
    await base.anvil.mine();
    await watcher.step();
    base.clock.pass(2_000);
    expect(await watcher.step()).toMatchObject([{ type: 'landed', data: { hash: signed.hash } }]);
  });

  it('finds payments among 2,500 recipients, and reads no transfer to anyone else', async () => {
    const all = Array.from({ length: 2_500 }, () => newTerms());
    for (const [n, terms] of all.entries()) watcher.watched.add(`pi_${n}`, terms);
    const [wallet] = base.anvil.wallets;
    if (wallet === undefined) throw new Error('Base has wallets');
    const sender = evmWallet(base.anvil, wallet);
    const send = ({ tokenAddress, requestor, amount, reference }: PaymentTerms): Promise<Hex> =>
      sender.transfer(tokenAddress, requestor, amount, reference as string as Hex);
    const lists: number[] = [];
    proxy.respond = ({ method, params: [filter] }) => {
      if (method === 'eth_getLogs') lists.push((filter as { topics: string[][] }).topics[2]?.length ?? 0);
      return undefined;
    };
    const paid = [all[0], all[1_000], all[2_499]].map((terms) => terms ?? newTerms());
    await send(newTerms());
    for (const terms of paid) await send(terms);
    await base.anvil.mine();
    // They were not made a moment ago: between two readings of all, nothing is asked for.
    expect(await watcher.step()).toEqual([]);
    expect(lists).toEqual([]);
    base.clock.pass(15_000);
    await watcher.step();
    base.clock.pass(2_000);
    const seen = await watcher.step();
    expect(seen.map(({ intentId }) => intentId)).toEqual(['pi_0', 'pi_1000', 'pi_2499']);
    expect(lists.slice(0, 3)).toEqual([1_000, 1_000, 500]);
    expect(Math.min(...lists)).toBeGreaterThan(0);
  });

  it('makes as few requests for 10,000 open intents as for 10', async () => {
    const recipients = Array.from({ length: 20 }, () => base.newRecipient());
    const measure = async (): Promise<number> => {
      proxy.calls.clear();
      for (let step = 0; step < 20; step += 1) {
        await base.anvil.mine(3);
        base.clock.pass(500);
        await watcher.step();
      }
      return [...proxy.calls.values()].reduce((sum, count) => sum + count, 0);
    };
    const add = (count: number): void => {
      for (let n = 0; n < count; n += 1)
        watcher.watched.add(`pi_${n}`, { ...newTerms(), requestor: recipients[n % 20] ?? ('' as Address) });
    };
    add(10);
    const few = await measure();
    add(9_990);
    const many = await measure();
    expect(many).toBeLessThanOrEqual(few * 1.1);
    expect(few / 20).toBeLessThan(6);
  });
});
