import { afterEach, describe, expect, it } from '@jest/globals';
import { networks } from '@pf/chains/networks';
import type { Transition } from '@pf/domain';
import { recordTo } from '@pf/runtime';
import { recordTransitions } from '../src/ledger-metrics.ts';

const LIVE = networks.find(({ name }) => name === 'tempo');

/** A payment that is confirmed so many seconds after its submission; nothing else of it is recorded. */
const confirmedAfter = (seconds: number, accountId: string, sender: string) =>
  ({
    event: { type: 'intent.confirmed', at: seconds * 1_000, data: { hash: '0x1' } },
    intent: {
      accountId,
      chain: LIVE?.chain,
      createdAt: 0,
      livemode: true,
      simulated: false,
      submissions: [{ hash: '0x1', preparedAt: 0, sender }],
    },
  }) as unknown as Transition;

describe('The time to confirm', () => {
  afterEach(() => recordTo(null));

  it('tells late payments of one payer with low fees from those of several accounts', () => {
    const recorded: unknown[] = [];
    recordTo({
      add: () => undefined,
      record: (name, value, labels) =>
        name === 'payments.confirmation.duration' && recorded.push([value, labels['late'] ?? 'counts']),
    });
    const lowFees = Array.from({ length: 3 }, () => confirmedAfter(60, 'acct_1', 'wallet 1'));
    recordTransitions([...lowFees, confirmedAfter(2, 'acct_2', 'wallet 2'), ...lowFees]);
    expect(recorded).toEqual([...lowFees.map(() => [60, 'alone']), [2, 'counts'], ...lowFees.map(() => [60, 'alone'])]);
    recorded.length = 0;
    recordTransitions([confirmedAfter(60, 'acct_2', 'wallet 2'), confirmedAfter(60, 'acct_1', 'wallet 1')]);
    expect(recorded).toEqual([
      [60, 'counts'],
      [60, 'counts'],
    ]);
  });
});
