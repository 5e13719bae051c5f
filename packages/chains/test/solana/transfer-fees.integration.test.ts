import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { IntentId, PaymentTerms } from '@pf/domain';
import { setTransferFee } from '@pf/testing/wallets';
import { SolanaObserver } from '../../src/solana/observer.ts';
import { Watcher } from '../conformance/watching.ts';
import { type SolanaPayer, type SolanaUnderTest, startSolana } from './chain.ts';

/** A fee counts from the second epoch after the one in which it was set. */
const TWO_EPOCHS = 2 * 432_000;
const [PERCENT, MAXIMUM] = [100, 1_000_000_000n];
const AMOUNT = 3_000_000n;
const FEE = 30_000n;

describe('A Solana token that withholds a part of each transfer', () => {
  let solana: SolanaUnderTest;
  let watcher: Watcher;
  let payer: SolanaPayer;
  let pyusd: string;
  beforeAll(async () => {
    solana = await startSolana();
    [payer, pyusd] = [solana.payers[0] as SolanaPayer, solana.node.tokens['PYUSD'] as string];
    await setTransferFee(solana.node, pyusd, PERCENT, MAXIMUM);
    await solana.node.advance(TWO_EPOCHS);
    watcher = new Watcher(new SolanaObserver(solana.adapter.network, solana.pool, solana.clock.now));
    await watcher.step();
  });
  afterAll(() => solana.stop());

  function watched(id: string): PaymentTerms {
    const token = solana.adapter.token('PYUSD');
    if (token === null) throw new Error('devnet has PYUSD');
    const terms = {
      chain: solana.adapter.network.chain,
      tokenAddress: token.address,
      amount: AMOUNT,
      requestor: solana.newRecipient(),
      reference: solana.adapter.newReference(),
    };
    watcher.watched.add(id, terms);
    return terms;
  }

  it.each([
    { sent: AMOUNT, how: 'without a word of the fee', credited: AMOUNT - FEE },
    { sent: AMOUNT, fee: FEE, how: 'with the fee named', credited: AMOUNT - FEE },
    // The payer adds the fee: the requestor gets what the intent asks for.
    { sent: 3_030_303n, fee: 30_304n, how: 'with too little added', credited: 2_999_999n },
    { sent: 3_030_304n, fee: 30_304n, how: 'with the fee added', credited: AMOUNT },
  ])('pays $credited base units where $sent were sent $how', async ({ sent, fee, credited }) => {
    const id = `pi_${credited}_${fee ?? 0n}`;
    const terms = watched(id);
    const { tokenAddress, requestor, reference } = terms;
    await payer.transfer(tokenAddress, requestor, sent, {
      references: [reference],
      ...(fee !== undefined && { fee }),
    });
    await solana.settle();
    // The payments before it become final meanwhile.
    const seen = (await watcher.step()).filter(({ intentId }) => (intentId as string) === id);
    expect(seen).toMatchObject([{ type: 'landed', data: { transfer: { amount: credited } } }]);
  });

  it('arrives without that part in a transfer that names no intent', async () => {
    const { tokenAddress, requestor } = watched('pi_unnamed');
    watcher.watched.own(requestor, 'acc_1');
    await payer.transfer(tokenAddress, requestor, AMOUNT);
    await solana.settle();
    await watcher.step();
    expect([...watcher.watched.deposits.values()]).toMatchObject([
      { reason: 'no_reference', arrival: { tokenAddress, from: payer.address, amount: AMOUNT - FEE } },
    ]);
  });

  it('is refused by build, as less would arrive than the intent asks for', async () => {
    const built = await solana.adapter.build({
      intentId: 'pi_test' as IntentId,
      terms: watched('pi_refused'),
      direction: 'request',
      fulfiller: payer.address,
      expiresAt: 0,
    });
    expect(built).toEqual({
      kind: 'rejected',
      reason: `the token would withhold a part: only ${AMOUNT - FEE} of ${AMOUNT} base units would arrive`,
    });
  });
});
