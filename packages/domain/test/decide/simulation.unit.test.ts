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
  it('shows what a real payment shows, with a synthetic hash and fulfiller', () => {
    given(created())
      .when(gateway.simulate('finalized'))
      .showing({ state: 'finalized', txSignature: SYNTHETIC, fulfiller: CAROL })
      .knowing({ simulated: true, settlement: null });
    given(created({ fulfiller: BOB }))
      .when(gateway.simulate('pending'))
      .showing({ state: 'pending', txSignature: SYNTHETIC, fulfiller: BOB });
  });

  it('changes nothing when the intent is in the target state', () => {
    given(...done)
      .when(gateway.simulate('confirmed'))
      .thenNothing()
      .knowing({ version: 3 });
  });

  it('requires a retry after a drop, and can go on from a retry, after which it can go on', () => {
    given(created())
      .when(gateway.simulate('pending'))
      .when(gateway.simulate('created'))
      .then(simulated.retryRequired(SYNTHETIC))
      .showing({ state: 'created', retryRequired: true, txSignature: null })
      .when(gateway.simulate('confirmed'))
      .showing({ state: 'confirmed', retryRequired: false });
  });

  it('sets pendingAtExpiry when it expires a pending intent', () => {
    given(created())
      .when(gateway.simulate('pending'))
      .when(gateway.simulate('expired'))
      .showing({ state: 'expired', pendingAtExpiry: true });
  });

  it('keeps the hash of a real transaction and ends its claim', () => {
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

  it('refuses a real submission', () => {
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

  it('refuses a change of its amount', () => {
    const amount = gateway.update({ updatedAt: SCENARIO_START + 2000, amount: '1', amountBaseUnits: 1_000_000n });
    given(...open)
      .when(amount)
      .thenRefused('intent.invalid_state');
  });

  it('records a real landing as an extra payment', () => {
    for (const history of [open, open.slice(0, 2), done, [...done, simulated.finalized(SYNTHETIC)]]) {
      given(...history)
        .when(watcher.landed(UNKNOWN))
        .then(extraPayment(UNKNOWN))
        .when(watcher.landedFinal(UNKNOWN))
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

  it('is not changed by the real finality after its finality was simulated', () => {
    given(created(), pending(FIRST), confirmed(FIRST))
      .when(gateway.simulate('finalized'))
      .then(simulated.finalized(FIRST))
      .when(watcher.landedFinal(FIRST))
      .thenNothing();
  });
});
