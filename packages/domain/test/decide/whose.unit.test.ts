import { describe, expect, it } from '@jest/globals';
import { BrokenRuleError, UnknownIntentError } from '@pf/domain';
import { given } from '../../src/testing/given.ts';
import { created, of } from '../../src/testing/events.ts';
import { about, gateway, owner, watcher } from '../../src/testing/inputs.ts';
import {
  FIRST,
  INTENT,
  OTHER_ACCOUNT,
  REFUND,
  SCENARIO_START,
  SUCCESSOR,
  TTL_SECONDS,
} from '../../src/testing/samples.ts';

const commands = [
  gateway.update({ updatedAt: SCENARIO_START }),
  gateway.detect(),
  gateway.recordBuild(),
  gateway.prepare(FIRST),
  gateway.recordBroadcast(FIRST),
  gateway.release(FIRST),
  gateway.cancel(),
  gateway.refund(),
  gateway.simulate('confirmed'),
];

describe.each(commands.map((command) => ({ name: command.type, command })))('$name', ({ command }) => {
  it('does not find an intent that does not exist, is of another account, or of the other mode', () => {
    given(created()).when(about(REFUND, command)).thenRefused('intent.not_found').withOutcome({ intentId: REFUND });
    given(created())
      .when({ ...command, accountId: OTHER_ACCOUNT })
      .thenRefused('intent.not_found');
    given(created())
      .when({ ...command, livemode: true })
      .thenRefused('intent.not_found');
  });

  it('of somebody else does not even expire it', () => {
    given(created())
      .when({ ...command, accountId: OTHER_ACCOUNT }, SCENARIO_START + TTL_SECONDS * 1000)
      .thenRefused('intent.not_found');
  });
});

describe('an observation or expiry of an unknown intent', () => {
  it.each(
    [watcher.landed(FIRST), watcher.reverted(FIRST), watcher.dropped(FIRST), watcher.lost(FIRST), owner.expire()].map(
      (input) => ({ name: input.kind, input }),
    ),
  )('is thrown for the dead letters: $name', ({ input }) => {
    expect(() => given(created()).when(about(REFUND, input))).toThrow(UnknownIntentError);
  });
});

describe('create', () => {
  it('that arrives twice gets the first answer twice', () => {
    given(created({ idempotencyKey: 'order 7' }))
      .when(gateway.create({ idempotencyKey: 'order 7' }))
      .thenNothing()
      .withOutcome({ intentId: INTENT, replayed: false });
  });

  it('with the key of another account or mode is a new intent', () => {
    const request = about(SUCCESSOR, gateway.create({ idempotencyKey: 'order 7' }));
    for (const other of [
      { ...request, accountId: OTHER_ACCOUNT },
      { ...request, livemode: true },
    ]) {
      given(created({ idempotencyKey: 'order 7' }))
        .when(other)
        .withOutcome({ intentId: SUCCESSOR, replayed: false });
    }
  });

  it('finds the newest intent of its key, whatever the new request says', () => {
    const day = 24 * 60 * 60 * 1000;
    given(created({ idempotencyKey: 'order 7' }))
      .when(about(REFUND, gateway.create({ idempotencyKey: 'order 7' })), SCENARIO_START + day)
      .then(of(REFUND, created({ idempotencyKey: 'order 7' })))
      .when(
        about(SUCCESSOR, gateway.create({ idempotencyKey: 'order 7', amount: '99', amountBaseUnits: 99_000_000n })),
        SCENARIO_START + 2 * day - 1,
      )
      .thenNothing()
      .withOutcome({ intentId: REFUND, replayed: true });
  });

  it('of an id that belongs to somebody else is a fault of the program', () => {
    expect(() => given(created()).when({ ...gateway.create(), accountId: OTHER_ACCOUNT })).toThrow(BrokenRuleError);
  });
});
