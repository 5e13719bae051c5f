import { describe, expect, it } from '@jest/globals';
import {
  type Arrival,
  type AssignedDeposit,
  type Deposit,
  type DepositEvent,
  type DepositStanding,
  evolveDeposit,
  type Landing,
  type Observation,
  refusalOfAssignment,
  refusalOfUnassignment,
  toldIntent,
} from '@pf/domain';
import { arrival, DEPOSIT, received } from '../../src/testing/deposits.ts';
import {
  cancelled,
  confirmed,
  confirmedLate,
  created,
  expired,
  extraPayment,
  finalized,
  lost,
  pending,
  refundLinked,
} from '../../src/testing/events.ts';
import { type ExpectedEvent, given } from '../../src/testing/given.ts';
import { gateway, watcher } from '../../src/testing/inputs.ts';
import {
  ALICE,
  AMOUNT,
  BOB,
  CAROL,
  EURC,
  FIRST,
  INTENT,
  landing,
  REFERENCE,
  REFUND,
  SCENARIO_START,
  UNKNOWN,
  USDC,
} from '../../src/testing/samples.ts';

const { hash, block, blockHash, index, to } = arrival();
const transferOf = (change: Partial<Arrival> = {}): AssignedDeposit['transfer'] => {
  const { tokenAddress: _, from: __, ...place } = { block, blockHash, index, to, amount: AMOUNT, ...change };
  return {
    tokenAddress: USDC,
    from: BOB,
    to: place.to,
    amount: place.amount,
    block: place.block,
    blockHash: place.blockHash,
    index: place.index,
  };
};
const landingOf = (change: Partial<Arrival> = {}): Landing => ({
  hash,
  transfer: { ...transferOf(change), reference: REFERENCE },
  depositId: DEPOSIT,
});
const tell = (standing: DepositStanding, version: number, change: Partial<Arrival> = {}): Observation => ({
  kind: 'observation',
  type: 'assigned',
  intentId: INTENT,
  data: { depositId: DEPOSIT, version, standing, hash, transfer: transferOf(change) },
});
const told = (standing: DepositStanding, version: number, change: Partial<Arrival> = {}): ExpectedEvent => ({
  type: 'deposit_told',
  data: { depositId: DEPOSIT, version, standing, landing: landingOf(change) },
});
const marked = (event: ExpectedEvent, change: Partial<Arrival> = {}): ExpectedEvent =>
  ({ ...event, data: { ...event.data, landing: landingOf(change) } }) as ExpectedEvent;
const restored = (landing: Landing): ExpectedEvent => ({ type: 'confirmation_restored', data: { landing } });
const failedBy = (reason: string): ExpectedEvent => ({
  type: 'intent.failed',
  data: { hash: FIRST, reason, simulated: false },
});

const assignedTo = [created(), told('confirmed', 2), pending(FIRST), marked(confirmed(FIRST))];
const moved = { block: 107n, blockHash: `0x${'107'.padStart(64, '0')}` };
const unassignedReason = `The deposit ${DEPOSIT} that had paid it was unassigned.`;

describe('an intent that a deposit is assigned to', () => {
  it('is paid by it once, however often it is told', () => {
    given(created())
      .when(tell('confirmed', 2))
      .then(told('confirmed', 2), pending(FIRST), marked(confirmed(FIRST)))
      .showing({ state: 'confirmed', txSignature: FIRST, fulfiller: BOB })
      .when(tell('confirmed', 2))
      .thenNothing();
  });

  it('is paid late where it had ended', () => {
    given(created(), expired(false))
      .when(tell('finalized', 3))
      .then(
        told('finalized', 3),
        ...confirmedLate(FIRST, {}, 'expired').map((event) => marked(event)),
        marked(finalized(FIRST)),
      )
      .showing({ state: 'finalized' });
    given(created(), cancelled()).when(tell('confirmed', 2)).showing({ state: 'confirmed' });
  });

  it('has an extra payment where it is paid already, which ends with the assignment', () => {
    const paid = given(created(), pending(UNKNOWN), confirmed(UNKNOWN))
      .when(tell('confirmed', 2))
      .then(told('confirmed', 2), marked(extraPayment(FIRST)));
    paid
      .when(tell('unassigned', 3))
      .then(told('unassigned', 3))
      .knowing({ extraPayments: [], transfers: [`${UNKNOWN}:0`], status: 'confirmed' });
  });

  it('tells of a mismatched payment where its amount has changed meanwhile', () => {
    given(created({ amount: '13', amountBaseUnits: 13_000_000n }))
      .when(tell('confirmed', 2))
      .then(told('confirmed', 2), {
        type: 'intent.mismatched_payment',
        data: { landing: landingOf(), amount: '12.5', differs: ['amount'] },
      })
      .when(tell('unassigned', 3))
      .then(told('unassigned', 3))
      .knowing({ transfers: [] });
  });

  it('is final when the deposit is', () => {
    given(...assignedTo)
      .when(tell('finalized', 3))
      .then(told('finalized', 3), marked(finalized(FIRST)));
  });

  it('waits for the deposit after a reorg, and is paid where that lands again', () => {
    given(...assignedTo)
      .when(tell('lost', 3))
      .then(told('lost', 3))
      .knowing({ transfers: [], status: 'confirmed' })
      .when(tell('confirmed', 4, moved))
      .then(told('confirmed', 4, moved), restored(landingOf(moved)));
  });

  it('follows a deposit that has moved without being lost', () => {
    given(...assignedTo)
      .when(tell('confirmed', 3, moved))
      .then(told('confirmed', 3, moved), restored(landingOf(moved)));
  });

  it('fails when the assignment is undone, and can be paid again', () => {
    given(...assignedTo)
      .when(tell('unassigned', 3))
      .then(told('unassigned', 3), failedBy(unassignedReason))
      .showing({ state: 'failed' })
      .when(tell('confirmed', 4))
      .then(told('confirmed', 4), ...confirmedLate(FIRST, {}, 'failed').map((event) => marked(event)));
  });

  it('fails when the assignment is undone after the deposit was lost', () => {
    given(...assignedTo, told('lost', 3))
      .when(tell('unassigned', 4))
      .then(told('unassigned', 4), failedBy(unassignedReason));
  });

  it('is paid by an extra payment when the assignment is undone', () => {
    given(...assignedTo, extraPayment(UNKNOWN, { from: CAROL, block: 105n }))
      .when(tell('unassigned', 3))
      .then(told('unassigned', 3), restored(landing(UNKNOWN, { from: CAROL, block: 105n })));
  });

  it('passes over what is told late', () => {
    given(...assignedTo, told('unassigned', 3))
      .when(tell('confirmed', 2))
      .thenNothing();
  });

  it('is paid no longer where the transfer pays another intent by itself', () => {
    given(...assignedTo)
      .when(tell('withdrawn', 3))
      .then(
        told('withdrawn', 3),
        failedBy(`The deposit ${DEPOSIT} that had paid it turned out to pay another payment intent.`),
      );
  });

  it('stays paid, once, where the transfer turns out to carry its reference', () => {
    const { depositId: _, ...proven } = landingOf();
    given(...assignedTo)
      .when(tell('proven', 3))
      .then(told('proven', 3), restored(proven))
      .when(watcher.landed(FIRST))
      .thenNothing();
    given(...assignedTo)
      .when(watcher.landed(FIRST))
      .then(restored(proven))
      .when(tell('proven', 3))
      .then(told('proven', 3));
  });

  it('takes no observation of a watcher for the loss of the deposit', () => {
    given(created(), pending(UNKNOWN), confirmed(UNKNOWN), told('confirmed', 2), marked(extraPayment(FIRST)))
      .when(watcher.lost(UNKNOWN))
      .then({ type: 'confirmation_lost', data: { hash: UNKNOWN } }, restored(landingOf()))
      .when(watcher.lost(FIRST))
      .thenNothing();
  });

  it('is refunded to the address that is given, and to no other', () => {
    given(...assignedTo)
      .when(gateway.refund())
      .thenRefused('intent.invalid_state');
    given(...assignedTo)
      .when(gateway.refund(REFUND, CAROL))
      .withOutcome({ intentId: REFUND })
      .showing({ state: 'created', requestor: CAROL, fulfiller: ALICE, amount: '12.50', refundOf: INTENT }, REFUND);
  });
});

const depositOf = (
  change: Partial<Arrival> = {},
  ...events: readonly Omit<DepositEvent, 'depositId' | 'at'>[]
): Deposit =>
  [{ type: 'deposit.received', version: 1, data: received({ arrival: arrival(change) }) }, ...events].reduce<
    Deposit | undefined
  >(
    (before, event) => evolveDeposit(before, { ...event, depositId: DEPOSIT, at: SCENARIO_START } as DepositEvent),
    undefined,
  ) as Deposit;
const assigned = { type: 'deposit.assigned', version: 2, data: { intentId: INTENT } } as const;

describe('refusalOfAssignment', () => {
  const intent = given(created()).ledger.intent(INTENT);
  if (intent === undefined) throw new Error('it was created');

  it('is null for a deposit with the terms of the intent, also of a mint', () => {
    expect(refusalOfAssignment(depositOf(), intent)).toBeNull();
    expect(refusalOfAssignment(depositOf({ from: null }), intent)).toBeNull();
  });

  it('is the limit of the intent where it has as many events as it may', () => {
    expect(refusalOfAssignment(depositOf(), { ...intent, version: 1_000_000 })).toMatchObject({
      code: 'intent.limit_reached',
    });
  });

  it.each<readonly [string, Deposit]>([
    ['network', { ...depositOf(), chain: 'eip155:1' as Deposit['chain'] }],
    ['token', depositOf({ tokenAddress: EURC })],
    ['token', depositOf({ tokenAddress: null })],
    ['recipient', depositOf({ to: CAROL })],
    ['amount', depositOf({ amount: AMOUNT + 1n })],
    ['sender', depositOf({ from: ALICE })],
  ])('names the %s that differs, of %#', (term, deposit) => {
    expect(refusalOfAssignment(deposit, intent)).toMatchObject({
      code: 'deposit.mismatch',
      details: { differs: [term] },
    });
  });
});

describe('refusalOfUnassignment', () => {
  const intentAfter = (...events: readonly ExpectedEvent[]) => {
    const found = given(...events).ledger.intent(INTENT);
    if (found === undefined) throw new Error('it was created');
    return found;
  };

  it('is null while nothing was refunded', () => {
    expect(refusalOfUnassignment(depositOf({}, assigned), intentAfter(...assignedTo))).toBeNull();
  });

  it('names the refund of the intent', () => {
    expect(
      refusalOfUnassignment(depositOf({}, assigned), intentAfter(...assignedTo, refundLinked(REFUND))),
    ).toMatchObject({ code: 'intent.already_refunded', details: { refund_intent_id: REFUND } });
  });

  it('says that a payment beside a final deposit would be called final in its place', () => {
    const final = [...assignedTo, marked(finalized(FIRST)), extraPayment(UNKNOWN, { from: CAROL, block: 105n })];
    expect(refusalOfUnassignment(depositOf({}, assigned), intentAfter(...final))).toMatchObject({
      code: 'intent.invalid_state',
    });
  });
});

describe('toldIntent', () => {
  it('tells the intent of each event of its deposit', () => {
    const open = depositOf();
    expect(toldIntent(undefined, open)).toBeNull();
    const after = depositOf({}, assigned);
    expect(toldIntent(open, after)).toMatchObject({
      intentId: INTENT,
      data: { depositId: DEPOSIT, version: 2, standing: 'confirmed', hash },
    });
    const gone = depositOf({}, assigned, { type: 'deposit.unassigned', version: 3, data: { intentId: INTENT } });
    expect(toldIntent(after, gone)).toMatchObject({ intentId: INTENT, data: { standing: 'unassigned', version: 3 } });
    expect(toldIntent(gone, gone)).toBeNull();
  });

  it.each([
    ['proven', INTENT],
    ['withdrawn', REFUND],
  ] as const)('tells that it is %s by what the transfer pays', (standing, intentId) => {
    const withdrawn = depositOf({}, assigned, { type: 'deposit.withdrawn', version: 3, data: { intentId } });
    expect(toldIntent(depositOf({}, assigned), withdrawn)).toMatchObject({ intentId: INTENT, data: { standing } });
  });
});

describe('a mint that is assigned to an intent', () => {
  const minted = (): Observation => {
    const after = depositOf({ from: null }, assigned);
    const data = toldIntent(depositOf({ from: null }), after)?.data;
    if (data === undefined) throw new Error('its intent is told');
    return { kind: 'observation', type: 'assigned', intentId: INTENT, data };
  };

  it('pays it without a fulfiller, as no wallet has sent it', () => {
    given(created()).when(minted()).showing({ state: 'confirmed', txSignature: FIRST, fulfiller: null });
  });

  it('pays it without a fulfiller where it takes the place of a payment that a reorg has undone', () => {
    given(created(), pending(UNKNOWN), confirmed(UNKNOWN), lost(UNKNOWN))
      .when(minted())
      .showing({ state: 'confirmed', txSignature: FIRST, fulfiller: null });
  });

  it('is refunded to the address that the refund names', () => {
    const paid = given(created()).when(minted());
    paid.when(gateway.refund()).thenRefused('intent.invalid_state');
    paid.when(gateway.refund(REFUND, CAROL)).showing({ requestor: CAROL }, REFUND);
  });
});
