import { describe, expect, it } from '@jest/globals';
import { advance, type Known, knownOf, type Money, noMoney } from '../../src/pay/money.ts';
import { noteOf, statusOf } from '../../src/pay/status.ts';
import { CLAIMS } from './claims.ts';
import { liesIn } from './lies.ts';
import type { Machine } from './wallet-world.ts';
import { walk } from './walks.ts';

const WALKS = 20_000;
const machine: Machine = { start: noMoney, advance, statusOf, noteOf: (money) => noteOf('other', money) };

describe('what the page says of the money', () => {
  it('is true in every walk of wallets that do and say whatever they like', () => {
    const said = new Set<string>();
    expect(walk(machine, WALKS, said)).toBeNull();
    // All but those of what the person does, which say nothing of money.
    expect([...said].sort()).toEqual(Object.keys(CLAIMS).sort());
  });

  it('settles what was signed by a drop of its hash, although the response to the submit was lost', () => {
    const seen = { pendingAtExpiry: false, updatedAt: new Date(2_000).toISOString() };
    const dropped = { ...seen, state: 'created', retryRequired: true, txSignature: null } as const;
    const after = (hash: string | null): Known =>
      knownOf(
        [
          { type: 'asked', id: 'one', at: 1_000, payer: 'payer', wallet: 'wallet' } as const,
          { type: 'signed', id: 'one', hash } as const,
          { type: 'lost', id: 'one' } as const,
          { type: 'seen', intent: { ...seen, state: 'pending', retryRequired: false, txSignature: 'hash' } } as const,
          { type: 'seen', intent: dropped } as const,
        ].reduce<Money>(advance, noMoney),
      );
    expect([after('hash'), after('another'), after(null)]).toEqual(['proven_not_sent', 'handed', 'handed']);
  });

  it.each(liesIn(machine).map(({ name, machine: lying }) => [name, lying] as const))(
    'is found to lie: %s',
    (_, lying) => {
      expect(walk(lying, WALKS)).not.toBeNull();
    },
  );
});
