import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type {
  Address,
  Build,
  IntentId,
  Observation,
  PaymentTerms,
  PreparedTransaction,
  UnsignedTransaction,
} from '@pf/domain';
import { until } from '@pf/testing';
import type { ChainAdapter, ChainObserver, SignedTransaction } from '../../src/index.ts';
import { named, Watched, Watcher } from './watching.ts';

/**
 * Steps once, and on until such a one is among all that was observed: on a busy machine a node may be late, and what it
 * shows is then read beside the steps.
 */
async function untilObserved(
  watcher: Watcher,
  what: string,
  before: readonly Observation[] = [],
): Promise<readonly Observation[]> {
  const all = [...before];
  return until(`${what} to be observed`, async () => {
    all.push(...(await watcher.step()));
    return named(all).some((one) => one.startsWith(what)) && all;
  });
}

/** A payer's wallet, of another library than the adapter's own. */
export interface PayerWallet {
  readonly address: Address;
  /** Signs a blob as `build` gave it. */
  sign(blob: string): Promise<string>;
  /** The same with each library that people of this chain use, by its name: all take the blob as it comes. */
  readonly signers: Readonly<Record<string, (blob: string) => Promise<string>>>;
}

/** What a chain does not have. Nothing else is left out of the suite. */
export interface Exemptions {
  /** Base: a transaction lives until its nonce is used. */
  readonly expiry?: true;
  /** Tempo: what is in a block is final. */
  readonly finalityGap?: true;
}

/** A chain as the suite needs it: an adapter, an observer, money, and control of the chain. */
export interface ChainUnderTest {
  readonly adapter: ChainAdapter;
  readonly observer: ChainObserver;
  /** At least two. Each pays in turn: what one test does to a payer does not hurt the next test's. */
  readonly payers: readonly PayerWallet[];
  /** A new address that has nothing. */
  newRecipient(): Address;
  balanceOf(address: Address): Promise<bigint>;
  /** The observer's clock. */
  now(): number;
  /** Lets everything that was broadcast land. */
  land(): Promise<void>;
  /** Lets so much time pass, for the observer's clock and the chain, that what landed is confirmed. */
  settle(): Promise<void>;
  /** Makes all that has landed final. */
  finalize(): Promise<void>;
  /** The payer's transfers fail on chain from now on, though they did not when simulated. */
  spoil(payer: PayerWallet): Promise<void>;
  /**
   * Lets the lifetime of everything built so far end; `finalize` makes that final. Not asked of a chain without expiry.
   */
  expire(): Promise<void>;
  /** Makes it impossible forever that this transaction, which no node has, lands. */
  kill(transaction: SignedTransaction, payer: PayerWallet): Promise<void>;
  /** The good transaction with one thing changed, signed by the payer: what, and the text of a submit. */
  tampered(blob: string, payer: PayerWallet, terms: PaymentTerms): AsyncIterable<readonly [string, string]>;
  stop(): Promise<void>;
}

/** What every chain's adapter and observer have to do. Run over each of them. */
export function conformance(name: string, start: () => Promise<ChainUnderTest>, exempt: Exemptions = {}): void {
  describe(`${name} chain`, () => {
    let chain: ChainUnderTest;
    /** The level that a landing is first observed at. */
    const first = exempt.finalityGap ? 'finalized' : 'confirmed';
    let turn = 0;
    beforeAll(async () => {
      chain = await start();
    });
    afterAll(() => chain.stop());

    function nextPayer(): PayerWallet {
      const payer = chain.payers[turn++ % chain.payers.length];
      if (payer === undefined) throw new Error('the suite needs payers');
      return payer;
    }
    function newTerms(amount = 1_250_000n): PaymentTerms {
      const token = chain.adapter.token('USDC');
      if (token === null) throw new Error('the suite pays in USDC');
      return {
        chain: chain.adapter.network.chain,
        tokenAddress: token.address,
        amount,
        requestor: chain.newRecipient(),
        reference: chain.adapter.newReference(),
      };
    }
    async function build(terms: PaymentTerms, payer: PayerWallet): Promise<UnsignedTransaction & { build: Build }> {
      const built = await chain.adapter.build({
        intentId: 'pi_test' as IntentId,
        terms,
        direction: 'request',
        fulfiller: payer.address,
        expiresAt: chain.now() + 3_600_000,
      });
      if (built.kind !== 'built') throw new Error(JSON.stringify(built));
      return {
        ...built.transaction,
        build: { version: 2, fulfiller: payer.address, transaction: built.transaction, lifetime: built.lifetime },
      };
    }
    const reusable = (made: Build): Promise<boolean> => chain.adapter.isReusable(made, chain.now() + 3_600_000);
    async function sign(blob: string, payer: PayerWallet): Promise<SignedTransaction> {
      const parsed = chain.adapter.parseSubmitted(await payer.sign(blob));
      if (!parsed.ok || parsed.value.kind !== 'signed') throw new Error(JSON.stringify(parsed));
      return parsed.value.transaction;
    }
    async function verified(
      signed: SignedTransaction,
      terms: PaymentTerms,
      payer: PayerWallet,
    ): Promise<PreparedTransaction> {
      const verification = await chain.adapter.verify(signed, terms, payer.address, false);
      if (verification.kind !== 'verified') throw new Error(JSON.stringify(verification));
      return verification.transaction;
    }
    /** Everything up to the broadcast, watched from before. */
    async function pay(
      watcher: Watcher,
      terms = newTerms(),
      payer = nextPayer(),
    ): Promise<{ signed: SignedTransaction; terms: PaymentTerms; payer: PayerWallet }> {
      await watcher.step();
      watcher.watched.add('pi_test', terms);
      const signed = await sign((await build(terms, payer)).blob, payer);
      watcher.watched.submit(await verified(signed, terms, payer), chain.now());
      expect(await chain.adapter.broadcast(signed)).toEqual({ kind: 'taken' });
      return { signed, terms, payer };
    }

    it('reports that it is ready', async () => {
      expect(await chain.adapter.ready(2_000)).toBe(true);
    });

    it("builds what the chain's libraries sign unchanged, and verifies it", async () => {
      const [terms, payer] = [newTerms(), nextPayer()];
      const { format, build: made, blob } = await build(terms, payer);
      expect(format).toBe(chain.adapter.network.format);
      expect(await reusable(made)).toBe(true);
      const libraries = Object.entries(payer.signers);
      expect(libraries.length).toBeGreaterThan(1);
      for (const [library, sign] of libraries) {
        const parsed = chain.adapter.parseSubmitted(await sign(blob));
        if (!parsed.ok || parsed.value.kind !== 'signed') throw new Error(`${library}: ${JSON.stringify(parsed)}`);
        const signed = parsed.value.transaction;
        expect({ library, ...(await verified(signed, terms, payer)) }).toMatchObject({
          library,
          hash: signed.hash,
          sender: payer.address,
          terms,
        });
      }
    });

    it('estimates the fee in the field of its own chain, and leaves the others null', async () => {
      const { estimatedFeeEth, estimatedFeeLamports, estimatedFeeUsdc, ataRentLamports } = await build(
        newTerms(),
        nextPayer(),
      );
      const fees = { base: estimatedFeeEth, solana: estimatedFeeLamports, tempo: estimatedFeeUsdc };
      const { family } = chain.adapter.network;
      for (const [of, fee] of Object.entries(fees))
        expect({ of, has: fee !== null }).toEqual({ of, has: of === family });
      expect(ataRentLamports !== null).toBe(family === 'solana');
    });

    it('refuses every tampered transaction, naming what differs', async () => {
      const [terms, payer] = [newTerms(), nextPayer()];
      const { blob } = await build(terms, payer);
      const tried: string[] = [];
      for await (const [what, text] of chain.tampered(blob, payer, terms)) {
        const parsed = chain.adapter.parseSubmitted(text);
        tried.push(what);
        // A form that no wallet makes is refused as malformed; all else is read, and found to be something else.
        if (!parsed.ok || parsed.value.kind !== 'signed') continue;
        const verification = await chain.adapter.verify(parsed.value.transaction, terms, payer.address, false);
        expect({ what, kind: verification.kind }).toEqual({ what, kind: 'mismatch' });
        expect(verification).toHaveProperty(['differs', what]);
      }
      expect(tried.length).toBeGreaterThan(5);
    });

    it('refuses a transaction that another wallet signed', async () => {
      const [terms, payer, other] = [newTerms(), nextPayer(), nextPayer()];
      const signed = await sign((await build(terms, other)).blob, other);
      expect(await chain.adapter.verify(signed, terms, payer.address, false)).toMatchObject({
        kind: 'mismatch',
        differs: { sender: { expected: payer.address, actual: other.address } },
      });
    });

    it('observes a payment as confirmed, then as final', async () => {
      const watcher = new Watcher(chain.observer);
      const { signed, terms, payer } = await pay(watcher);
      expect(await watcher.step()).toEqual([]);
      await chain.land();
      const early = await watcher.step();
      await chain.settle();
      const confirmed = await untilObserved(watcher, 'landed', early);
      expect(confirmed[0]).toMatchObject({
        type: 'landed',
        intentId: 'pi_test',
        data: {
          hash: signed.hash,
          level: first,
          transfer: {
            tokenAddress: terms.tokenAddress,
            from: payer.address,
            to: terms.requestor,
            amount: terms.amount,
            reference: terms.reference,
          },
        },
      });
      expect(confirmed[0]).toHaveProperty('data.fee.payer', payer.address);
      expect(await chain.balanceOf(terms.requestor)).toBe(terms.amount);
      await chain.finalize();
      const others = confirmed.slice(1);
      expect(
        named(
          exempt.finalityGap
            ? [...others, ...(await watcher.step())]
            : await untilObserved(watcher, 'landed finalized', others),
        ),
      ).toEqual(exempt.finalityGap ? [] : ['landed finalized']);
      await chain.settle();
      expect(await watcher.step()).toEqual([]);
    });

    it('accepts the same bytes twice, also after they landed', async () => {
      const watcher = new Watcher(chain.observer);
      const { signed, terms, payer } = await pay(watcher);
      expect(await chain.adapter.broadcast(signed)).toMatchObject({ kind: 'taken' });
      await chain.land();
      expect(await chain.adapter.broadcast(signed)).toMatchObject({ kind: 'taken' });
      expect(await chain.adapter.verify(signed, terms, payer.address, false)).toMatchObject({ kind: 'verified' });
    });

    it('reads a transaction that a wallet sent itself, once the chain shows it', async () => {
      const watcher = new Watcher(chain.observer);
      const { signed, terms, payer } = await pay(watcher);
      await chain.land();
      const fetched = await chain.adapter.fetchSent(signed.hash);
      expect(fetched).not.toBeNull();
      if (fetched === null) return;
      expect(Buffer.from(fetched.raw).equals(signed.raw)).toBe(true);
      expect(await chain.adapter.verify(fetched, terms, payer.address, true)).toMatchObject({ kind: 'verified' });
      expect(await chain.adapter.fetchSent(chain.adapter.synthetic().hash)).toBeNull();
    });

    it('finds a payment that was never submitted, also one made while no watcher ran', async () => {
      const watcher = new Watcher(chain.observer);
      await watcher.step();
      const [terms, payer] = [newTerms(), nextPayer()];
      const signed = await sign((await build(terms, payer)).blob, payer);
      await chain.adapter.broadcast(signed);
      await chain.land();
      await chain.settle();
      watcher.watched.add('pi_test', terms);
      const early = await watcher.step();
      await chain.settle();
      expect((await untilObserved(watcher, 'landed', early))[0]).toMatchObject({
        type: 'landed',
        data: { hash: signed.hash, level: first },
      });
    });

    it('judges a payment again by what the chain shows, and none that no upstream returns', async () => {
      const watcher = new Watcher(chain.observer);
      const { signed, terms, payer } = await pay(watcher);
      await chain.land();
      await chain.settle();
      // As an audit, which believes nothing that was verified.
      const asked = new Watched();
      asked.add('pi_test', terms);
      const { tokenAddress, amount, requestor: to, reference } = terms;
      const transfer = { tokenAddress, amount, to, from: payer.address, reference };
      expect(await chain.observer.judge(signed.hash, asked)).toMatchObject([
        { type: 'landed', intentId: 'pi_test', data: { hash: signed.hash, transfer } },
      ]);
      const other = new Watched();
      other.add('pi_other', { ...terms, reference: chain.adapter.newReference() });
      expect(await chain.observer.judge(signed.hash, other)).toEqual([]);
      const unsent = await sign((await build(newTerms(), payer)).blob, payer);
      expect(await chain.observer.judge(unsent.hash, asked)).toBeNull();
    });

    it('observes a revert on chain', async () => {
      const watcher = new Watcher(chain.observer);
      await watcher.step();
      const [terms, payer] = [newTerms(), nextPayer()];
      watcher.watched.add('pi_test', terms);
      const signed = await sign((await build(terms, payer)).blob, payer);
      watcher.watched.submit(await verified(signed, terms, payer), chain.now());
      await chain.spoil(payer);
      expect(await chain.adapter.broadcast(signed)).toEqual({ kind: 'taken' });
      await chain.land();
      const early = await watcher.step();
      await chain.settle();
      const second = await watcher.step();
      await chain.settle();
      const all = await untilObserved(watcher, 'reverted', [...early, ...second]);
      expect(all[0]).toMatchObject({ type: 'reverted', intentId: 'pi_test', data: { hash: signed.hash } });
      expect(named(all)).toEqual(['reverted']);
    });

    it('observes a final revert as a drop when the intent was paid by another transaction', async () => {
      const watcher = new Watcher(chain.observer);
      await watcher.step();
      const [terms, payer, other] = [newTerms(), nextPayer(), nextPayer()];
      watcher.watched.add('pi_test', terms);
      const signed = await sign((await build(terms, payer)).blob, payer);
      const paid = await sign((await build(terms, other)).blob, other);
      watcher.watched.submit(await verified(signed, terms, payer), chain.now());
      expect(await chain.adapter.broadcast(paid)).toEqual({ kind: 'taken' });
      await chain.land();
      await watcher.step();
      await chain.settle();
      await watcher.step();
      await chain.spoil(payer);
      expect(await chain.adapter.broadcast(signed)).toEqual({ kind: 'taken' });
      await chain.land();
      await chain.settle();
      const early = await watcher.step();
      await chain.finalize();
      await chain.settle();
      const all = await untilObserved(watcher, 'dropped', early);
      expect(named(all)).not.toContain('reverted');
      expect(all.filter(({ type }) => type === 'dropped')).toMatchObject([
        { intentId: 'pi_test', data: { hash: signed.hash } },
      ]);
    });

    it('observes a drop only with proof; a new build pays the intent', async () => {
      const watcher = new Watcher(chain.observer);
      await watcher.step();
      const [terms, payer] = [newTerms(), nextPayer()];
      watcher.watched.add('pi_test', terms);
      const { blob, build: made } = await build(terms, payer);
      const signed = await sign(blob, payer);
      watcher.watched.submit(await verified(signed, terms, payer), chain.now());
      await chain.land();
      await chain.settle();
      expect(await watcher.step()).toEqual([]);
      await chain.kill(signed, payer);
      await chain.finalize();
      await chain.settle();
      const dropped = await untilObserved(watcher, 'dropped');
      expect(dropped[0]).toMatchObject({ type: 'dropped', intentId: 'pi_test', data: { hash: signed.hash } });
      expect(named(dropped)).toEqual(['dropped']);
      expect(await reusable(made)).toBe(false);

      const again = await sign((await build(terms, payer)).blob, payer);
      expect(again.hash).not.toBe(signed.hash);
      watcher.watched.submit(await verified(again, terms, payer), chain.now());
      expect(await chain.adapter.broadcast(again)).toEqual({ kind: 'taken' });
      await chain.land();
      await chain.settle();
      const paid = await watcher.step();
      await chain.settle();
      expect((await untilObserved(watcher, 'landed', paid))[0]).toMatchObject({
        type: 'landed',
        data: { hash: again.hash, level: first },
      });
    });

    if (!exempt.expiry) {
      it('refuses a transaction after its lifetime, and hands out its build no more', async () => {
        const [terms, payer] = [newTerms(), nextPayer()];
        const { blob, build: made } = await build(terms, payer);
        const signed = await sign(blob, payer);
        expect(await verified(signed, terms, payer)).toMatchObject({
          lifetime: { kind: expect.not.stringMatching('unlimited') },
        });
        await chain.expire();
        await chain.finalize();
        expect(await chain.adapter.verify(signed, terms, payer.address, false)).toMatchObject({ kind: 'rejected' });
        expect(await chain.adapter.broadcast(signed)).toMatchObject({ kind: 'refused' });
        expect(await reusable(made)).toBe(false);
      });

      it('builds nothing that could land after the intent expires', async () => {
        const [terms, payer] = [newTerms(), nextPayer()];
        const built = await chain.adapter.build({
          intentId: 'pi_test' as IntentId,
          terms,
          direction: 'request',
          fulfiller: payer.address,
          expiresAt: chain.now() + 60_000,
        });
        if (built.kind !== 'built') throw new Error(JSON.stringify(built));
        if (built.lifetime.kind === 'time')
          expect(Number(built.lifetime.validBefore) * 1000).toBeLessThanOrEqual(chain.now() + 60_000);
        else expect(built.lifetime.kind).toBe('block_height');
      });
    }
  });
}
