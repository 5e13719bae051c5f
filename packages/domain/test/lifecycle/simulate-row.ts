import type { IntentStatus } from '@pf/domain';
import { INTENT_STATUSES } from '@pf/domain';
import type { ExpectedEvent } from '../../src/testing/given.ts';
import { created, prepared, simulated } from '../../src/testing/events.ts';
import { gateway } from '../../src/testing/inputs.ts';
import { CAROL, FIRST, SYNTHETIC } from '../../src/testing/samples.ts';
import type { Case, Row } from './lifecycle-table.ts';

const to = (targetState: IntentStatus, ...then: readonly ExpectedEvent[]): Case => ({
  if: `the target is ${targetState}`,
  when: gateway.simulate(targetState),
  then,
});
const toItself = (state: IntentStatus): Case => ({ if: `the target is ${state}`, when: gateway.simulate(state) });
const notTo = (targets: readonly IntentStatus[]): readonly Case[] =>
  targets.map((targetState) => ({
    if: `the target is ${targetState}`,
    when: gateway.simulate(targetState),
    refused: 'intent.invalid_state',
  }));
const allBut = (...states: readonly IntentStatus[]): readonly IntentStatus[] =>
  INTENT_STATUSES.filter((state) => !states.includes(state));
const liveKey: Case = {
  if: 'the API key is a live one',
  given: [created({}, true)],
  when: { ...gateway.simulate('confirmed'), livemode: true },
  refused: 'api_key.test_mode_required',
};

const pending = simulated.pending(SYNTHETIC, CAROL);
const confirmed = simulated.confirmed(SYNTHETIC, CAROL);

/** The row of `simulate`: a test key only, every state and event on the way. */
export const SIMULATE_ROW: Row = {
  name: 'simulate',
  when: gateway.simulate('confirmed'),
  cells: {
    created: [
      toItself('created'),
      to('pending', pending),
      to('confirmed', pending, confirmed),
      to('finalized', pending, confirmed, simulated.finalized(SYNTHETIC)),
      to('failed', pending, simulated.failed(SYNTHETIC)),
      to('expired', simulated.expired(false)),
      to('cancelled', simulated.cancelled()),
      {
        if: 'a submission is live',
        given: [created(), prepared(FIRST)],
        when: gateway.simulate('confirmed'),
        refused: 'intent.submission_in_progress',
      },
      liveKey,
    ],
    pending: [
      to('created', simulated.retryRequired(FIRST)),
      toItself('pending'),
      to('confirmed', simulated.confirmed(FIRST)),
      to('finalized', simulated.confirmed(FIRST), simulated.finalized(FIRST)),
      to('failed', simulated.failed(FIRST)),
      to('expired', simulated.expired(true)),
      ...notTo(['cancelled']),
    ],
    confirmed: [
      toItself('confirmed'),
      to('finalized', simulated.finalized(FIRST)),
      ...notTo(allBut('confirmed', 'finalized')),
    ],
    finalized: [toItself('finalized'), ...notTo(allBut('finalized'))],
    expired: [toItself('expired'), ...notTo(allBut('expired'))],
    failed: [toItself('failed'), ...notTo(allBut('failed'))],
    cancelled: [toItself('cancelled'), ...notTo(allBut('cancelled'))],
  },
};
