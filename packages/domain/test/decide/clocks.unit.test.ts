import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  CLOCK_SLIP_MS,
  CLOCK_TOLERANCE_MS,
  decide,
  liveSubmission,
  rebroadcastAt,
  UNRELEASABLE_AFTER_MS,
} from '@pf/domain';
import { created, prepared } from '../../src/testing/events.ts';
import { eventsOf, given } from '../../src/testing/given.ts';
import { gateway } from '../../src/testing/inputs.ts';
import { FIRST, INTENT, SCENARIO_START } from '../../src/testing/samples.ts';

/** How far the clock of a process that may decide or broadcast is from the references' at most. */
const APART = CLOCK_TOLERANCE_MS + CLOCK_SLIP_MS;
const apart = fc.integer({ min: -APART, max: APART });

describe('A submission that the watcher broadcasts again', () => {
  it('is no longer released, however far the proven clocks of writers and watcher are apart', () => {
    fc.assert(
      fc.property(
        apart,
        apart,
        apart,
        fc.integer({ min: 0, max: 60_000 }),
        fc.integer({ min: 0, max: 60_000 }),
        (first, second, watcher, interval, later) => {
          // True times: prepared at `start` by one writer, broadcast again by the watcher, refused `later` by another.
          const start = SCENARIO_START + 1_000_000;
          const { ledger } = given(created({ ttlSeconds: 86_400 })).when(gateway.prepare(FIRST), start + first);
          const live = ledger.intent(INTENT);
          const submission = live && liveSubmission(live);
          if (!submission) throw new Error('the scenario has no live submission');
          const broadcast = rebroadcastAt(submission, interval) - watcher;
          const clock = broadcast + later + second;
          // Event time does not go back when the second writer's clock is behind.
          const decision = decide(gateway.release(FIRST), Math.max(clock, start + first), ledger, clock);
          expect(eventsOf(decision)).toEqual([]);
        },
      ),
      // The watcher's clock as far ahead as it may be and the second writer's as far behind, at the first moment.
      { examples: [[APART, -APART, APART, 0, 0]] },
    );
  });

  it('could still be released if it were broadcast two tolerances and the release window earlier', () => {
    const { ledger, now } = given(created(), prepared(FIRST));
    const tooEarly = now - 1_000 + UNRELEASABLE_AFTER_MS - 2 * APART - 1_000;
    expect(eventsOf(decide(gateway.release(FIRST), tooEarly, ledger))).toHaveLength(1);
  });
});

describe('An intent in a partition whose event time is ahead of the clock', () => {
  it('does not expire before the clock has reached its end', () => {
    const { ledger } = given(created({ ttlSeconds: 60 }));
    const end = SCENARIO_START + 60_000;
    const hourAhead = SCENARIO_START + 3_600_000;
    const early = decide({ kind: 'expire', intentId: INTENT }, hourAhead, ledger, end - 1);
    expect(eventsOf(early)).toEqual([]);
    expect(eventsOf(decide(gateway.cancel(), hourAhead, ledger, end - 1))).toMatchObject([
      { type: 'intent.cancelled', at: hourAhead },
    ]);
    const due = decide({ kind: 'expire', intentId: INTENT }, hourAhead, ledger, end);
    expect(eventsOf(due)).toMatchObject([{ type: 'intent.expired', at: hourAhead }]);
  });
});
