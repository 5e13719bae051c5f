import { describe, expect, it } from '@jest/globals';
import type { IntentStatus } from '@pf/domain';
import { INTENT_STATUSES } from '@pf/domain';
import { eventsOf, given } from '../../src/testing/given.ts';
import { expired } from '../../src/testing/events.ts';
import { INTENT, SCENARIO_START, TTL_SECONDS } from '../../src/testing/samples.ts';
import { ROW_NAMES, ROWS } from './lifecycle-rows.ts';
import type { Case, Row } from './lifecycle-table.ts';
import { HISTORY } from './lifecycle-table.ts';

/** What the row's input does in this case: the test's title. */
const titleOf = ({ if: condition, then = [], refused }: Case): string => {
  const types = then.map(({ type }) => type).join(', ');
  const outcome =
    refused !== undefined ? `is refused with ${refused}` : types === '' ? 'changes nothing' : `appends ${types}`;
  return condition === undefined ? outcome : `${outcome} if ${condition}`;
};

const check = (row: Row, state: IntentStatus, one: Case): void => {
  const scenario = given(...(one.given ?? HISTORY[state]));
  const intent = scenario.ledger.intent(INTENT);
  if (intent === undefined) throw new Error('a history must begin with a creation');
  expect(intent.status).toBe(state);
  const input = one.when ?? row.when;
  const result = scenario.when(typeof input === 'function' ? input(intent) : input, one.at);
  if (one.refused === undefined) result.then(...(one.then ?? []));
  else result.thenRefused(one.refused);
  if (one.outcome !== undefined) result.withOutcome(one.outcome);
};

describe('the lifecycle table', () => {
  it('has every row of the document', () => {
    expect(ROWS.map(({ name }) => name)).toEqual(ROW_NAMES);
  });

  it('has every state in every row, and a condition for each further case of a cell', () => {
    for (const { name, cells } of ROWS) {
      for (const state of INTENT_STATUSES) {
        const cases = cells[state].map((one) => `${name}, ${state}: ${one.if ?? ''}`);
        expect(cases.length).toBeGreaterThan(0);
        expect(new Set(cases).size).toBe(cases.length);
      }
    }
  });
});

describe.each(ROWS.map((row) => ({ name: row.name, row })))('$name', ({ row }) => {
  describe.each(INTENT_STATUSES.map((state) => ({ state })))('of an intent that is $state', ({ state }) => {
    it.each(row.cells[state].map((one) => ({ title: titleOf(one), one })))('$title', ({ one }) =>
      check(row, state, one),
    );
  });
});

/** The time has run out, but no expiry was decided: the intent expires first, then the cell for `expired` holds. */
describe('a command past expiresAt', () => {
  const due = SCENARIO_START + TTL_SECONDS * 1000;
  const rows = ROWS.filter(({ name, when }) => when.kind === 'command' && name !== 'create' && name !== 'update');

  it.each(rows.map((row) => ({ name: row.name, row })))('expires the intent before $name is decided', ({ row }) => {
    for (const { given: history, when = row.when, then = [], refused: code } of row.cells.expired) {
      if (history !== undefined) continue;
      if (typeof when === 'function') throw new Error('only update depends on the intent');
      for (const [open, pendingAtExpiry] of [
        ['created', false],
        ['pending', true],
      ] as const) {
        const late = given(...HISTORY[open]).when(when, due);
        if (code === undefined) late.then(expired(pendingAtExpiry), ...then);
        else late.thenRefused(code, expired(pendingAtExpiry));
        expect(eventsOf(given(...HISTORY[open]).when(when, due - 1).decision)).not.toContainEqual(
          expect.objectContaining(expired(pendingAtExpiry)),
        );
      }
    }
  });
});
