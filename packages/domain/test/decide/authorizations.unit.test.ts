import { describe, it } from '@jest/globals';
import type { PreparedTransaction, TransactionHash } from '@pf/domain';
import { given } from '../../src/testing/given.ts';
import { built, confirmed, created, dropped, pending, prepared } from '../../src/testing/events.ts';
import { gateway, owner, watcher } from '../../src/testing/inputs.ts';
import { CAROL, FIRST, REFERENCE, SCENARIO_START, SECOND, TTL_SECONDS, UNKNOWN } from '../../src/testing/samples.ts';

/** What Bob has authorized until then: anyone may send it, in a transaction of any hash. */
const until = (validBefore: bigint, change: Partial<PreparedTransaction> = {}): Partial<PreparedTransaction> => ({
  nonce: REFERENCE,
  lifetime: { kind: 'time', validBefore },
  ...change,
});
const NOON = 1_800_000_000n;
const AUTHORIZED = FIRST;
const AGAIN = SECOND;
const SENT = UNKNOWN;
const authorize = (hash: TransactionHash = AUTHORIZED, validBefore = NOON) => gateway.prepare(hash, until(validBefore));

describe('an authorization', () => {
  it('claims the intent, which stays as it was: no node has anything yet', () => {
    given(created())
      .when(authorize())
      .then(prepared(AUTHORIZED, until(NOON)))
      .showing({ state: 'created', txSignature: null, fulfiller: null });
  });

  it('keeps other payers out, and cancelling', () => {
    const claimed = given(created(), prepared(AUTHORIZED, until(NOON)));
    claimed.when(gateway.prepare(AGAIN, { sender: CAROL })).thenRefused('intent.submission_in_progress');
    claimed.when(gateway.recordBuild({ fulfiller: CAROL })).thenRefused('intent.submission_in_progress');
    claimed.when(gateway.prepare(AGAIN, until(NOON, { sender: CAROL }))).thenRefused('intent.submission_in_progress');
    claimed.when(gateway.cancel()).thenRefused('intent.submission_in_progress');
  });

  it('keeps its own wallet from a transaction beside it, also from one that was built before', () => {
    const claimed = given(created(), built(), prepared(AUTHORIZED, until(NOON)));
    claimed.when(gateway.recordBuild()).thenRefused('intent.submission_in_progress');
    claimed.when(gateway.prepare(AGAIN)).thenRefused('intent.submission_in_progress');
  });

  it('is replaced by another of its wallet that lives as long: both have one nonce', () => {
    given(created(), prepared(AUTHORIZED, until(NOON)))
      .when(authorize(AGAIN, NOON - 1n))
      .thenRefused('intent.submission_in_progress')
      .when(authorize(AGAIN, NOON + 60n))
      .then(prepared(AGAIN, until(NOON + 60n), 2, 1));
  });

  it('pays by whatever transaction brought it, and its claim ends when its nonce is used', () => {
    given(created(), prepared(AUTHORIZED, until(NOON)))
      .when(watcher.landed(SENT))
      .then(pending(SENT), confirmed(SENT))
      .showing({ state: 'confirmed', txSignature: SENT })
      .when(watcher.dropped(AUTHORIZED))
      .then(dropped(AUTHORIZED))
      .showing({ state: 'confirmed', txSignature: SENT });
  });

  it('leaves the intent to others once it is over', () => {
    given(created(), prepared(AUTHORIZED, until(NOON)))
      .when(watcher.dropped(AUTHORIZED))
      .then(dropped(AUTHORIZED))
      .showing({ state: 'created', retryRequired: false })
      .when(gateway.prepare(AGAIN, { sender: CAROL }))
      .then(prepared(AGAIN, { sender: CAROL }));
  });

  it('is under way at the end of its intent, and may still pay it late', () => {
    given(created(), prepared(AUTHORIZED, until(NOON)))
      .when(owner.expire(), SCENARIO_START + TTL_SECONDS * 1000)
      .showing({ state: 'expired', pendingAtExpiry: true })
      .when(watcher.landed(SENT))
      .showing({ state: 'confirmed', txSignature: SENT });
  });
});
