import { describe, expect, it } from '@jest/globals';
import type { ChainAdapter } from '@pf/chains';
import { matchCommandId } from '@pf/contracts';
import type { AmountMatch } from '@pf/database';
import type { Deposit, DepositId, PaymentIntent } from '@pf/domain';
import { deposits, events, type ExpectedEvent, given, samples } from '@pf/domain/testing';
import type { Logger } from '@pf/runtime';
import { type Screening, ScreeningUnavailableError } from '@pf/screening';
import { ApiError } from '../../src/api-error.ts';
import { AmountKeeper } from '../../src/deposits/amount-keeper.ts';

const NOW = samples.SCENARIO_START;
const { BASE_SEPOLIA, BOB, FIRST, INTENT } = samples;
const { DEPOSIT } = deposits;
const OTHER_DEPOSIT = 'dp_2other' as DepositId;

const intentAfter = (...history: readonly ExpectedEvent[]): PaymentIntent => {
  const [intent] = given(events.created({ attribution: 'amount' }), ...history).ledger.intents();
  if (intent === undefined) throw new Error('the intent was created');
  return intent;
};
const PAID = intentAfter(events.confirmed(FIRST));
if (PAID.settlement === null) throw new Error('the intent is paid');
const BY_DEPOSIT = { ...PAID.settlement, depositId: OTHER_DEPOSIT };

const depositWith = (change: Partial<Deposit> = {}): Deposit => ({
  id: DEPOSIT,
  version: 1,
  accountId: samples.ACCOUNT,
  livemode: false,
  chain: BASE_SEPOLIA,
  arrival: deposits.arrival(),
  level: 'confirmed',
  state: 'open',
  reason: 'no_reference',
  intentId: null,
  createdAt: NOW,
  updatedAt: NOW,
  ...change,
});

interface World {
  readonly deposit?: Deposit | null;
  readonly intent?: PaymentIntent | null;
  readonly hasRival?: boolean;
  readonly isSecond?: boolean;
  /** How often the match was taken. */
  readonly tries?: number;
  readonly screen?: () => Promise<unknown>;
  readonly command?: () => Promise<void>;
}

/** What the keeper does with one match. */
async function judged({
  deposit = depositWith(),
  intent = intentAfter(),
  hasRival = false,
  isSecond = false,
  tries = 1,
  screen = () => Promise.resolve({ kind: 'clean' }),
  command = () => Promise.resolve(),
}: World) {
  const done: unknown[] = [];
  const { accountId, livemode } = depositWith();
  const owner = { accountId, livemode };
  const match: AmountMatch = { intentId: INTENT, depositId: DEPOSIT, depositVersion: 1, ...owner, tries, isSecond };
  const store = {
    amounts: {
      takeDue: async () => [match],
      settle: async (_match: unknown, isAssigned: boolean) => void done.push(isAssigned ? 'assigned' : 'left'),
      postpone: async (_match: unknown, until: number) => void done.push(until - NOW),
      hasRival: async () => hasRival,
    },
    intents: { findDeposit: async () => deposit, findIntent: async () => intent },
  };
  const keeper = new AmountKeeper({
    adapters: new Map([[BASE_SEPOLIA, {} as ChainAdapter]]),
    commands: {
      requireOfDeposit: async (...sent) => {
        await command();
        done.push(sent);
      },
    },
    log: { info: () => undefined, warn: () => undefined } as unknown as Logger,
    now: () => NOW,
    screening: { screen } as unknown as Screening,
    stores: { live: store, test: store },
  });
  await keeper.assign();
  return done;
}

describe('What has exactly the amount of an intent', () => {
  const { accountId, livemode } = depositWith();
  const command = [
    { type: 'assign_deposit', intentId: INTENT, depositId: DEPOSIT, accountId, livemode },
    matchCommandId(INTENT, DEPOSIT, 1),
  ];

  it('is assigned to it, by one command however often it is sent', async () => {
    expect(await judged({})).toEqual([command, 'assigned']);
    expect(await judged({ tries: 5 })).toEqual([command, 'assigned']);
  });

  it('is not assigned again', async () => {
    expect(await judged({ deposit: depositWith({ state: 'assigned', intentId: INTENT }) })).toEqual(['assigned']);
  });

  it.each<readonly [string, World]>([
    ['was ignored', { deposit: depositWith({ state: 'ignored' }) }],
    ['was undone', { deposit: depositWith({ level: 'lost' }) }],
    ['carries a reference', { deposit: depositWith({ reason: 'unknown_reference' }) }],
    ['comes to an intent that is paid', { intent: PAID }],
    ['comes after a person has undone a payment', { intent: { ...PAID, status: 'failed' } }],
    ['has another amount', { deposit: depositWith({ arrival: deposits.arrival({ amount: 1n }) }) }],
    ['has a rival', { hasRival: true }],
    ['has an amount that another account has reserved before', { isSecond: true }],
    [
      'comes from a listed wallet',
      {
        screen: async () => ({ kind: 'match', wallet: { chain: BASE_SEPOLIA, address: BOB }, finding: 'a list' }),
      },
    ],
    ['is refused by the writer', { command: () => Promise.reject(new ApiError('deposit.invalid_state')) }],
  ])('is left to its account where it %s', async (_, world) => {
    expect(await judged(world)).toEqual(['left']);
  });

  it('is looked at again, ever later, until the projection shows it', async () => {
    expect(await judged({ deposit: null })).toEqual([400]);
    expect(await judged({ intent: null, tries: 3 })).toEqual([1_600]);
    expect(await judged({ deposit: depositWith({ heldFrom: 2 }), tries: 20 })).toEqual([51_200]);
  });

  it('is looked at again where the deposit that has paid may be undone, and left after a while', async () => {
    const intent = { ...PAID, settlement: BY_DEPOSIT };
    expect(await judged({ intent })).toEqual([400]);
    expect(await judged({ intent, tries: 6 })).toEqual([12_800]);
    expect(await judged({ intent, tries: 7 })).toEqual(['left']);
  });

  it('pays an intent whose payment a reorg has undone', async () => {
    const intent = { ...PAID, settlement: { ...BY_DEPOSIT, lost: true } };
    expect(await judged({ intent })).toEqual([command, 'assigned']);
    expect(await judged({ intent: { ...intent, status: 'failed' } })).toEqual(['left']);
  });

  it.each<readonly [string, World]>([
    ['screened', { screen: () => Promise.reject(new ScreeningUnavailableError('no list')) }],
    ['sent', { command: () => Promise.reject(new ApiError('service.unavailable')) }],
  ])('is taken again where it could not be %s', async (_, world) => {
    expect(await judged(world)).toEqual([]);
  });
});
