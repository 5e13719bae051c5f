import { describe, expect, it } from '@jest/globals';
import type { IntentId, Observation, PaymentTerms, PreparedTransaction, Reference, TransactionHash } from '@pf/domain';
import { type Cursor, rewindCursor } from '@pf/chains';
import { createLogger } from '@pf/runtime';
import { SimulatedNetwork, type SimulatedTransaction, SimulatedWallet } from '@pf/simulation/chain';
import { type Kernel, simulate } from '@pf/simulation/kernel';
import { Watched } from '../../../chains/test/conformance/watching.ts';

const log = createLogger('test', 'silent');

/** A watcher's observer over a simulated network, and a payer. */
class Bench {
  readonly kernel: Kernel;
  readonly network: SimulatedNetwork;
  readonly watched = new Watched();
  readonly observed: Observation[] = [];
  readonly payer: SimulatedWallet;
  readonly terms: PaymentTerms;
  readonly access;
  /** Whether the ledger takes an observation. */
  takes: (observation: Observation) => boolean = () => true;
  /** The stored position of the observer. */
  cursor: Cursor | null = null;
  #stopped = false;

  constructor(kernel: Kernel, upstreams = 2) {
    this.kernel = kernel;
    this.network = new SimulatedNetwork(kernel, upstreams);
    this.access = this.network.connect(log, () => Promise.resolve(null));
    const [token] = this.network.network.tokens;
    if (token === undefined) throw new Error('the network has tokens');
    this.payer = new SimulatedWallet(this.network.chain, 1).fund(token.address, 1_000_000n);
    this.terms = {
      chain: this.network.network.chain,
      tokenAddress: token.address,
      amount: 400_000n,
      requestor: new SimulatedWallet(this.network.chain, 99).address,
      reference: this.access.adapter.newReference(),
    };
    this.watched.add('pi_1', this.terms);
    void this.#watch();
  }

  /** The types of the observations so far. */
  get types(): readonly string[] {
    return this.observed.map(({ type, data }) => ('level' in data ? data.level : type));
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await this.kernel.sleep(500);
  }

  submitted(transaction: SimulatedTransaction): void {
    const prepared: PreparedTransaction = {
      hash: transaction.hash,
      sender: transaction.sender,
      nonce: transaction.nonce.toString(),
      lifetime: { kind: 'unlimited' },
      terms: this.terms,
    };
    this.watched.submit(prepared, this.kernel.now());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.access.close();
  }

  async #watch(): Promise<void> {
    const { observer } = this.access;
    while (!this.#stopped) {
      try {
        const before = this.cursor;
        const step = await observer.step(before, () => Promise.resolve(this.watched));
        if (this.cursor !== before) continue;
        this.cursor = step.cursor;
        for (const observation of step.observations) {
          if (this.takes(observation)) this.watched.apply(observation);
          this.observed.push(observation);
        }
      } catch (error) {
        if (!(error instanceof Error) || error.name !== 'RpcUnavailableError') this.kernel.fail(error);
      }
      await this.kernel.sleep(observer.intervalMs);
    }
  }
}

const on = (seed: number, test: (bench: Bench) => Promise<void>, upstreams = 2): Promise<void> =>
  simulate(seed, async (kernel) => {
    const bench = new Bench(kernel, upstreams);
    await test(bench);
    await bench.stop();
  });

describe('the observer of Base on a simulated chain', () => {
  it('sees a payment land and become final', () =>
    on(1, async (bench) => {
      bench.payer.send(bench.payer.pay(bench.terms));
      await bench.until(() => bench.types.includes('finalized'));
      expect(bench.types).toEqual(['confirmed', 'finalized']);
      expect(bench.network.chain.standingOf(bench.terms.reference)).toMatchObject([{ amount: 400_000n, final: true }]);
    }));

  it('sees a landing undone by a reorg, and the new one', () =>
    on(2, async (bench) => {
      bench.payer.send(bench.payer.pay(bench.terms));
      await bench.until(() => bench.types.includes('confirmed'));
      bench.network.chain.reorganize(10);
      await bench.until(() => bench.types.includes('finalized'));
      expect(bench.types).toEqual(['confirmed', 'lost', 'confirmed', 'finalized']);
    }));

  it('soon reports a landing again that the ledger passed over and then counted as lost', () =>
    on(2, async (bench) => {
      bench.takes = () => false;
      bench.payer.send(bench.payer.pay(bench.terms));
      await bench.until(() => bench.types.includes('confirmed'));
      const [landed] = bench.observed;
      if (landed?.type !== 'landed') throw new Error('the first observation is the landing');
      // The ledger still counts the landing in a block that is no longer there, until its loss is reported.
      const transfer = { ...landed.data.transfer, blockHash: `0x${'0'.repeat(64)}` };
      bench.watched.apply({ ...landed, data: { ...landed.data, transfer } });
      bench.watched.apply({ ...landed, type: 'lost', data: { hash: landed.data.hash } });
      bench.takes = () => true;
      const lostAt = bench.kernel.now();
      await bench.until(() => bench.types.length > 1);
      expect(bench.kernel.now() - lostAt).toBeLessThan(60_000);
      expect(bench.types).toEqual(['confirmed', 'confirmed']);
    }));

  it('proves that a replaced transaction never lands', () =>
    on(3, async (bench) => {
      const payment = bench.payer.pay(bench.terms);
      bench.submitted(payment);
      bench.payer.send(bench.payer.cancel(payment));
      await bench.until(() => bench.types.includes('dropped'));
      expect(bench.network.chain.standing()).toEqual([]);
    }));

  it('sees a payment that reverts for lack of funds', () =>
    on(4, async (bench) => {
      const payment = bench.payer.pay({ ...bench.terms, amount: 2_000_000n });
      bench.submitted(payment);
      bench.payer.send(payment);
      await bench.until(() => bench.types.includes('reverted'));
      expect(bench.network.chain.standing()).toEqual([]);
    }));

  it('finds a payment whose logs the first upstream leaves out', () =>
    on(5, async (bench) => {
      const [first] = bench.network.nodes;
      if (first) first.faults = { ...first.faults, omits: 1 };
      bench.payer.send(bench.payer.pay(bench.terms));
      await bench.until(() => bench.types.includes('confirmed'));
    }));

  it('finds a payment that every upstream has left out when its blocks are read again', () =>
    on(11, async (bench) => {
      const { kernel, network } = bench;
      for (const node of network.nodes) node.faults = { ...node.faults, omits: 1 };
      const block = network.chain.height(kernel.now());
      bench.payer.send(bench.payer.pay(bench.terms));
      await kernel.sleep(300_000);
      for (const node of network.nodes) node.faults = { ...node.faults, omits: 0 };
      await kernel.sleep(300_000);
      expect(bench.types).toEqual([]);
      if (bench.cursor === null) throw new Error('it was watched');
      bench.cursor = rewindCursor(network.network, bench.cursor, BigInt(block));
      await bench.until(() => bench.types.includes('finalized'));
    }));

  it('finds a payment that one upstream leaves out while the other is down', () =>
    on(12, async (bench) => {
      const [first, second] = bench.network.nodes;
      if (!first || !second) throw new Error('there are two nodes');
      first.faults = { ...first.faults, omits: 1 };
      second.faults = { ...second.faults, fails: 1 };
      bench.payer.send(bench.payer.pay(bench.terms));
      await bench.kernel.sleep(300_000);
      expect(bench.types).toEqual([]);
      second.faults = { ...second.faults, fails: 0 };
      await bench.until(() => bench.types.includes('confirmed'));
      // Nothing is final that one of two does not show.
      await bench.kernel.sleep(300_000);
      expect(bench.types).not.toContain('finalized');
      first.faults = { ...first.faults, omits: 0 };
      await bench.until(() => bench.types.includes('finalized'));
    }));

  it('finds a payment that was left out by the upstream that is in use no more', () =>
    on(14, async (bench) => {
      const [first, second] = bench.network.nodes;
      if (!first || !second) throw new Error('there are two nodes');
      first.faults = { ...first.faults, omits: 1 };
      second.faults = { ...second.faults, fails: 1 };
      bench.payer.send(bench.payer.pay(bench.terms));
      await bench.kernel.sleep(30_000);
      // Now the other one is in use, and the first one is there for the second reading.
      first.faults = { ...first.faults, fails: 1 };
      second.faults = { ...second.faults, fails: 0 };
      await bench.kernel.sleep(10_000);
      first.faults = { ...first.faults, fails: 0 };
      await bench.until(() => bench.types.includes('confirmed'));
      first.faults = { ...first.faults, omits: 0 };
      await bench.until(() => bench.types.includes('finalized'));
    }));

  // None of them is on the chain: a second upstream would have to show them.
  it('reports 1,200 settlements that become final at once within three steps of a single upstream', () =>
    on(
      13,
      async ({ kernel, network: { chain, network }, watched, observed, terms }) => {
        const block = chain.height(kernel.now()) - 100;
        for (let index = 0; index < 1_200; index++) {
          const reference = `0x${index.toString(16).padStart(64, '0')}` as Reference;
          const hash = reference as string as TransactionHash;
          const id = `pi_final_${index}` as IntentId;
          const { tokenAddress, requestor: to, amount } = terms;
          watched.add(id, { ...terms, reference });
          watched.apply({
            kind: 'observation',
            type: 'landed',
            intentId: id,
            data: {
              hash,
              level: 'confirmed',
              transfer: {
                tokenAddress,
                from: to,
                to,
                amount,
                reference,
                block: BigInt(block),
                blockHash: chain.blockHash(block, kernel.now()),
                index: '0',
              },
            },
          });
        }
        await kernel.sleep(3 * network.pollMs.idle + 1_000);
        expect(new Set(observed.map(({ intentId }) => intentId)).size).toBe(1_200);
      },
      1,
    ));

  it('goes on through failing, slow and lagging upstreams', () =>
    on(6, async (bench) => {
      const [first, second] = bench.network.nodes;
      if (first) first.faults = { lagMs: 10_000, slowMs: 800, fails: 0.2, omits: 0, refuses: 0 };
      if (second) second.faults = { lagMs: 4_000, slowMs: 0, fails: 0.1, omits: 0, refuses: 0 };
      bench.payer.send(bench.payer.pay(bench.terms));
      await bench.until(() => bench.types.includes('finalized'));
    }));
});

describe('an adversary on a simulated chain', () => {
  const through = ({ payer, terms }: Bench) => {
    const payment = {
      token: terms.tokenAddress,
      from: payer.address,
      to: terms.requestor,
      amount: terms.amount,
      reference: terms.reference,
    };
    return { payment, back: { ...payment, from: payment.to, to: payment.from, reference: null } };
  };

  it('pays through a contract, which a trace shows', () =>
    on(10, async (bench) => {
      bench.payer.send(bench.payer.payThrough([through(bench).payment]));
      await bench.until(() => bench.types.includes('finalized'));
      expect(bench.types).toEqual(['confirmed', 'finalized']);
    }));

  it('pays nothing by money that goes round', () =>
    on(11, async (bench) => {
      const { payment, back } = through(bench);
      bench.payer.send(bench.payer.payThrough([payment, back]));
      await bench.until(() => bench.network.chain.standingOf(bench.terms.reference).length > 0);
      await bench.kernel.sleep(60_000);
      expect(bench.network.chain.balanceOf(bench.terms.tokenAddress, bench.terms.requestor)).toBe(0n);
      expect(bench.observed).toEqual([]);
    }));

  it('moves nothing by a contract whose last payment fails', () =>
    on(12, async (bench) => {
      const { payment } = through(bench);
      bench.payer.send(bench.payer.payThrough([payment, { ...payment, amount: 2_000_000n }]));
      await bench.kernel.sleep(20_000);
      expect(bench.network.chain.standing()).toEqual([]);
      expect(bench.network.chain.balanceOf(bench.terms.tokenAddress, bench.payer.address)).toBe(1_000_000n);
    }));

  it('gives the account away to which a submitted payment is made', () =>
    on(13, async (bench) => {
      const signed = bench.payer.pay(bench.terms);
      bench.network.chain.giveAway(bench.terms.requestor, new SimulatedWallet(bench.network.chain, 98).address);
      bench.submitted(signed);
      bench.payer.send(signed);
      await bench.until(() => bench.types.length > 0);
      expect(bench.types).toEqual(['reverted']);
    }));

  it('invents a payment at one upstream, which never becomes final', () =>
    on(14, async (bench) => {
      bench.network.nodes[0]?.invent(bench.payer.pay(bench.terms));
      await bench.kernel.sleep(300_000);
      expect(bench.types).not.toContain('finalized');
    }));

  it('makes a payment unreadable, which counts when it can be read', () =>
    on(15, async (bench) => {
      const signed = bench.payer.payThrough([through(bench).payment]);
      for (const node of bench.network.nodes) node.setUnreadable(signed.hash, 'malformed');
      bench.payer.send(signed);
      await bench.kernel.sleep(60_000);
      expect(bench.types).toEqual([]);
      for (const node of bench.network.nodes) node.setUnreadable(signed.hash, null);
      await bench.until(() => bench.types.includes('finalized'));
    }));
});

describe('the adapter of Base on a simulated chain', () => {
  it('builds, verifies and broadcasts a payment, and reads back one that the wallet sent', () =>
    on(7, async ({ access: { adapter }, payer, terms, kernel }) => {
      const built = await adapter.build({
        intentId: 'pi_1' as IntentId,
        terms,
        direction: 'request',
        fulfiller: payer.address,
        expiresAt: kernel.now() + 60_000,
      });
      if (built.kind !== 'built') throw new Error(JSON.stringify(built));
      const signed = payer.signBuilt(built.transaction.blob);
      const parsed = adapter.parseSubmitted(signed.raw);
      if (!parsed.ok || parsed.value.kind !== 'signed') throw new Error('it is signed');
      const { transaction } = parsed.value;
      expect(await adapter.verify(transaction, terms, payer.address, false)).toMatchObject({
        kind: 'verified',
        transaction: { hash: signed.hash, sender: payer.address, nonce: '0' },
      });
      expect(await adapter.verify(transaction, { ...terms, amount: 1n }, payer.address, false)).toMatchObject({
        kind: 'mismatch',
        differs: { amount: { expected: '1', actual: '400000' } },
      });
      expect(await adapter.broadcast(transaction)).toEqual({ kind: 'taken' });
      expect(await adapter.fetchSent(signed.hash)).toEqual({ hash: signed.hash, raw: expect.anything() });
    }));

  it('does not verify the transaction of a payer whose nonce another payment has used', () =>
    on(8, async ({ access: { adapter }, payer, terms, network: { chain }, kernel }) => {
      const payment = payer.pay(terms);
      const other = payer.replace(payment, { ...terms, amount: 1n });
      payer.send(other);
      while (chain.isWaiting(other.hash)) await kernel.sleep(1_000);
      const parsed = adapter.parseSubmitted(payment.raw);
      if (!parsed.ok || parsed.value.kind !== 'signed') throw new Error('it is signed');
      expect(await adapter.verify(parsed.value.transaction, terms, payer.address, false)).toMatchObject({
        kind: 'rejected',
      });
      expect(await adapter.broadcast(parsed.value.transaction)).toMatchObject({ kind: 'unknown' });
      expect(chain.standingOf(terms.reference)).toMatchObject([{ amount: 1n }]);
    }));
});

describe('a simulated chain', () => {
  /** Payments, reorgs, late and forgotten transactions. */
  const storm = (seed: number): Promise<{ readonly observed: readonly string[]; readonly fingerprint: string }> =>
    simulate(seed, async (kernel) => {
      const bench = new Bench(kernel);
      bench.network.chain.faults = {
        reorgEveryMs: 20_000,
        reorgDepth: 8,
        late: { chance: 0.3, ms: 60_000 },
        forgotten: 0.2,
        replacedSurvives: 0.5,
      };
      const payment = bench.payer.pay({ ...bench.terms, amount: 300_000n });
      bench.submitted(payment);
      bench.payer.send(payment);
      await kernel.sleep(1_000);
      bench.payer.send(bench.payer.replace(payment, { ...bench.terms, amount: 200_000n }));
      await kernel.sleep(300_000);
      await bench.stop();
      return { observed: bench.types, fingerprint: kernel.fingerprint() };
    });

  it('repeats exactly with the seed', async () => {
    const first = await storm(9);
    expect(await storm(9)).toEqual(first);
    expect((await storm(10)).fingerprint).not.toBe(first.fingerprint);
  });

  it('lets at most one of two payments with the same nonce stand', async () => {
    for (let seed = 20; seed < 30; seed++)
      await simulate(seed, async (kernel) => {
        const { chain, network } = new SimulatedNetwork(kernel, 1);
        chain.faults = {
          reorgEveryMs: 10_000,
          reorgDepth: 10,
          late: { chance: 0.5, ms: 30_000 },
          forgotten: 0,
          replacedSurvives: 1,
        };
        const [token] = network.tokens;
        if (token === undefined) throw new Error('the network has tokens');
        const payer = new SimulatedWallet(chain, 1).fund(token.address, 10n);
        const terms = {
          tokenAddress: token.address,
          requestor: new SimulatedWallet(chain, 2).address,
          amount: 3n,
          reference: `0x${'5e'.repeat(32)}` as Reference,
        };
        const payment = payer.pay(terms);
        payer.send(payment);
        payer.send(payer.replace(payment, { ...terms, amount: 4n }));
        for (let round = 0; round < 60; round++) {
          await kernel.sleep(5_000);
          expect(chain.standing().length).toBeLessThanOrEqual(1);
        }
        expect(chain.standing()).toHaveLength(1);
        const [{ from, to, amount } = { from: payer.address, to: payer.address, amount: 0n }] = chain.standing();
        expect(chain.balanceOf(token.address, from)).toBe(10n - amount);
        expect(chain.balanceOf(token.address, to)).toBe(amount);
      });
  });
});
