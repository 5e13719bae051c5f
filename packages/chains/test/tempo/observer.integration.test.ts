import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Address, IntentId, PaymentTerms } from '@pf/domain';
import { upstreamAt } from '@pf/rpc';
import { type RpcProxy, startRpcProxy, startTempo } from '@pf/testing/chains';
import { tempoWallet } from '@pf/testing/wallets';
import { type Hex, keccak256, toHex } from 'viem';
import { named, Watcher } from '../conformance/watching.ts';
import type { SignedTransaction } from '../../src/index.ts';
import { TempoObserver } from '../../src/tempo/observer.ts';
import { startTempoUnderTest, tempoPool, type TempoPayer, type TempoUnderTest } from './chain.ts';

describe('TempoObserver', () => {
  let chain: TempoUnderTest;
  let proxy: RpcProxy;
  let watcher: Watcher;
  let closing: (() => Promise<void>)[];
  beforeEach(async () => {
    chain = await startTempoUnderTest();
    proxy = await startRpcProxy(chain.tempo.rpcUrl);
    const pool = tempoPool([proxy.url]);
    watcher = new Watcher(new TempoObserver(chain.adapter.network, pool, () => chain.now()));
    closing = [() => pool.close(), () => proxy.stop(), () => chain.stop()];
    await watcher.step();
  });
  afterEach(async () => {
    for (const close of closing) await close();
  });

  function newTerms(): PaymentTerms {
    const token = chain.adapter.token('USDC');
    if (token === null) throw new Error('Tempo has USDC');
    return {
      chain: chain.adapter.network.chain,
      tokenAddress: token.address,
      amount: 2_000_000n,
      requestor: chain.newRecipient(),
      reference: chain.adapter.newReference(),
    };
  }
  function payer(index: number): TempoPayer {
    const found = chain.payers[index];
    if (found === undefined) throw new Error('no such payer');
    return found;
  }
  async function sign(terms: PaymentTerms, from: TempoPayer): Promise<SignedTransaction> {
    const built = await chain.adapter.build({
      intentId: 'pi_test' as IntentId,
      terms,
      direction: 'request',
      fulfiller: from.address,
      expiresAt: chain.now() + 3_600_000,
    });
    if (built.kind !== 'built') throw new Error(JSON.stringify(built));
    const parsed = chain.adapter.parseSubmitted(await from.sign(built.transaction.blob));
    if (!parsed.ok || parsed.value.kind !== 'signed') throw new Error('no transaction');
    return parsed.value.transaction;
  }
  /** A watched intent with a verified submission, which no node has. */
  async function prepare(id = 'pi_test', from = payer(0)): Promise<{ signed: SignedTransaction; terms: PaymentTerms }> {
    const terms = newTerms();
    watcher.watched.add(id, terms);
    const signed = await sign(terms, from);
    const verification = await chain.adapter.verify(signed, terms, from.address, false);
    if (verification.kind !== 'verified') throw new Error(JSON.stringify(verification));
    watcher.watched.submit(verification.transaction, chain.now());
    return { signed, terms };
  }
  async function pay(id = 'pi_test', from = payer(0)): Promise<{ signed: SignedTransaction; terms: PaymentTerms }> {
    const prepared = await prepare(id, from);
    expect(await chain.adapter.broadcast(prepared.signed)).toEqual({ kind: 'taken' });
    return prepared;
  }
  /** What a wallet of viem does by itself: a transaction of another type than ours. */
  async function byItself(terms: PaymentTerms, symbol = 'USDC', amount = terms.amount): Promise<string> {
    const [wallet] = chain.tempo.wallets;
    if (wallet === undefined) throw new Error('there are wallets');
    const hash = await tempoWallet(chain.tempo, wallet).transfer(
      chain.tempo.tokens[symbol] ?? '',
      terms.requestor,
      amount,
      terms.reference as string as Hex,
    );
    await chain.tempo.mine();
    return hash;
  }

  it('finds what a wallet sent itself, whatever the transaction type', async () => {
    const terms = newTerms();
    watcher.watched.add('pi_test', terms);
    const hash = await byItself(terms);
    expect(await watcher.step()).toMatchObject([
      {
        type: 'landed',
        intentId: 'pi_test',
        data: {
          hash,
          level: 'finalized',
          transfer: { to: terms.requestor, amount: terms.amount, reference: terms.reference },
        },
      },
    ]);
  });

  it('observes another amount or token with the right reference as the chain recorded it', async () => {
    const terms = newTerms();
    watcher.watched.add('pi_test', terms);
    await byItself(terms, 'USDC', 1n);
    await byItself(terms, 'AlphaUSD');
    // The largest is looked at first.
    expect(await watcher.step()).toMatchObject([
      { type: 'landed', data: { transfer: { amount: terms.amount, tokenAddress: chain.tempo.tokens['AlphaUSD'] } } },
      { type: 'landed', data: { transfer: { amount: 1n, tokenAddress: chain.tempo.tokens['USDC'] } } },
    ]);
  });

  it('observes each of two payments of one intent', async () => {
    const { signed, terms } = await pay();
    await chain.tempo.mine();
    const second = await byItself(terms);
    expect((await watcher.step()).map(({ data }) => data.hash)).toEqual([signed.hash, second]);
  });

  it('finds by its receipt what a node leaves out of its logs', async () => {
    const { signed } = await pay();
    proxy.respond = ({ method }) => (method === 'eth_getLogs' ? [] : undefined);
    await chain.tempo.mine();
    expect(await watcher.step()).toMatchObject([{ type: 'landed', data: { hash: signed.hash, level: 'finalized' } }]);
  });

  it('reads the logs a second time, and finds what a node left out the first time', async () => {
    const terms = newTerms();
    watcher.watched.add('pi_test', terms);
    proxy.respond = ({ method }) => (method === 'eth_getLogs' ? [] : undefined);
    const hash = await byItself(terms);
    expect(await watcher.step()).toEqual([]);
    proxy.respond = () => undefined;
    await chain.pass(15_000);
    const first = await watcher.step();
    await chain.pass(15_000);
    expect([...first, ...(await watcher.step())]).toMatchObject([{ type: 'landed', data: { hash } }]);
  });

  it('observes no drop before a transaction expires, nor while an upstream has it', async () => {
    const { signed } = await prepare();
    await chain.pass(230_000);
    expect(await watcher.step()).toEqual([]);
    // It is on chain, only this node knows nothing of it.
    const other = tempoPool([proxy.url, chain.tempo.rpcUrl]);
    closing.unshift(() => other.close());
    const observer = new TempoObserver(chain.adapter.network, other, () => chain.now());
    await chain.adapter.broadcast(signed);
    await chain.tempo.mine();
    await chain.pass(60_000);
    proxy.respond = ({ method }) =>
      method === 'eth_getTransactionReceipt' ? null : method === 'eth_getLogs' ? [] : undefined;
    const restarted = watcher.restart(observer);
    expect(await restarted.step()).toEqual([]);
    expect(restarted.warnings).toEqual([expect.stringContaining('another upstream does not have it')]);
    proxy.respond = () => undefined;
    await chain.pass(1_000);
    expect(named(await restarted.step())).toEqual(['landed finalized']);
  });

  it('observes a drop once the final block is past the validBefore of a transaction that never landed', async () => {
    const { signed } = await prepare();
    await chain.pass(301_000);
    expect(await watcher.step()).toMatchObject([
      { type: 'dropped', data: { hash: signed.hash, proof: expect.stringContaining('it has expired') } },
    ]);
    expect(await watcher.step()).toEqual([]);
  });

  it('continues at its cursor after a restart, and finds what landed in between', async () => {
    const { signed } = await pay();
    await chain.tempo.mine(50);
    const pool = tempoPool([proxy.url]);
    closing.unshift(() => pool.close());
    const restarted = new TempoObserver(chain.adapter.network, pool, () => chain.now());
    const step = await restarted.step(
      JSON.parse(watcher.cursor ?? '') as Record<string, unknown>,
      async () => watcher.watched,
    );
    expect(step.observations).toMatchObject([{ type: 'landed', data: { hash: signed.hash } }]);
  });

  it('waits for a node that is behind, and concludes nothing from it', async () => {
    const behind = await chain.tempo.rpc('eth_getBlockByNumber', '0x2', false);
    await chain.tempo.mine(100);
    await watcher.step();
    const { signed } = await pay();
    await chain.tempo.mine();
    await chain.pass(400_000);
    proxy.respond = ({ method, params: [tag] }) => {
      if (method === 'eth_getTransactionReceipt') return null;
      if (method !== 'eth_getBlockByNumber') return undefined;
      if (tag === 'latest' || tag === 'finalized') return behind;
      return typeof tag === 'string' && BigInt(tag) > 2n ? null : undefined;
    };
    expect(await watcher.step()).toEqual([]);
    expect(watcher.warnings).toEqual([expect.stringContaining('below the last block that was read')]);
    proxy.respond = () => undefined;
    expect(await watcher.step()).toMatchObject([{ type: 'landed', data: { hash: signed.hash } }]);
  });

  it('warns of a different chain, reads it from the start and drops nothing', async () => {
    await pay();
    const other = await startTempo({ genesisAt: Math.floor(Date.now() / 1_000) - 100_000 });
    closing.unshift(() => other.stop());
    await other.mine(3);
    proxy.target = other.rpcUrl;
    expect(await watcher.step()).toEqual([]);
    expect(watcher.warnings).toEqual([expect.stringContaining('a different one')]);
  });

  it('finds payments among 2,500 recipients, and reads no transfer to anyone else', async () => {
    const all = Array.from({ length: 2_500 }, () => newTerms());
    for (const [n, terms] of all.entries()) watcher.watched.add(`pi_${n}`, terms);
    const [wallet] = chain.tempo.wallets;
    if (wallet === undefined) throw new Error('Tempo has wallets');
    const sender = tempoWallet(chain.tempo, wallet);
    const lists: number[] = [];
    proxy.respond = ({ method, params: [filter] }) => {
      if (method === 'eth_getLogs') lists.push((filter as { topics: string[][] }).topics[2]?.length ?? 0);
      return undefined;
    };
    for (const terms of [newTerms(), all[0], all[2_499]])
      if (terms !== undefined)
        await sender.transfer(terms.tokenAddress, terms.requestor, terms.amount, terms.reference as string as Hex);
    await chain.tempo.mine();
    // They were not made a moment ago: between two readings of all, nothing is asked for.
    expect(await watcher.step()).toEqual([]);
    expect(lists).toEqual([]);
    await chain.pass(15_000);
    const seen = await watcher.step();
    expect(seen.map(({ intentId }) => intentId)).toEqual(['pi_0', 'pi_2499']);
    expect(lists.slice(0, 3)).toEqual([1_000, 1_000, 500]);
    expect(Math.min(...lists)).toBeGreaterThan(0);
  });

  it('makes as few requests for 10,000 open intents as for 10', async () => {
    const recipients = Array.from({ length: 20 }, () => chain.newRecipient());
    const measure = async (): Promise<number> => {
      proxy.calls.clear();
      for (let step = 0; step < 20; step += 1) {
        await chain.tempo.mine(3);
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
    expect(few / 20).toBeLessThan(5);
  });

  describe('with two upstreams', () => {
    let second: RpcProxy;
    let both: Watcher;
    beforeEach(async () => {
      second = await startRpcProxy(chain.tempo.rpcUrl);
      const pool = tempoPool([proxy.url, second.url]);
      closing.unshift(
        () => pool.close(),
        () => second.stop(),
      );
      both = watcher.restart(new TempoObserver(chain.adapter.network, pool, () => chain.now()));
    });

    /** The first upstream makes up a payment in its newest block. */
    function forge({ requestor, tokenAddress, amount, reference }: PaymentTerms): void {
      const thief = `0x${'66'.repeat(20)}`;
      const word = (hex: string): string => `0x${hex.slice(2).toLowerCase().padStart(64, '0')}`;
      const transactionHash = `0x${'f0'.repeat(32)}`;
      const events = ['Transfer(address,address,uint256)', 'TransferWithMemo(address,address,uint256,bytes32)'];
      const logsIn = (block: { readonly number: string; readonly hash: string }): readonly object[] =>
        events.map((event, index) => ({
          address: tokenAddress,
          topics: [keccak256(toHex(event)), word(thief), word(requestor), ...(index === 0 ? [] : [reference])],
          data: word(toHex(amount)),
          blockNumber: block.number,
          blockHash: block.hash,
          transactionHash,
          transactionIndex: '0x0',
          logIndex: toHex(index),
          removed: false,
        }));
      let made: { readonly number: string; readonly hash: string } | null = null;
      proxy.respond = async ({ method, params }) => {
        if (method === 'eth_getLogs') {
          const [filter] = params as [{ readonly toBlock: string }];
          made ??= await chain.tempo.rpc('eth_getBlockByNumber', filter.toBlock, false);
          return made === null ? undefined : logsIn(made).slice(1);
        }
        if (method !== 'eth_getTransactionReceipt' || params[0] !== transactionHash || made === null) return undefined;
        return {
          transactionHash,
          status: '0x1',
          blockNumber: made.number,
          blockHash: made.hash,
          from: thief,
          logs: logsIn(made),
        };
      };
    }

    it('believes no payment that only one of them has made up', async () => {
      const terms = newTerms();
      both.watched.add('pi_test', terms);
      forge(terms);
      await chain.tempo.mine();
      const { observations, setAside, warnings } = await both.stepOnce();
      expect(observations).toEqual([]);
      expect(setAside).toBe(1);
      expect(warnings).toEqual([expect.stringContaining('another upstream does not have it')]);
      for (let step = 0; step < 3; step += 1) {
        await chain.pass(20_000);
        expect(await both.step()).toEqual([]);
      }
    });

    it('reports a payment beside one that is made up, final at once, and asks for its receipt twice', async () => {
      const forged = newTerms();
      both.watched.add('pi_forged', forged);
      const terms = newTerms();
      both.watched.add('pi_test', terms);
      const hash = await byItself(terms);
      forge(forged);
      const made = proxy.respond;
      proxy.respond = async (request) => {
        const own = await made(request);
        if (request.method !== 'eth_getLogs') return own;
        return [...(await chain.tempo.rpc<object[]>('eth_getLogs', request.params[0])), ...(own as object[])];
      };
      second.calls.clear();
      proxy.calls.clear();
      expect(await both.step()).toMatchObject([{ intentId: 'pi_test', data: { hash, level: 'finalized' } }]);
      // One of the payment, one of what is made up.
      expect(proxy.calls.get('eth_getTransactionReceipt')).toBe(2);
      expect(second.calls.get('eth_getTransactionReceipt')).toBe(2);
    });

    it('reports a payment as confirmed while the other does not have its block, and as final once it has', async () => {
      const terms = newTerms();
      both.watched.add('pi_test', terms);
      await byItself(terms);
      let isBehind = true;
      second.respond = ({ method, params }) =>
        isBehind &&
        (method === 'eth_getTransactionReceipt' || (method === 'eth_getBlockByNumber' && params[0] !== '0x0'))
          ? null
          : undefined;
      expect(named(await both.step())).toEqual(['landed confirmed']);
      await chain.pass(1_000);
      expect(await both.step()).toEqual([]);
      isBehind = false;
      await chain.pass(1_500);
      expect(named(await both.step())).toEqual(['landed finalized']);
      await chain.pass(1_500);
      expect(await both.step()).toEqual([]);
    });

    it('finds by the other what the one has in its logs, and has no receipt of', async () => {
      const terms = newTerms();
      both.watched.add('pi_test', terms);
      const hash = await byItself(terms);
      proxy.respond = ({ method }) => (method === 'eth_getTransactionReceipt' ? null : undefined);
      const { observations, setAside } = await both.stepOnce();
      expect({ observations, setAside }).toEqual({ observations: [], setAside: 1 });
      proxy.respond = () => undefined;
      await chain.pass(1_000);
      expect(await both.stepOnce()).toMatchObject({
        observations: [{ data: { hash, level: 'finalized' } }],
        setAside: 0,
      });
    });
  });

  it('ends a submission whose transaction succeeded and paid its intent nothing', async () => {
    const { signed } = await pay();
    await chain.tempo.mine();
    proxy.respond = async ({ method, params: [hash] }) => {
      if (method === 'eth_getLogs') return [];
      if (method !== 'eth_getTransactionReceipt' || hash !== signed.hash) return undefined;
      return { ...(await chain.tempo.rpc<object>('eth_getTransactionReceipt', hash)), logs: [] };
    };
    expect(await watcher.step()).toMatchObject([
      {
        type: 'reverted',
        data: { hash: signed.hash, reason: expect.stringContaining('paid this payment intent nothing') },
      },
    ]);
    expect(await watcher.step()).toEqual([]);
  });

  it('reads on where there are more payments in a range than a step can read', async () => {
    const all = Array.from({ length: 25 }, () => newTerms());
    for (const [n, terms] of all.entries()) watcher.watched.add(`pi_${n}`, terms);
    for (const terms of all) await byItself(terms, 'USDC', 1n);
    const slow = tempoPool([{ ...upstreamAt(proxy.url), plan: { callsPerSecond: 4 } }]);
    closing.unshift(() => slow.close());
    const observer = new TempoObserver(chain.adapter.network, slow, () => chain.now());
    const found: string[] = [];
    const restarted = watcher.restart(observer);
    const first = await restarted.stepOnce();
    expect(first.behind).toBeGreaterThan(0n);
    found.push(...first.observations.map(({ intentId }) => intentId));
    while (new Set(found).size < all.length)
      found.push(...(await restarted.stepOnce()).observations.map((one) => one.intentId));
    expect(new Set(found).size).toBe(all.length);
  });
});
