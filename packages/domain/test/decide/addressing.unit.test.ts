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
  it('is refused with intent.not_found for an unknown intent and for another account’s or mode’s', () => {
    given(created()).when(about(REFUND, command)).thenRefused('intent.not_found').withOutcome({ intentId: REFUND });
    given(created())
      .when({ ...command, accountId: OTHER_ACCOUNT })
      .thenRefused('intent.not_found');
    given(created())
      .when({ ...command, livemode: true })
      .thenRefused('intent.not_found');
  });

  it('does not expire an intent of another account', () => {
    given(created())
      .when({ ...command, accountId: OTHER_ACCOUNT }, SCENARIO_START + TTL_SECONDS * 1000)
      .thenRefused('intent.not_found');
  });
});

describe('an observation or expiry of an unknown intent', () => {
  it.each(
    [
      ...[watcher.landed(FIRST), watcher.reverted(FIRST), watcher.dropped(FIRST), watcher.lost(FIRST)],
      ...[owner.expire(), owner.erase()],
    ].map((input) => ({ name: 'type' in input ? input.type : input.kind, input })),
  )('throws UnknownIntentError: $name', ({ input }) => {
    expect(() => given(created()).when(about(REFUND, input))).toThrow(UnknownIntentError);
  });
});

describe('create', () => {
  it('has the same outcome when it arrives twice', () => {
    given(created({ idempotencyKey: 'order 7' }))
      .when(gateway.create({ idempotencyKey: 'order 7' }))
      .thenNothing()
      .withOutcome({ intentId: INTENT, replayed: false });
  });

  it('makes a new intent for the idempotency key of another account or mode', () => {
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

  it('returns the newest intent of its idempotency key, whatever the new request says', () => {
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

  it('throws for an id that belongs to another account', () => {
    expect(() => given(created()).when({ ...gateway.create(), accountId: OTHER_ACCOUNT })).toThrow(BrokenRuleError);
  });
});
