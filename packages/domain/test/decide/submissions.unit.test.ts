import { describe, expect, it } from '@jest/globals';
import {
  UNRELEASABLE_AFTER_MS,
  type IntentId,
  type PreparedTransaction,
  RELEASE_WITHIN_MS,
  type SubmissionStatus,
} from '@pf/domain';
import type { ScenarioResult } from '../../src/testing/given.ts';
import { given } from '../../src/testing/given.ts';
import {
  built,
  created,
  dropped,
  failed,
  pending,
  prepared,
  refused,
  retryRequired,
} from '../../src/testing/events.ts';
import { gateway, owner, watcher } from '../../src/testing/inputs.ts';
import {
  ALICE,
  BOB,
  CAROL,
  FIRST,
  SECOND,
  signed,
  SCENARIO_START,
  TTL_SECONDS,
  UNKNOWN,
} from '../../src/testing/samples.ts';

const statuses = (outcome: ScenarioResult, id?: IntentId): readonly SubmissionStatus[] =>
  outcome.intent(id).submissions.map(({ status }) => status);

describe('a submission', () => {
  it('is prepared, then broadcast, and shown once a node has it', () => {
    given(created(), built())
      .when(gateway.prepare(FIRST))
      .then(prepared(FIRST))
      .showing({ state: 'created', txSignature: null })
      .when(gateway.recordBroadcast(FIRST))
      .then(pending(FIRST))
      .showing({ state: 'pending', txSignature: FIRST, fulfiller: BOB })
      .when(gateway.recordBroadcast(FIRST))
      .thenNothing();
  });

  it('changes nothing for a transaction that has already paid, broadcast by the wallet', () => {
    given(created())
      .when(watcher.landed(UNKNOWN))
      .when(gateway.prepare(UNKNOWN))
      .thenNothing()
      .when(gateway.recordBroadcast(UNKNOWN))
      .thenNothing();
  });

  it('claims the intent for its signer, not for the fulfiller of the build', () => {
    given(created(), built(), prepared(FIRST, { sender: CAROL }))
      .when(gateway.recordBroadcast(FIRST))
      .showing({ fulfiller: CAROL });
  });

  it('starts with one attempt after a node refused it, and can be released again', () => {
    given(created())
      .when(gateway.prepare(FIRST))
      .when(gateway.release(FIRST))
      .then(refused(FIRST))
      .when(gateway.prepare(FIRST))
      .then(prepared(FIRST, {}, 1, 2))
      .withOutcome({ attempts: 1 })
      .when(gateway.release(FIRST))
      .then(refused(FIRST));
  });

  it('is not released when it was prepared twice, because a node may have the other attempt', () => {
    given(created(), prepared(FIRST))
      .when(gateway.prepare(FIRST))
      .withOutcome({ attempts: 2 })
      .when(gateway.release(FIRST))
      .thenNothing()
      .when(gateway.cancel())
      .thenRefused('intent.submission_in_progress');
  });

  it('is replaced by another with the same sender and nonce, and can replace that one again', () => {
    const replaced = given(created(), prepared(FIRST))
      .when(gateway.prepare(SECOND))
      .then(prepared(SECOND, {}, 2, 1));
    expect(statuses(replaced)).toEqual(['replaced', 'live']);
    const back = replaced.when(gateway.prepare(FIRST)).then(prepared(FIRST, {}, 3, 2));
    expect(statuses(back)).toEqual(['live', 'replaced']);
  });

  it('is not released by a refusal that comes when the watcher may broadcast it too', () => {
    const late = SCENARIO_START + 1_000 + RELEASE_WITHIN_MS;
    given(created(), prepared(FIRST))
      .when(gateway.release(FIRST), late - 1)
      .then(refused(FIRST));
    given(created(), prepared(FIRST))
      .when(gateway.release(FIRST), late)
      .thenNothing()
      .when(gateway.cancel())
      .thenRefused('intent.submission_in_progress');
    expect(UNRELEASABLE_AFTER_MS).toBeGreaterThan(RELEASE_WITHIN_MS);
  });

  it('is not released when it replaced another, because the node may have refused it for that one', () => {
    given(created(), prepared(FIRST))
      .when(gateway.prepare(SECOND))
      .when(gateway.release(SECOND))
      .thenNothing()
      .when(gateway.prepare(UNKNOWN, { sender: CAROL }))
      .thenRefused('intent.submission_in_progress');
  });

  it('is refused with each term that differs, expected and actual', () => {
    const elsewhere: PreparedTransaction['terms'] = { ...signed(FIRST).terms, amount: 1n, requestor: CAROL };
    given(created())
      .when(gateway.prepare(FIRST, { terms: elsewhere }))
      .thenRefused('transaction.mismatch')
      .withOutcome({
        details: { amount: { expected: '12500000', actual: '1' }, recipient: { expected: ALICE, actual: CAROL } },
      });
  });

  it('is refused when the requestor is the sender', () => {
    given(created())
      .when(gateway.prepare(FIRST, { sender: ALICE }))
      .thenRefused('transaction.mismatch')
      .withOutcome({ details: { sender: { expected: null, actual: ALICE } } });
  });

  it('requires a retry with a new build when it is dropped', () => {
    const retry = given(created(), built(), prepared(FIRST), pending(FIRST))
      .when(watcher.dropped(FIRST))
      .then(retryRequired(FIRST))
      .showing({ state: 'created', retryRequired: true, txSignature: null, fulfiller: BOB })
      .knowing({ build: null });
    expect(statuses(retry)).toEqual(['dropped']);
    retry
      .when(gateway.recordBuild({ blob: 'second', replaces: 2 }))
      .then(built({ blob: 'second' }))
      .when(gateway.prepare(SECOND))
      .when(gateway.recordBroadcast(SECOND))
      .showing({ state: 'pending', retryRequired: false, txSignature: SECOND });
  });

  it('frees the intent and ends the build when it is dropped before its broadcast was recorded', () => {
    given(created(), built(), prepared(FIRST))
      .when(watcher.dropped(FIRST))
      .then(dropped(FIRST))
      .knowing({ build: null })
      .showing({ retryRequired: false })
      .when(gateway.cancel())
      .showing({ state: 'cancelled' });
  });

  it('requires no retry when it is dropped after the intent has expired', () => {
    given(created(), prepared(FIRST), pending(FIRST), retryRequired(FIRST))
      .when(owner.expire(), SCENARIO_START + TTL_SECONDS * 1000)
      .showing({ state: 'expired', retryRequired: false });
  });

  it('does not become live again when it lands after its release while another is live', () => {
    const other = { sender: CAROL };
    const onItsWay = given(created(), prepared(FIRST), refused(FIRST), prepared(SECOND, other), pending(FIRST)).when(
      watcher.lost(FIRST),
    );
    expect(statuses(onItsWay)).toEqual(['released', 'live']);
  });

  it('passes through pending to failed when it reverts before its broadcast was recorded', () => {
    const reverted = given(created(), prepared(FIRST))
      .when(watcher.reverted(FIRST))
      .then(pending(FIRST), failed(FIRST))
      .showing({ state: 'failed', txSignature: FIRST });
    expect(statuses(reverted)).toEqual(['reverted']);
  });

  it('fails the intent with its hash when it lands with other terms', () => {
    given(created(), prepared(FIRST))
      .when(watcher.landed(FIRST, { amount: 1n }))
      .showing({ state: 'failed', txSignature: FIRST });
  });
});

describe('a build', () => {
  it('sets the fulfiller and is identified by its version', () => {
    given(created())
      .when(gateway.recordBuild({ fulfiller: CAROL }))
      .showing({ fulfiller: CAROL })
      .when(gateway.recordBuild({ fulfiller: BOB, replaces: 2 }))
      .showing({ fulfiller: BOB })
      .when(gateway.recordBuild({ fulfiller: CAROL, replaces: 2 }))
      .thenRefused('build.superseded');
  });

  it('is the outcome of both commands when two arrive at once', () => {
    const first = given(created()).when(gateway.recordBuild({ blob: 'first' }));
    const { build } = first.intent();
    if (build === null) throw new Error('it was built');
    first
      .withOutcome({ build })
      .when(gateway.recordBuild({ blob: 'second' }))
      .thenNothing()
      .withOutcome({ build });
  });

  it('is refused when the requestor is the fulfiller', () => {
    given(created())
      .when(gateway.recordBuild({ fulfiller: ALICE }))
      .thenRefused('request.validation_failed')
      .withOutcome({ param: 'fulfiller' });
  });
});
