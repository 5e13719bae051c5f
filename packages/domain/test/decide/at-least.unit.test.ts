import { describe, expect, it } from '@jest/globals';
import { type CreateData, evolveDeposit, hold, type PaymentIntent, refusalOfAssignment, view } from '@pf/domain';
import { arrival, DEPOSIT, received } from '../../src/testing/deposits.ts';
import {
  built,
  confirmed,
  confirmedLate,
  created,
  expired,
  extraPayment,
  extraPaymentAgain,
  failed,
  finalized,
  lost,
  mismatchedPayment,
  mismatchWithdrawn,
  of,
  overpaid,
  pending,
  prepared,
  refundLinked,
  restored,
} from '../../src/testing/events.ts';
import { given, type ExpectedEvent } from '../../src/testing/given.ts';
import { about, gateway, watcher } from '../../src/testing/inputs.ts';
import {
  ACCOUNT,
  ALICE,
  AMOUNT,
  BOB,
  CAROL,
  FIRST,
  INTENT,
  landing,
  MOVED,
  REFUND,
  refundRequest,
  SECOND,
  signed,
  transfer,
  UNKNOWN,
  UNPROVEN,
} from '../../src/testing/samples.ts';

const accepting = (change: Partial<CreateData> = {}): ExpectedEvent => created({ accept: 'at_least', ...change });
const more = { amount: AMOUNT + 500_000n };
const most = { from: CAROL, amount: AMOUNT + 1_000_000n, block: 105n };
const less = { amount: AMOUNT - 1n };
const MORE = { amountReceived: '13', amountReceivedBaseUnits: '13000000' };
const REFUND_OF = { accountId: ACCOUNT, livemode: false, refundOf: INTENT };
const paidMore = [accepting(), pending(FIRST), confirmed(FIRST, more)];

const onlyIntent = (...history: readonly ExpectedEvent[]): PaymentIntent => {
  const intent = given(...history).ledger.intent(INTENT);
  if (intent === undefined) throw new Error('the history does not begin with its creation');
  return intent;
};

describe('an intent that accepts at least its amount', () => {
  it('is paid by one transfer of more, and tells by how much once that is final', () => {
    given(accepting())
      .when(watcher.landed(FIRST, more))
      .then(pending(FIRST), confirmed(FIRST, more))
      .showing({ state: 'confirmed', amount: '12.50', accept: 'at_least', ...MORE })
      .when(watcher.landedFinal(FIRST, more))
      .then(finalized(FIRST, more), overpaid(FIRST, 500_000n))
      .showing({ state: 'finalized', ...MORE })
      .when(watcher.landedFinal(FIRST, more))
      .thenNothing();
  });

  it('tells both at once where it is first seen as final', () => {
    given(accepting())
      .when(watcher.landedFinal(FIRST, more))
      .then(pending(FIRST), confirmed(FIRST, more), finalized(FIRST, more), overpaid(FIRST, 500_000n));
  });

  it('is paid by exactly its amount, and tells of no overpayment', () => {
    given(accepting())
      .when(watcher.landedFinal(FIRST))
      .then(pending(FIRST), confirmed(FIRST), finalized(FIRST))
      .showing({ amountReceived: '12.5', amountReceivedBaseUnits: '12500000' });
  });

  it('is not paid by less, by another recipient or sender', () => {
    const paid = given(accepting())
      .when(watcher.landed(FIRST, less))
      .then(mismatchedPayment(FIRST, less, 'amount'));
    expect(view(paid.intent())).not.toHaveProperty('amountReceived');
    for (const [change, term] of [
      [{ ...more, to: CAROL }, 'recipient'],
      [{ ...more, from: ALICE }, 'sender'],
    ] as const)
      given(accepting())
        .when(watcher.landed(FIRST, change))
        .then(mismatchedPayment(FIRST, change, term));
  });

  it('is not paid by what no intent could ask for, as no refund could return it', () => {
    const [huge, large] = [{ amount: 2n ** 64n }, { amount: 2n ** 64n - 1n }];
    given(accepting())
      .when(watcher.landed(FIRST, huge))
      .then(mismatchedPayment(FIRST, huge, 'amount'));
    given(accepting()).when(watcher.landed(FIRST, large)).then(pending(FIRST), confirmed(FIRST, large));
  });

  it('does not add up two transfers of less', () => {
    given(accepting(), mismatchedPayment(FIRST, less, 'amount'))
      .when(watcher.landed(SECOND, less))
      .then(mismatchedPayment(SECOND, less, 'amount'));
  });

  it('is paid again by a second transfer of its amount or more, each told with its own amount', () => {
    const again = given(...paidMore)
      .when(watcher.landed(SECOND, most))
      .then(extraPayment(SECOND, most));
    again.showing(MORE);
    given(...paidMore)
      .when(watcher.landed(SECOND))
      .then(extraPayment(SECOND));
    given(...paidMore)
      .when(watcher.landed(SECOND, less))
      .then(mismatchedPayment(SECOND, less, 'amount'));
  });

  it('is paid late by more, and tells so', () => {
    given(accepting(), expired())
      .when(watcher.landed(FIRST, more))
      .then(...confirmedLate(FIRST, more, 'expired'))
      .showing({ state: 'confirmed', ...MORE });
  });

  it('takes back a report that a transfer of more was of another reference', () => {
    const unproven = { ...more, ...UNPROVEN };
    given(accepting(), mismatchedPayment(FIRST, unproven, 'reference'))
      .when(watcher.landed(FIRST, more))
      .then(mismatchWithdrawn(FIRST, more), pending(FIRST), confirmed(FIRST, more));
  });

  it('has received what the payment brought that takes the place of a lost one', () => {
    given(...paidMore, extraPayment(SECOND, { ...most, block: 90n }))
      .when(watcher.lost(FIRST))
      .then(lost(FIRST), restored(SECOND, { ...most, block: 90n }))
      .showing({ txSignature: SECOND, amountReceived: '13.5', amountReceivedBaseUnits: '13500000' });
  });

  it('moves updatedAt where what it has received changes, though its transaction stays', () => {
    const moved = { ...MOVED, amount: AMOUNT };
    const before = given(...paidMore)
      .when(watcher.lost(FIRST))
      .then(lost(FIRST));
    const { updatedAt } = before.intent();
    const after = before.when(watcher.landed(FIRST, moved)).then(restored(FIRST, moved));
    after.showing({ txSignature: FIRST, amountReceived: '12.5' });
    expect(after.intent().updatedAt).toBeGreaterThan(updatedAt);
  });

  it('has received nothing once its payment has failed for good', () => {
    const dead = given(...paidMore, lost(FIRST))
      .when(watcher.reverted(FIRST))
      .then(failed(FIRST));
    expect(view(dead.intent())).not.toHaveProperty('amountReceived');
    expect(dead.intent()).not.toHaveProperty('amountReceived');
  });

  it('has received its amount where the payment is simulated', () => {
    const paid = given(accepting()).when(gateway.simulate('finalized'));
    expect(paid.decision.transitions.map(({ event }) => event.type)).not.toContain('intent.overpaid');
    paid.showing({ state: 'finalized', amountReceived: '12.5', amountReceivedBaseUnits: '12500000' });
  });

  it('is submitted with exactly its amount', () => {
    const { terms } = signed(FIRST);
    given(accepting()).when(gateway.prepare(FIRST)).then(prepared(FIRST));
    given(accepting())
      .when(gateway.prepare(FIRST, { terms: { ...terms, amount: more.amount } }))
      .thenRefused('transaction.mismatch');
  });

  it('is refunded with all that it has received', () => {
    const result = given(...paidMore).when(gateway.refund());
    result.showing({ amount: '13', amountBaseUnits: '13000000', requestor: BOB, direction: 'send' }, REFUND);
    expect(view(result.intent(REFUND))).not.toHaveProperty('accept');
  });

  it('gives back no more than what has arrived, where a reorg put a smaller payment in its place', () => {
    const refund: ExpectedEvent = {
      type: 'intent.created',
      of: REFUND,
      data: { ...refundRequest(REFUND), amount: '13', amountBaseUnits: more.amount, ...REFUND_OF },
    };
    const build = about(REFUND, gateway.recordBuild({ fulfiller: ALICE }));
    const refunded = [...paidMore, refundLinked(REFUND), refund];
    given(...refunded)
      .when(build)
      .then(of(REFUND, built({ fulfiller: ALICE })));
    given(...refunded, lost(FIRST), restored(SECOND, { from: CAROL }))
      .when(build)
      .thenRefused('intent.original_unpaid');
  });

  it('can have a deposit of more assigned to it, which an intent of exactly its amount cannot', () => {
    const deposit = evolveDeposit(undefined, {
      type: 'deposit.received',
      depositId: DEPOSIT,
      version: 1,
      at: 0,
      data: received({ arrival: arrival(more) }),
    });
    expect(refusalOfAssignment(deposit, onlyIntent(accepting()))).toBeNull();
    expect(refusalOfAssignment(deposit, onlyIntent(created()))?.details).toEqual({ differs: ['amount'] });
  });

  it('is shown as it was by code that cannot read its events, also from the first on', () => {
    const paid = onlyIntent(...paidMore);
    const head = { type: 'newer', intentId: paid.id, accountId: paid.accountId, at: paid.updatedAt };
    const shown = view(paid);
    expect(view(hold(undefined, { ...head, version: 1, shown }))).toEqual(shown);
    expect(view(hold(paid, { ...head, version: paid.version + 1, shown }))).toEqual(shown);
  });
});

describe('a reorg of what pays an intent that accepts at least its amount', () => {
  const larger = { amount: AMOUNT + 1_500_000n };
  const [first, second] = [more, { ...larger, index: '1' }];
  const [movedFirst, movedSecond] = [
    { ...MOVED, ...more },
    { ...MOVED, ...larger, index: '5' },
  ];
  const both = [accepting(), pending(FIRST), confirmed(FIRST, first), extraPayment(FIRST, second)];
  const extra = { ...most, index: '2' };
  const withExtra = [...paidMore, extraPayment(SECOND, extra)];

  it('says at once what the payment brings in its new block', () => {
    const moved = { ...MOVED, ...larger };
    given(...paidMore)
      .when(watcher.landed(FIRST, moved))
      .then(restored(FIRST, moved))
      .showing({ state: 'confirmed', amountReceived: '14', amountReceivedBaseUnits: '14000000' })
      .when(watcher.lost(FIRST, transfer(more)))
      .thenNothing()
      .when(watcher.landedFinal(FIRST, moved))
      .then(finalized(FIRST, moved), overpaid(FIRST, 1_500_000n));
  });

  it('moves no final payment by what was seen before it was final', () => {
    given(...paidMore)
      .when(watcher.landedFinal(FIRST, movedFirst))
      .then(restored(FIRST, movedFirst), finalized(FIRST, movedFirst), overpaid(FIRST, 500_000n))
      .when(watcher.landed(FIRST, first))
      .thenNothing();
  });

  it('keeps apart two amounts of one transaction, in whichever order they are seen again', () => {
    given(...both)
      .when(watcher.landedFinal(FIRST, movedSecond))
      .then(extraPaymentAgain(FIRST, movedSecond))
      .when(watcher.landedFinal(FIRST, movedFirst))
      .then(restored(FIRST, movedFirst), finalized(FIRST, movedFirst), overpaid(FIRST, 500_000n))
      .when(watcher.landedFinal(FIRST, movedSecond))
      .thenNothing();
  });

  it('keeps them apart where they have changed places', () => {
    const [there, here] = [
      { ...movedSecond, index: '0' },
      { ...movedFirst, index: '1' },
    ];
    given(...both)
      .when(watcher.landed(FIRST, there))
      .then(extraPaymentAgain(FIRST, there))
      .when(watcher.landed(FIRST, here))
      .then(restored(FIRST, here))
      .knowing({ transfers: [`${FIRST}:1`, `${FIRST}:0`] })
      .when(watcher.landed(FIRST, there))
      .thenNothing();
  });

  it('keeps them apart after it was seen', () => {
    given(...both)
      .when(watcher.lost(FIRST))
      .then(lost(FIRST))
      .knowing({ undoneExtras: [`${FIRST}:14000000`] })
      .when(watcher.landed(FIRST, movedSecond))
      .then(extraPaymentAgain(FIRST, movedSecond))
      .when(watcher.landed(FIRST, movedFirst))
      .then(restored(FIRST, movedFirst))
      .showing(MORE);
  });

  it('settles it by the other one where that is told of again, and the one that settled is not there', () => {
    given(...both, lost(FIRST), extraPaymentAgain(FIRST, movedSecond))
      .when(watcher.landed(FIRST, movedSecond))
      .then(restored(FIRST, movedSecond))
      .knowing({ extraPayments: [] })
      .when(watcher.landed(FIRST, movedSecond))
      .thenNothing()
      .when(watcher.landedFinal(FIRST, movedSecond))
      .then(finalized(FIRST, movedSecond), overpaid(FIRST, 1_500_000n));
  });

  it('settles it by the other one where that alone is final', () => {
    given(...both, lost(FIRST), extraPaymentAgain(FIRST, movedSecond))
      .when(watcher.landedFinal(FIRST, movedSecond))
      .then(restored(FIRST, movedSecond), finalized(FIRST, movedSecond), overpaid(FIRST, 1_500_000n))
      .knowing({ extraPayments: [] });
  });

  it('tells of an extra payment again that brings another amount, at the same index or another', () => {
    for (const index of ['2', '7']) {
      const again = { ...extra, ...MOVED, index, amount: extra.amount + 1n };
      given(...withExtra)
        .when(watcher.landed(SECOND, again))
        .then(extraPayment(SECOND, again))
        .knowing({ extraPayments: [landing(SECOND, again)], transfers: [`${FIRST}:0`, `${SECOND}:${index}`] })
        .when(watcher.landed(SECOND, again))
        .thenNothing()
        .when(watcher.landed(SECOND, extra))
        .then(extraPayment(SECOND, extra));
    }
  });

  it('tells of it again where it was seen to be undone meanwhile', () => {
    const again = { ...extra, ...MOVED, amount: AMOUNT };
    given(...withExtra, lost(FIRST), restored(FIRST, { ...MOVED, ...more }))
      .when(watcher.landed(SECOND, again))
      .then(extraPayment(SECOND, again));
    const same = { ...extra, ...MOVED, index: '7' };
    const told = given(...withExtra, lost(FIRST), restored(FIRST, movedFirst))
      .when(watcher.landed(SECOND, same))
      .then(extraPaymentAgain(SECOND, same));
    expect(told.intent()).not.toHaveProperty('undoneExtras');
  });

  it('tells that an extra payment brings less than the amount', () => {
    const again = { ...extra, ...MOVED, index: '2', ...less };
    given(...withExtra)
      .when(watcher.landed(SECOND, { ...extra, ...MOVED, index: '2', ...UNPROVEN }))
      .thenNothing()
      .when(watcher.landed(SECOND, again))
      .then(mismatchedPayment(SECOND, again, 'amount'))
      .knowing({ extraPayments: [] })
      .when(watcher.landed(SECOND, again))
      .thenNothing();
  });
});

describe('an intent of exactly its amount', () => {
  it('is not paid by more, as ever', () => {
    const result = given(created())
      .when(watcher.landed(UNKNOWN, more))
      .then(mismatchedPayment(UNKNOWN, more, 'amount'));
    expect(view(result.intent())).not.toHaveProperty('accept');
  });
});
