import { describe, expect, it } from '@jest/globals';
import type { IntentStatus } from '@pf/domain';
import { INTENT_STATUSES } from '@pf/domain';
import { eventsOf, given } from '../../src/testing/given.ts';
import { expired } from '../../src/testing/events.ts';
import { INTENT, SCENARIO_START, TTL_SECONDS } from '../../src/testing/samples.ts';
import { ROW_NAMES, ROWS } from './lifecycle-rows.ts';
import type { Case, Row } from './lifecycle-table.ts';
import { HISTORY } from './lifecycle-table.ts';

const play = (row: Row, state: IntentStatus, test: Case): void => {
  const story = given(...(test.given ?? HISTORY[state]));
  const intent = story.ledger.intent(INTENT);
  if (intent === undefined) throw new Error('a history begins with a creation');
  expect(intent.status).toBe(state);
  const input = test.when ?? row.when;
  const outcome = story.when(typeof input === 'function' ? input(intent) : input, test.at);
  if (test.refused === undefined) outcome.then(...(test.then ?? []));
  else outcome.thenRefused(test.refused);
  if (test.answers !== undefined) outcome.withOutcome(test.answers);
};

describe('the lifecycle is total', () => {
  it('has every row of the document', () => {
    expect(ROWS.map(({ name }) => name)).toEqual(ROW_NAMES);
  });

  it('has every state in every row, and tells the cases of a cell apart', () => {
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
  describe.each(INTENT_STATUSES.map((state) => ({ state })))('$state', ({ state }) => {
    it.each(row.cells[state].map((test) => ({ name: test.if ?? 'always', test })))('$name', ({ test }) =>
      play(row, state, test),
    );
  });
});

/** Commands on an intent whose time has run out, which nobody has expired yet: first it expires, then the row's cell for `expired` holds. */
describe('a command past expiresAt is decided after an expire', () => {
  const due = SCENARIO_START + TTL_SECONDS * 1000;
  const rows = ROWS.filter(({ name, when }) => when.kind === 'command' && name !== 'create' && name !== 'update');

  it.each(rows.map((row) => ({ name: row.name, row })))('$name', ({ row }) => {
    for (const { given: history, when = row.when, refused: code } of row.cells.expired) {
      if (history !== undefined) continue;
      if (typeof when === 'function') throw new Error('only update looks at the intent');
      for (const [open, pendingAtExpiry] of [
        ['created', false],
        ['pending', true],
      ] as const) {
        const tooLate = given(...HISTORY[open]).when(when, due);
        if (code === undefined) tooLate.then(expired(pendingAtExpiry));
        else tooLate.thenRefused(code, expired(pendingAtExpiry));
        expect(eventsOf(given(...HISTORY[open]).when(when, due - 1).decision)).not.toContainEqual(
          expect.objectContaining(expired(pendingAtExpiry)),
        );
      }
    }
  });
});
