import { describe, it } from '@jest/globals';
import { given } from '../../src/testing/given.ts';
import {
  confirmed,
  created,
  extraPayment,
  mismatchedPayment,
  pending,
  prepared,
  refundCreated,
  refundLinked,
  refused,
  simulated,
} from '../../src/testing/events.ts';
import { gateway, watcher } from '../../src/testing/inputs.ts';
import { BOB, CAROL, FIRST, REFUND, SCENARIO_START, SYNTHETIC, UNKNOWN } from '../../src/testing/samples.ts';

const done = [created(), simulated.pending(SYNTHETIC), simulated.confirmed(SYNTHETIC)];

describe('a simulation', () => {
  it('shows what a real payment shows, with a synthetic hash and, where nobody is known to pay, a synthetic fulfiller', () => {
    given(created())
      .when(gateway.simulate('finalized'))
      .showing({ state: 'finalized', txSignature: SYNTHETIC, fulfiller: CAROL })
      .knowing({ simulated: true, settlement: null });
    given(created({ fulfiller: BOB }))
      .when(gateway.simulate('pending'))
      .showing({ state: 'pending', txSignature: SYNTHETIC, fulfiller: BOB });
  });

  it('to a state it is in already changes nothing', () => {
    given(...done)
      .when(gateway.simulate('confirmed'))
      .thenNothing()
      .knowing({ version: 3 });
  });

  it('of a drop asks to sign again, and may go on from there', () => {
    given(created())
      .when(gateway.simulate('pending'))
      .when(gateway.simulate('created'))
      .then(simulated.retryRequired(SYNTHETIC))
      .showing({ state: 'created', retryRequired: true, txSignature: null })
      .when(gateway.simulate('confirmed'))
      .showing({ state: 'confirmed', retryRequired: false });
  });

  it('of an expiry from pending shows a transaction in the mempool', () => {
    given(created())
      .when(gateway.simulate('pending'))
      .when(gateway.simulate('expired'))
      .showing({ state: 'expired', pendingAtExpiry: true });
  });

  it('of a real transaction keeps its hash, and so frees the claim', () => {
    given(created(), prepared(FIRST), pending(FIRST))
      .when(gateway.simulate('created'))
      .then(simulated.retryRequired(FIRST))
      .when(gateway.simulate('cancelled'))
      .showing({ state: 'cancelled' });
  });

  it('can be refunded', () => {
    given(...done)
      .when(gateway.refund())
      .then(refundLinked(REFUND), refundCreated(REFUND));
  });
});

describe('a simulated intent', () => {
  const open = [created(), simulated.pending(SYNTHETIC), simulated.retryRequired(SYNTHETIC)];

  it('takes no real submission', () => {
    given(...open)
      .when(gateway.prepare(FIRST))
      .thenRefused('intent.invalid_state');
    given(...done)
      .when(gateway.prepare(FIRST))
      .thenRefused('intent.invalid_state');
    given(created(), prepared(FIRST), refused(FIRST), ...open.slice(1))
      .when(gateway.recordBroadcast(FIRST))
      .thenNothing();
  });

  it('has an amount that somebody may have signed for', () => {
    const amount = gateway.update({ updatedAt: SCENARIO_START + 2000, amount: '1', amountBaseUnits: 1_000_000n });
    given(...open)
      .when(amount)
      .thenRefused('intent.invalid_state');
  });

  it('is not settled by real money, which is recorded as extra', () => {
    for (const history of [open, open.slice(0, 2), done, [...done, simulated.finalized(SYNTHETIC)]]) {
      given(...history)
        .when(watcher.landed(UNKNOWN))
        .then(extraPayment(UNKNOWN))
        .when(watcher.landedForGood(UNKNOWN))
        .thenNothing();
    }
    for (const ended of ['expired', 'cancelled', 'failed'] as const) {
      given(created())
        .when(gateway.simulate(ended))
        .when(watcher.landed(UNKNOWN))
        .then(extraPayment(UNKNOWN))
        .showing({ state: ended });
    }
    given(...open)
      .when(watcher.landed(UNKNOWN, { amount: 1n }))
      .then(mismatchedPayment(UNKNOWN, { amount: 1n }, 'amount'));
  });

  it('that was settled really before it was simulated to be finalized is left alone by the real finality', () => {
    given(created(), pending(FIRST), confirmed(FIRST))
      .when(gateway.simulate('finalized'))
      .then(simulated.finalized(FIRST))
      .when(watcher.landedForGood(FIRST))
      .thenNothing();
  });
});
