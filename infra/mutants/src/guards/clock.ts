import type { Mutant } from '../mutant.ts';

/** That no wrong clock decides or broadcasts. */
export const clockGuards: readonly Mutant[] = [
  {
    name: 'Nothing is stamped by a clock that is not proven',
    file: 'packages/clock/src/measured-clock.ts',
    guard: 'if (time === null) throw new ClockUnprovenError(this.#description());',
    instead: 'if (time === null) return this.#wall();',
    test: {
      file: 'packages/clock/test/partition-times.unit.test.ts',
      name: 'is not stamped by a clock that is not proven',
    },
  },
  {
    name: 'A step of the clock is noticed when it is read',
    file: 'packages/clock/src/measured-clock.ts',
    guard: 'Math.abs(now.wall - taken.wall - elapsed) > STEP_MS',
    instead: 'false',
    test: {
      file: 'packages/clock/test/measured-clock.unit.test.ts',
      name: 'is unproven from the moment of a step, and wrong when it was measured again',
    },
  },
  {
    name: 'A proof of the clock ends, as after a SIGSTOP',
    file: 'packages/clock/src/measured-clock.ts',
    guard: 'elapsed > PROVEN_FOR_MS',
    instead: 'false',
    test: {
      file: 'packages/clock/test/measured-clock.unit.test.ts',
      name: 'is measured again before it counts after the process was stopped for long',
    },
  },
  {
    name: 'A clock is right only with the uncertainty of its measurement',
    file: 'packages/clock/src/lead.ts',
    guard: 'return least >= -CLOCK_TOLERANCE_MS && most <= CLOCK_TOLERANCE_MS ?',
    instead: 'return Math.abs(middleOf({ least, most })) <= CLOCK_TOLERANCE_MS ?',
    test: {
      file: 'packages/clock/test/lead.unit.test.ts',
      name: 'is evaluated as a whole: right within the tolerance, wrong outside of it, unproven across its edge',
    },
  },
  {
    name: 'A process with a wrong clock leaves its partitions to others',
    file: 'services/intent/src/clocked-owner.ts',
    guard: "if (standing === 'wrong') return this.#leave();",
    instead: "if (standing === 'wrong' && this.#stopped) return this.#leave();",
    test: {
      file: 'services/intent/test/wrong-clock.integration.test.ts',
      name: 'gives its partitions up when it becomes 8 s slow, and owns them again once it is right',
    },
  },
  {
    name: 'One broker of several with a wrong clock is outvoted',
    file: 'packages/event-log/src/kafka/majority-clock.ts',
    guard: 'const needed = Math.floor(clocks / 2) + 1;',
    instead: 'const needed = Math.min(clocks, 1);',
    test: {
      file: 'packages/event-log/test/kafka/majority-clock.unit.test.ts',
      name: 'raises one alarm each time a broker becomes wrong, with its id',
    },
  },
  {
    name: 'No intent expires early because event time is ahead of the clock',
    file: 'packages/domain/src/decide/expiring.ts',
    guard: 'isDue(intent, draft.clock) ?',
    instead: 'isDue(intent, draft.now) ?',
    test: {
      file: 'packages/domain/test/decide/clocks.unit.test.ts',
      name: 'does not expire before the clock has reached its end',
    },
  },
  {
    name: 'No command is dropped as late for the difference of two proven clocks',
    file: 'services/intent/src/batch-decider.ts',
    guard: 'const LATE_AFTER_MS = COMMAND_DEADLINE_MS + CLOCK_TOLERANCE_MS;',
    instead: 'const LATE_AFTER_MS = COMMAND_DEADLINE_MS + 0 * CLOCK_TOLERANCE_MS;',
    test: {
      file: 'services/intent/test/batch-decider.unit.test.ts',
      name: 'is decided while it may be the writer’s clock that is ahead, by as much as it may be',
    },
  },
  {
    name: 'A watcher broadcasts again only when the claim can no longer be released, whatever the clocks',
    file: 'packages/domain/src/model/submission.ts',
    guard: 'export const UNRELEASABLE_AFTER_MS = 12_000;',
    instead: 'export const UNRELEASABLE_AFTER_MS = 11_000;',
    test: {
      file: 'packages/domain/test/decide/clocks.unit.test.ts',
      name: 'is no longer released, however far the proven clocks of writers and watcher are apart',
    },
  },
  {
    name: 'A watcher broadcasts nothing again by an unproven clock',
    file: 'services/watcher/src/network-watch.ts',
    guard: 'const now = clock.provenTime();',
    instead: 'const now = clock.provenTime() ?? Date.now();',
    test: {
      file: 'services/watcher/test/network-watch.unit.test.ts',
      name: 'broadcasts nothing again while its clock is unproven, and goes on to observe',
    },
  },
];
