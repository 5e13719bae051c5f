import { describe, expect, it } from '@jest/globals';
import { advance, noMoney } from '../../src/pay/money.ts';
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

  it.each(liesIn(machine).map(({ name, machine: lying }) => [name, lying] as const))(
    'is found to lie: %s',
    (_, lying) => {
      expect(walk(lying, WALKS)).not.toBeNull();
    },
  );
});
