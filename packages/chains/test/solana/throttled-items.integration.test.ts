import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@pf/testing';
import { type Provider, startProvider } from '@pf/testing/providers';
import { named, Watcher } from '../conformance/watching.ts';
import { SolanaObserver } from '../../src/solana/observer.ts';
import { solanaPool, type SolanaPayer, type SolanaUnderTest, startSolana, termsOn } from './chain.ts';

/** The plan's calls a second: of an array the items beyond them are refused. */
const CALLS_PER_SECOND = 45;
const PAYMENTS = 60;
const WITHIN_MS = 30_000;

describe('SolanaObserver behind a plan that refuses single items of an array', () => {
  let solana: SolanaUnderTest;
  let provider: Provider;
  beforeAll(async () => {
    solana = await startSolana();
    provider = await startProvider('quicknode', solana.node.rpcUrl, { limits: { callsPerSecond: CALLS_PER_SECOND } });
  });
  afterAll(async () => {
    await provider.stop();
    await solana.stop();
  });

  it('finds 60 payments to one account within 30 s at 45 calls a second', async () => {
    const pool = solanaPool([provider.url]);
    const watcher = new Watcher(new SolanaObserver(solana.adapter.network, pool));
    await watcher.step();
    const requestor = solana.newRecipient();
    const [payer] = solana.payers as [SolanaPayer];
    for (let payment = 0; payment < PAYMENTS; payment += 1) {
      const terms = termsOn(solana, 'USDC', requestor);
      watcher.watched.add(`pi_${payment}`, terms);
      await payer.transfer(terms.tokenAddress, requestor, terms.amount, { references: [terms.reference] });
    }
    await solana.node.finalize();
    const found: string[] = [];
    await until(
      'all payments to be found',
      async () => {
        const { observations } = await watcher.stepOnce();
        found.push(...observations.map(({ intentId }) => intentId));
        expect(new Set(named(observations))).not.toContain('lost');
        return new Set(found).size === PAYMENTS;
      },
      WITHIN_MS,
    );
    await pool.close();
  });
});
