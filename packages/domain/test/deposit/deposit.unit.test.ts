import { describe, expect, it } from '@jest/globals';
import {
  decideDeposit,
  decideDepositCommand,
  type Deposit,
  type DepositCommand,
  type DepositEvent,
  type DepositEventData,
  type DepositEventType,
  depositView,
  evolveDeposit,
  HeldDepositError,
  holdDeposit,
  type DepositObservation,
  type DepositRefusalCode,
  isDepositEventType,
  VersionGapError,
} from '@pf/domain';
import {
  arrival,
  DEPOSIT,
  depositCommand,
  depositLanded,
  depositLost,
  depositWithdrawn,
  received,
} from '../../src/testing/deposits.ts';
import { INTENT, OTHER_ACCOUNT, REFUND, SCENARIO_START } from '../../src/testing/samples.ts';

const STEP_MS = 1000;
type Expected = { [Type in DepositEventType]: readonly [Type, DepositEventData[Type]] }[DepositEventType];

const numbered = ([type, data]: Expected, version: number, at: number): DepositEvent =>
  ({ type, depositId: DEPOSIT, version, at, data }) as DepositEvent;

/** Folds the events, decides the observation or command, and expects exactly this event of it, or its refusal. */
function given(...history: readonly Expected[]) {
  const before = history.reduce<Deposit | undefined>(
    (deposit, event, place) => evolveDeposit(deposit, numbered(event, place + 1, SCENARIO_START + place * STEP_MS)),
    undefined,
  );
  const now = SCENARIO_START + history.length * STEP_MS;
  return {
    when(input: DepositObservation | DepositCommand) {
      const decision = input.kind === 'deposit' ? null : decideDepositCommand(input, now, before);
      const decided =
        input.kind === 'deposit'
          ? decideDeposit(input, now, before)
          : decision?.kind === 'accepted'
            ? decision.transition
            : null;
      return {
        then(...expected: Expected): Deposit {
          expect(decided?.event).toEqual(numbered(expected, history.length + 1, now));
          if (decided === null) throw new Error('nothing was decided');
          expect(evolveDeposit(before, decided.event)).toEqual(decided.deposit);
          return decided.deposit;
        },
        thenNothing(): void {
          expect([decided, decision?.kind ?? 'accepted']).toEqual([null, 'accepted']);
        },
        thenRefused(code: DepositRefusalCode, message: RegExp): void {
          expect(decision).toMatchObject({
            kind: 'refused',
            refusal: { code, depositId: DEPOSIT, message: expect.stringMatching(message) as unknown },
          });
        },
      };
    },
  };
}

const final = { level: 'finalized' } as const;
const elsewhere = arrival({ block: 101n, blockHash: `0x${'101'.padStart(64, '0')}` });
const receivedOnce: Expected = ['deposit.received', received()];
const finalized: Expected = ['deposit.finalized', {}];
const lost: Expected = ['deposit.lost', {}];
const withdrawn: Expected = ['deposit.withdrawn', { intentId: INTENT }];
const ignored: Expected = ['deposit.ignored', {}];
const reopened: Expected = ['deposit.reopened', {}];
const assigned: Expected = ['deposit.assigned', { intentId: INTENT }];
const unassigned: Expected = ['deposit.unassigned', { intentId: INTENT }];
const ignore = depositCommand('ignore_deposit');
const reopen = depositCommand('reopen_deposit');
const assign = { ...depositCommand('assign_deposit'), type: 'assign_deposit', intentId: INTENT } as const;
const unassign = depositCommand('unassign_deposit');

describe('a deposit', () => {
  it('is received when it is first seen', () => {
    expect(given().when(depositLanded()).then('deposit.received', received())).toMatchObject({
      level: 'confirmed',
      state: 'open',
      version: 1,
    });
  });

  it('is received as final when it is final at its first sight', () => {
    const deposit = given().when(depositLanded(final)).then('deposit.received', received(final));
    expect(deposit.level).toBe('finalized');
  });

  it('is received once, however often it is seen in its block', () => {
    given(receivedOnce).when(depositLanded()).thenNothing();
    given(receivedOnce, finalized).when(depositLanded()).thenNothing();
    given(receivedOnce, finalized).when(depositLanded(final)).thenNothing();
  });

  it('is final once', () => {
    expect(given(receivedOnce).when(depositLanded(final)).then('deposit.finalized', {}).level).toBe('finalized');
  });

  it('is lost when its block is undone, also where that was final', () => {
    expect(given(receivedOnce).when(depositLost()).then('deposit.lost', {}).level).toBe('lost');
    given(receivedOnce, finalized).when(depositLost()).then('deposit.lost', {});
  });

  it('is lost once, and never by the loss of another block', () => {
    given(receivedOnce, lost).when(depositLost()).thenNothing();
    given(receivedOnce).when(depositLost(elsewhere)).thenNothing();
    given().when(depositLost()).thenNothing();
  });

  it('is received again where it lands again after it was lost', () => {
    const again = received({ arrival: elsewhere });
    const deposit = given(receivedOnce, lost).when(depositLanded(again)).then('deposit.received', again);
    expect(deposit).toMatchObject({ level: 'confirmed', createdAt: SCENARIO_START, arrival: elsewhere });
  });

  it('is in its newest block where the loss of the former one comes late', () => {
    const again = received({ arrival: elsewhere });
    given(receivedOnce).when(depositLanded(again)).then('deposit.received', again);
    given(receivedOnce, ['deposit.received', again]).when(depositLost()).thenNothing();
    given(receivedOnce, finalized).when(depositLanded(again)).thenNothing();
  });

  it('is withdrawn once it pays an intent, also where it was final, and names it', () => {
    const deposit = given(receivedOnce, finalized)
      .when(depositWithdrawn())
      .then(...withdrawn);
    expect(deposit).toMatchObject({ level: 'withdrawn', intentId: INTENT });
    given(receivedOnce)
      .when(depositWithdrawn())
      .then(...withdrawn);
    given(receivedOnce, withdrawn).when(depositWithdrawn()).thenNothing();
  });

  it('is not withdrawn for a payment in another block, nor where it was lost or never received', () => {
    given(receivedOnce).when(depositWithdrawn(elsewhere)).thenNothing();
    given(receivedOnce, lost).when(depositWithdrawn()).thenNothing();
    given().when(depositWithdrawn()).thenNothing();
  });

  it('stays withdrawn, so that it is not counted beside the payment', () => {
    given(receivedOnce, withdrawn).when(depositLanded()).thenNothing();
    given(receivedOnce, withdrawn)
      .when(depositLanded({ arrival: elsewhere }))
      .thenNothing();
    given(receivedOnce, withdrawn).when(depositLost()).thenNothing();
  });

  it('grows updatedAt with each event, also within one millisecond', () => {
    const first = evolveDeposit(undefined, numbered(receivedOnce, 1, SCENARIO_START));
    expect(evolveDeposit(first, numbered(finalized, 2, SCENARIO_START)).updatedAt).toBe(SCENARIO_START + 1);
  });
});

describe('what an account does about a deposit', () => {
  it('ignores it, reopens it, and ignores it again', () => {
    expect(given(receivedOnce).when(ignore).then('deposit.ignored', {}).state).toBe('ignored');
    expect(given(receivedOnce, ignored).when(reopen).then('deposit.reopened', {}).state).toBe('open');
    given(receivedOnce, finalized, ignored, reopened).when(ignore).then('deposit.ignored', {});
  });

  it('changes nothing the second time', () => {
    given(receivedOnce, ignored).when(ignore).thenNothing();
    given(receivedOnce).when(reopen).thenNothing();
    given(receivedOnce, ignored, lost).when(ignore).thenNothing();
  });

  it('stays where the chain moves on', () => {
    expect(given(receivedOnce, ignored).when(depositLanded(final)).then('deposit.finalized', {})).toMatchObject({
      level: 'finalized',
      state: 'ignored',
    });
    given(receivedOnce, ignored)
      .when(depositWithdrawn())
      .then(...withdrawn);
    const again = received({ arrival: elsewhere });
    const deposit = given(receivedOnce, ignored, lost).when(depositLanded(again)).then('deposit.received', again);
    expect(deposit.state).toBe('ignored');
  });

  it('is refused of one that was lost or pays an intent, and says so', () => {
    given(receivedOnce, lost)
      .when(ignore)
      .thenRefused('deposit.invalid_state', /is lost, so it cannot be ignored/);
    given(receivedOnce, ignored, lost)
      .when(reopen)
      .thenRefused('deposit.invalid_state', /is lost/);
    given(receivedOnce, withdrawn)
      .when(ignore)
      .thenRefused('deposit.invalid_state', /is withdrawn/);
  });

  it('is refused of one that has changed too often, which the chain may still change', () => {
    const often = Array.from({ length: 199 }, (_, n) => (n % 2 === 0 ? ignored : reopened));
    given(receivedOnce, ...often)
      .when(reopen)
      .thenRefused('deposit.invalid_state', /has changed 200 times/);
    given(receivedOnce, ...often)
      .when(ignore)
      .thenNothing();
    given(receivedOnce, ...often)
      .when(depositLost())
      .then(...lost);
  });

  it('is refused alike of one that is unknown, another account’s or of the other mode', () => {
    const none = /no deposit with this id/;
    given().when(ignore).thenRefused('deposit.not_found', none);
    given(receivedOnce)
      .when({ ...ignore, accountId: OTHER_ACCOUNT })
      .thenRefused('deposit.not_found', none);
    given(receivedOnce)
      .when({ ...reopen, livemode: true })
      .thenRefused('deposit.not_found', none);
  });
});

describe('the assignment of a deposit', () => {
  it('names its intent until it is undone', () => {
    expect(
      given(receivedOnce)
        .when(assign)
        .then(...assigned),
    ).toMatchObject({ state: 'assigned', intentId: INTENT });
    const deposit = given(receivedOnce, assigned)
      .when(unassign)
      .then(...unassigned);
    expect(deposit).toMatchObject({ state: 'open', intentId: null });
  });

  it('happens once', () => {
    given(receivedOnce, assigned).when(assign).thenNothing();
    given(receivedOnce, assigned, unassigned).when(unassign).thenNothing();
  });

  it('is to one intent only, whatever is asked later', () => {
    given(receivedOnce, assigned)
      .when({ ...assign, intentId: REFUND })
      .thenRefused('deposit.invalid_state', /is assigned to pi_1original/);
  });

  it('is refused of one that is ignored, lost or withdrawn', () => {
    given(receivedOnce, ignored)
      .when(assign)
      .thenRefused('deposit.invalid_state', /is ignored, so it cannot be assigned/);
    given(receivedOnce, lost)
      .when(assign)
      .thenRefused('deposit.invalid_state', /is lost/);
    given(receivedOnce, withdrawn)
      .when(assign)
      .thenRefused('deposit.invalid_state', /is withdrawn/);
    given(receivedOnce, assigned)
      .when(ignore)
      .thenRefused('deposit.invalid_state', /is assigned, so it cannot be ignored/);
  });

  it('outlives a reorg, and can be undone while the transfer is lost', () => {
    const again = received({ arrival: elsewhere });
    const deposit = given(receivedOnce, assigned, lost).when(depositLanded(again)).then('deposit.received', again);
    expect(deposit).toMatchObject({ state: 'assigned', intentId: INTENT, level: 'confirmed' });
    given(receivedOnce, assigned, lost)
      .when(unassign)
      .then(...unassigned);
  });

  it('ends where the transfer turns out to pay an intent by itself', () => {
    expect(
      given(receivedOnce, assigned)
        .when(depositWithdrawn())
        .then(...withdrawn),
    ).toMatchObject({ state: 'open', level: 'withdrawn', intentId: INTENT });
  });

  it('stands where a payer claims the transfer for another intent, which proves nothing', () => {
    const withdrawal = depositWithdrawn();
    const claim = { ...withdrawal, data: { ...withdrawal.data, claimed: true } } as DepositObservation;
    given(receivedOnce, assigned).when(claim).thenNothing();
    given(receivedOnce, finalized, assigned).when(claim).thenNothing();
    given(receivedOnce, assigned, unassigned)
      .when(claim)
      .then(...withdrawn);
  });
});

describe('the fold of a deposit', () => {
  const first = evolveDeposit(undefined, numbered(receivedOnce, 1, SCENARIO_START));

  it.each<readonly [string, Deposit | undefined, DepositEvent]>([
    ['a repeated version', first, numbered(receivedOnce, 1, SCENARIO_START)],
    ['a gap', first, numbered(lost, 3, SCENARIO_START)],
    ['a first event that is none', undefined, numbered(finalized, 1, SCENARIO_START)],
    ['an event of another deposit', { ...first, id: 'dp_other' as typeof DEPOSIT }, numbered(lost, 2, SCENARIO_START)],
  ])('refuses %s', (_what, before, event) => {
    expect(() => evolveDeposit(before, event)).toThrow(VersionGapError);
  });

  it('knows its event types', () => {
    expect(isDepositEventType('deposit.lost')).toBe(true);
    expect(isDepositEventType('intent.created')).toBe(false);
  });
});

describe('a held deposit', () => {
  const first = evolveDeposit(undefined, numbered(receivedOnce, 1, SCENARIO_START));
  const head = { type: 'deposit.assigned', depositId: DEPOSIT, accountId: first.accountId, at: SCENARIO_START };
  const shown = { ...depositView(first), state: 'assigned' as const };

  it('shows what newer code has made of it, and is not decided about', () => {
    const held = holdDeposit(first, { ...head, version: 2, shown });
    expect(held).toMatchObject({ version: 2, state: 'assigned', arrival: first.arrival, heldFrom: 2 });
    expect(() => decideDeposit(depositLost(), SCENARIO_START, held)).toThrow(HeldDepositError);
    expect(decideDepositCommand(ignore, SCENARIO_START, held)).toMatchObject({
      kind: 'refused',
      refusal: { code: 'deposit.unavailable' },
    });
    expect(() => holdDeposit(first, { ...head, version: 3, shown })).toThrow(VersionGapError);
  });

  it('is known by its view where its first event is not understood', () => {
    const held = holdDeposit(undefined, { ...head, version: 1, shown });
    expect(depositView(held)).toEqual({ ...shown, token: null, amount: null });
  });
});

describe('the view of a deposit', () => {
  it('has amounts as decimals and base units', () => {
    expect(depositView(given().when(depositLanded()).then('deposit.received', received()))).toMatchObject({
      token: 'USDC',
      amount: '12.5',
      amountBaseUnits: '12500000',
      blockTime: '2026-11-21T12:00:00.000Z',
      intentId: null,
    });
  });

  it('has no amount, symbol, sender or time where they are not known', () => {
    const data = received({ arrival: arrival({ token: null, from: null, at: null }), reason: 'unlisted_token' });
    const deposit = given().when(depositLanded(data)).then('deposit.received', data);
    expect(depositView(deposit)).toMatchObject({ token: null, amount: null, sender: null, blockTime: null });
  });
});
