import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PaymentTerms } from '@pf/domain';
import { evmWallet } from '@pf/testing/wallets';
import type { Hex } from 'viem';
import { type BaseUnderTest, startBase } from './chain.ts';
import { Watched } from '../conformance/watching.ts';

describe('BaseObserver and the watch set', () => {
  let base: BaseUnderTest;
  beforeAll(async () => {
    base = await startBase();
  });
  afterAll(() => base.stop());

  it('passes a block only with a watch set that was updated after the block existed', async () => {
    const token = base.adapter.token('USDC');
    const [wallet] = base.anvil.wallets;
    if (token === null || wallet === undefined) throw new Error('Base has USDC, and wallets');
    const terms: PaymentTerms = {
      chain: base.adapter.network.chain,
      tokenAddress: token.address,
      amount: 2_000_000n,
      requestor: base.newRecipient(),
      reference: base.adapter.newReference(),
    };
    const started = await base.observer.step(null, async () => new Watched());

    // While a step is under way an intent is made, and paid in the next block: after its set was read.
    const watched = new Watched();
    let hash: Hex | undefined;
    let step = await base.observer.step(started.cursor, async () => {
      watched.add('pi_late', terms);
      hash = await evmWallet(base.anvil, wallet).transfer(
        token.address,
        terms.requestor,
        terms.amount,
        terms.reference as string as Hex,
      );
      await base.anvil.mine();
      return new Watched();
    });
    expect(step.observations).toEqual([]);

    step = await base.observer.step(step.cursor, async () => watched);
    base.clock.pass(2_000);
    step = await base.observer.step(step.cursor, async () => watched);
    expect(step.observations).toMatchObject([
      { type: 'landed', intentId: 'pi_late', data: { hash, level: 'confirmed' } },
    ]);
  });
});
