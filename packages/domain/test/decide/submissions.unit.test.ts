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
  it('is prepared, broadcast, and shown once a node has it', () => {
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

  it('of a transaction that has paid already, sent by the wallet itself, is no news', () => {
    given(created())
      .when(watcher.landed(UNKNOWN))
      .when(gateway.prepare(UNKNOWN))
      .thenNothing()
      .when(gateway.recordBroadcast(UNKNOWN))
      .thenNothing();
  });

  it('binds the intent to whoever signed, not to whom it was built for', () => {
    given(created(), built(), prepared(FIRST, { sender: CAROL }))
      .when(gateway.recordBroadcast(FIRST))
      .showing({ fulfiller: CAROL });
  });

  it('that the node refused begins anew, and may be refused again', () => {
    given(created())
      .when(gateway.prepare(FIRST))
      .when(gateway.release(FIRST))
      .then(refused(FIRST))
      .when(gateway.prepare(FIRST))
      .then(prepared(FIRST))
      .withOutcome({ attempts: 1 })
      .when(gateway.release(FIRST))
      .then(refused(FIRST));
  });

  it('prepared twice is not released: the other attempt may have been taken', () => {
    given(created(), prepared(FIRST))
      .when(gateway.prepare(FIRST))
      .withOutcome({ attempts: 2 })
      .when(gateway.release(FIRST))
      .thenNothing()
      .when(gateway.cancel())
      .thenRefused('intent.submission_in_progress');
  });

  it('gives way to another of the same sender and nonce, and takes its place back', () => {
    const replaced = given(created(), prepared(FIRST))
      .when(gateway.prepare(SECOND))
      .then(prepared(SECOND, {}, 2));
    expect(statuses(replaced)).toEqual(['replaced', 'live']);
    const back = replaced.when(gateway.prepare(FIRST)).then(prepared(FIRST, {}, 3));
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

  it('that took the place of another is not released: the node may have refused it because it has that one', () => {
    given(created(), prepared(FIRST))
      .when(gateway.prepare(SECOND))
      .when(gateway.release(SECOND))
      .thenNothing()
      .when(gateway.prepare(UNKNOWN, { sender: CAROL }))
      .thenRefused('intent.submission_in_progress');
  });

  it('says what is wrong with a transaction, each term with what was expected', () => {
    const elsewhere: PreparedTransaction['terms'] = { ...signed(FIRST).terms, amount: 1n, requestor: CAROL };
    given(created())
      .when(gateway.prepare(FIRST, { terms: elsewhere }))
      .thenRefused('transaction.mismatch')
      .withOutcome({
        details: { amount: { expected: '12500000', actual: '1' }, recipient: { expected: ALICE, actual: CAROL } },
      });
  });

  it('of the requestor itself is no payment', () => {
    given(created())
      .when(gateway.prepare(FIRST, { sender: ALICE }))
      .thenRefused('transaction.mismatch')
      .withOutcome({ details: { sender: { expected: null, actual: ALICE } } });
  });

  it('that is dropped asks the payer to sign again, a new build', () => {
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

  it('that is dropped before anybody heard of its broadcast frees the intent, and its build is dead too', () => {
    given(created(), built(), prepared(FIRST))
      .when(watcher.dropped(FIRST))
      .then(dropped(FIRST))
      .knowing({ build: null })
      .showing({ retryRequired: false })
      .when(gateway.cancel())
      .showing({ state: 'cancelled' });
  });

  it('that is dropped asks nobody to sign again once the intent has expired', () => {
    given(created(), prepared(FIRST), pending(FIRST), retryRequired(FIRST))
      .when(owner.expire(), SCENARIO_START + TTL_SECONDS * 1000)
      .showing({ state: 'expired', retryRequired: false });
  });

  it('that was released and lands while another is live never makes two of them live', () => {
    const other = { sender: CAROL };
    const onItsWay = given(created(), prepared(FIRST), refused(FIRST), prepared(SECOND, other), pending(FIRST)).when(
      watcher.lost(FIRST),
    );
    expect(statuses(onItsWay)).toEqual(['released', 'live']);
  });

  it('that reverts unseen passes pending on its way to failed', () => {
    const reverted = given(created(), prepared(FIRST))
      .when(watcher.reverted(FIRST))
      .then(pending(FIRST), failed(FIRST))
      .showing({ state: 'failed', txSignature: FIRST });
    expect(statuses(reverted)).toEqual(['reverted']);
  });

  it('that lands with other terms shows its transaction in the failure', () => {
    given(created(), prepared(FIRST))
      .when(watcher.landed(FIRST, { amount: 1n }))
      .showing({ state: 'failed', txSignature: FIRST });
  });
});

describe('a build', () => {
  it('binds the intent to its fulfiller, and its version is its name', () => {
    given(created())
      .when(gateway.recordBuild({ fulfiller: CAROL }))
      .showing({ fulfiller: CAROL })
      .when(gateway.recordBuild({ fulfiller: BOB, replaces: 2 }))
      .showing({ fulfiller: BOB })
      .when(gateway.recordBuild({ fulfiller: CAROL, replaces: 2 }))
      .thenRefused('build.superseded');
  });

  it('of two at once the first is the answer to both', () => {
    const first = given(created()).when(gateway.recordBuild({ blob: 'first' }));
    const { build } = first.intent();
    if (build === null) throw new Error('it was built');
    first
      .withOutcome({ build })
      .when(gateway.recordBuild({ blob: 'second' }))
      .thenNothing()
      .withOutcome({ build });
  });

  it('is not for the requestor itself', () => {
    given(created())
      .when(gateway.recordBuild({ fulfiller: ALICE }))
      .thenRefused('request.validation_failed')
      .withOutcome({ param: 'fulfiller' });
  });
});
