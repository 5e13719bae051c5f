import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Address, IntentId, Observation, PaymentTerms } from '@pf/domain';
import { type RpcProxy, startRpcProxy } from '@pf/testing/chains';
import { leastDelay } from '@pf/testing/quiet-core';
import { SolanaObserver } from '../../src/solana/observer.ts';
import { accountsOf, tokenAccountOf } from '../../src/solana/payment.ts';
import { decodeSigned } from '../../src/solana/signed-transaction.ts';
import { named, Watcher } from '../conformance/watching.ts';
import { DELAY_MAX_MS } from '../hostile/delay.ts';
import { hostileTransactions, type ShownTransaction } from '../hostile/solana.ts';
import { solanaPool, type SolanaPayer, type SolanaUnderTest, startSolana, termsOn } from './chain.ts';

const HOUR = 3_600_000;

describe('SolanaObserver beside', () => {
  let solana: SolanaUnderTest;
  let proxy: RpcProxy;
  let watcher: Watcher;
  let closing: (() => Promise<void>)[];
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
  const payer = (index = 0): SolanaPayer => solana.payers[index] as SolanaPayer;
  const newTerms = (id: string, requestor?: Address): PaymentTerms => {
    const terms = termsOn(solana, 'USDC', requestor);
    watcher.watched.add(id, terms);
    return terms;
  };
  const scan = (terms: PaymentTerms): Promise<string> =>
    payer().transfer(terms.tokenAddress, terms.requestor, terms.amount, { references: [terms.reference] });
  async function after(ms: number): Promise<readonly Observation[]> {
    solana.clock.pass(ms);
    return watcher.step();
  }

  /** Signed and never sent: a node shows it as if it had landed. */
  async function invented(terms: PaymentTerms) {
    const built = await solana.adapter.build({
      intentId: 'pi_test' as IntentId,
      terms,
      direction: 'request',
      fulfiller: payer(1).address,
      expiresAt: 0,
    });
    if (built.kind !== 'built') throw new Error(JSON.stringify(built));
    const bytes = Buffer.from(await payer(1).sign(built.transaction.blob), 'base64');
    const decoded = decodeSigned(bytes);
    if (!decoded.ok) throw new Error(decoded.problem);
    const { hash } = decoded.value;
    const accounts: readonly string[] = decoded.value.accounts;
    const { source, destination, mint, tokenProgram } = await accountsOf(terms, payer(1).address);
    const balance = (account: string, owner: string, amount: bigint) => ({
      accountIndex: accounts.indexOf(account),
      mint: mint as string,
      owner,
      uiTokenAmount: { amount: String(amount) },
    });
    const { confirmed } = await solana.node.advance();
    const good: ShownTransaction = {
      slot: confirmed,
      transaction: [bytes.toString('base64'), 'base64'],
      meta: {
        err: null,
        fee: 5_000,
        preTokenBalances: [balance(source, payer(1).address, terms.amount)],
        postTokenBalances: [balance(source, payer(1).address, 0n), balance(destination, terms.requestor, terms.amount)],
        innerInstructions: [],
        loadedAddresses: { writable: [], readonly: [] },
      },
    };
    return { hash, good, slot: confirmed, tokenProgram: accounts.indexOf(tokenProgram) };
  }
  type Invented = Awaited<ReturnType<typeof invented>>;
  /** This upstream shows that too, as the newest of the requestor's account. */
  async function shows(by: RpcProxy, { hash, slot }: Invented, terms: PaymentTerms, shown: unknown): Promise<void> {
    const account = await tokenAccountOf(terms.requestor, terms.tokenAddress);
    by.respond = async ({ method, params }) => {
      if (method === 'getTransaction') return params[0] === hash ? shown : undefined;
      if (method === 'getSignaturesForAddress' && params[0] === account)
        return [{ signature: hash, slot, err: null }, ...(await solana.node.rpc<object[]>(method, ...params))];
      if (method !== 'getSignatureStatuses') return undefined;
      const { context, value } = await solana.node.rpc<{ context: object; value: unknown[] }>(method, ...params);
      const hashes = params[0] as readonly string[];
      const own = { slot, err: null, confirmationStatus: 'finalized' };
      return { context, value: value.map((one, place) => (hashes[place] === hash ? own : one)) };
    };
  }

  it.each(hostileTransactions(0).map(({ name }, place) => [name, place] as const))(
    'a transaction with %s confirms the payment of another in the same step',
    async (_name, place) => {
      let payments = 0;
      /** Both payments are confirmed by the first step after them. */
      const pay = async (isBeside: boolean): Promise<void> => {
        const [aside, warned] = [(await watcher.stepOnce()).setAside ?? 0, watcher.warnings.length];
        const id = (payments += 1);
        const [attacked, honest] = [newTerms(`pi_attacked_${id}`), newTerms(`pi_honest_${id}`)];
        const invention = await invented(attacked);
        const one = hostileTransactions(invention.tokenProgram)[place];
        if (one === undefined) throw new Error('there is none');
        if (isBeside) await shows(proxy, invention, attacked, one.show(invention.good));
        // Something has moved in both.
        await payer().transfer(attacked.tokenAddress, attacked.requestor, 1n);
        const hash = await scan(honest);
        const own = await scan(newTerms(`pi_own_${id}`, attacked.requestor));
        await solana.node.advance();
        solana.clock.pass(1_000);
        const { observations: all, setAside } = await watcher.stepOnce();
        // Those of an attempt before may become final.
        const observations = all.filter(({ data }) => !('level' in data) || data.level === 'confirmed');
        expect(observations.map(({ intentId, data }) => [intentId, data.hash])).toEqual(
          expect.arrayContaining([
            [`pi_honest_${id}`, hash],
            [`pi_own_${id}`, own],
          ]),
        );
        expect(observations).toHaveLength(2);
        const isAside = isBeside && one.isSetAside;
        expect((setAside ?? 0) - aside).toBe(isAside ? 1 : 0);
        const text = `solana-devnet: ${invention.hash} of slot ${invention.slot} is set aside: `;
        expect(watcher.warnings.slice(warned)).toEqual(isAside ? [expect.stringContaining(text)] : []);
      };
      const delayMs = await leastDelay(
        () => pay(false),
        () => pay(true),
        DELAY_MAX_MS,
      );
      expect(delayMs).toBeLessThan(DELAY_MAX_MS);
    },
  );

  it('a payment that cannot be judged yet finds it once it can', async () => {
    const terms = newTerms('pi_test');
    const hash = await scan(terms);
    await solana.node.advance();
    proxy.respond = ({ method }) => (method === 'getTransaction' ? { slot: 'soon' } : undefined);
    expect(await after(1_000)).toEqual([]);
    expect((await watcher.stepOnce()).setAside).toBe(1);
    proxy.respond = () => undefined;
    expect(await after(2_000)).toMatchObject([{ type: 'landed', data: { hash } }]);
    expect((await watcher.stepOnce()).setAside).toBe(0);
  });

  it('a live submission that cannot be judged waits for it, and ends it neither way', async () => {
    const [terms, honest] = [newTerms('pi_test'), newTerms('pi_honest')];
    const invention = await invented(terms);
    await shows(proxy, invention, terms, { slot: 'soon' });
    watcher.watched.submit(
      {
        hash: invention.hash,
        terms,
        sender: payer(1).address,
        lifetime: { kind: 'block_height', lastValid: 1n },
      } as Parameters<typeof watcher.watched.submit>[0],
      solana.clock.now(),
    );
    const hash = await scan(honest);
    await solana.node.advance();
    expect(await after(1_000)).toMatchObject([{ intentId: 'pi_honest', data: { hash } }]);
    for (let hour = 0; hour < 3; hour += 1)
      expect((await after(HOUR)).filter(({ intentId }) => intentId !== 'pi_honest')).toEqual([]);
    expect(watcher.warnings).toEqual([expect.stringContaining(`${invention.hash} of slot`)]);
    await shows(proxy, invention, terms, invention.good);
    expect(named(await after(HOUR))).toContain('landed confirmed');
  });

  describe('an upstream that invents payments', () => {
    let second: RpcProxy;
    let doubting: Watcher;
    beforeEach(async () => {
      second = await startRpcProxy(solana.node.rpcUrl);
      const pool = solanaPool([proxy.url, second.url]);
      closing.unshift(
        () => pool.close(),
        () => second.stop(),
      );
      doubting = new Watcher(new SolanaObserver(solana.adapter.network, pool, solana.clock.now), watcher.watched);
      await doubting.step();
    });
    /**
     * Steps until all that is wanted is observed and done; a slow machine makes an upstream lag for some seconds, and
     * then nothing is asked of it.
     */
    async function stepsUntil(wanted: readonly string[], ms: number, isDone = (): boolean => true): Promise<string[]> {
      const seen: string[] = [];
      for (let step = 0; step < 300 && !(isDone() && wanted.every((one) => seen.includes(one))); step += 1) {
        await solana.node.advance(10);
        solana.clock.pass(ms);
        for (const one of await doubting.step()) seen.push(`${one.intentId} ${named([one]).join('')}`);
      }
      expect(seen).toEqual(expect.arrayContaining([...wanted]));
      return seen;
    }

    it('makes no payment final that a second one does not show, and says so', async () => {
      const [attacked, honest] = [newTerms('pi_attacked'), newTerms('pi_honest')];
      const invention = await invented(attacked);
      await shows(proxy, invention, attacked, invention.good);
      await payer().transfer(attacked.tokenAddress, attacked.requestor, 1n);
      await scan(honest);
      const text = `${invention.hash} of slot ${invention.slot} does not become final`;
      const isTold = (): boolean => doubting.warnings.some((warning) => warning.includes(text));
      const wanted = ['pi_attacked landed confirmed', 'pi_honest landed finalized'];
      const seen = await stepsUntil(wanted, 20_000, isTold);
      expect(seen).not.toContain('pi_attacked landed finalized');
      expect(isTold()).toBe(true);
    });

    it('is asked for a payment once, and the other one once', async () => {
      const terms = newTerms('pi_honest');
      await doubting.step();
      await scan(terms);
      proxy.calls.clear();
      second.calls.clear();
      await stepsUntil(['pi_honest landed confirmed', 'pi_honest landed finalized'], 2_000);
      expect([proxy, second].map(({ calls }) => calls.get('getTransaction'))).toEqual([1, 1]);
    });
  });
});
