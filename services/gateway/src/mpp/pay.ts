import type { MppMethod } from '@pf/chains';
import { emptyRequest, OPERATIONS } from '@pf/contracts';
import { answerOnce, type Database, type Keyring } from '@pf/database';
import {
  IDEMPOTENCY_WINDOW_MS,
  isPastClaim,
  type PaymentIntent,
  refusalUnlessCreated,
  type TransactionHash,
  view,
} from '@pf/domain';
import { readBody } from '@pf/http';
import type { Response } from 'express';
import { ApiError } from '../api-error.ts';
import type { Holder } from '../api-keys.ts';
import type { Call, Endpoint } from '../endpoint.ts';
import type { Feeds } from '../events/feeds.ts';
import { adapterOf, pathId, requireIntent, requirePayable } from '../intents/lookup.ts';
import { hashOf, requireUnended, type SubmitDependencies, submitPayment } from '../intents/submit.ts';
import type { OpenStreams } from '../limits/open-streams.ts';
import { requireAllowed } from '../refusals.ts';
import { headerOf, type MppChallenges } from './challenges.ts';
import { confirmation } from './confirmation.ts';
import { readCredential } from './credential.ts';

interface Dependencies extends SubmitDependencies {
  readonly database: Database;
  readonly feeds: Pick<Feeds, 'follow'>;
  /** Encrypts what was answered. */
  readonly keyring: Keyring;
  readonly mppChallenges: Pick<MppChallenges, 'make'>;
  /** Milliseconds since 1970, by a clock that all processes share. */
  readonly now: () => number;
  readonly streams: Pick<OpenStreams, 'open'>;
}

/** How long a response waits for the confirmation: most chains take a second or two. */
const WAIT_MS = 20_000;

/**
 * POST /intents/{id}/mpp: asks for the payment by a challenge and, with a credential that answers it, is paid. A
 * credential is never answered by another challenge: clients would pay that, too, and some have paid already.
 */
export const payByMpp = (dependencies: Dependencies, waitMs: number = WAIT_MS): Endpoint => ({
  operation: OPERATIONS.payByMpp,
  async handle(call) {
    const { holder, request, response } = call;
    const { adapters, intents, partitions } = dependencies;
    const id = pathId(request, partitions);
    await readBody(request, response, emptyRequest);
    const intent = await requireIntent(intents, id, holder);
    const { mpp } = adapterOf(adapters, intent);
    if (!mpp)
      throw new ApiError('chain.not_available', {
        message: `The Machine Payments Protocol has no form for payments on ${intent.chain}: build and submit instead.`,
        param: 'chain',
        details: { chain: intent.chain },
      });
    if (holder.scope === 'mpp_challenge') return pay(dependencies, call, intent, mpp, waitMs);
    await requirePayable(intents, intent, holder, 'it cannot be paid');
    challenge(response, dependencies.mppChallenges, intent, mpp);
    return null;
  },
});

function challenge(
  response: Response,
  challenges: Pick<MppChallenges, 'make'>,
  intent: PaymentIntent,
  mpp: MppMethod,
): void {
  const made = challenges.make(intent, mpp);
  const problem = {
    type: 'https://paymentauth.org/problems/payment-required',
    title: 'Payment Required',
    status: 402,
    detail: `Pay ${intent.amount} ${intent.token} on ${intent.chain}.`,
    challengeId: made.id,
  };
  response
    .writeHead(402, {
      'WWW-Authenticate': headerOf(made),
      'Content-Type': 'application/problem+json; charset=utf-8',
    })
    .end(JSON.stringify(problem));
}

/** The credential was verified: its challenge was made here, for this intent. */
async function pay(
  dependencies: Dependencies,
  { holder, request, response }: Call,
  intent: PaymentIntent,
  mpp: MppMethod,
  waitMs: number,
): ReturnType<Endpoint['handle']> {
  const { adapters, feeds, intents, limiter, now, streams } = dependencies;
  const { id } = intent;
  const adapter = adapterOf(adapters, intent);
  const credential = readCredential(request.headers.authorization);
  if (!credential) throw new ApiError('api_key.invalid');
  if (Date.parse(credential.challenge.expires) <= now())
    throw new ApiError('mpp.challenge_expired', { details: { intent_id: id, current_state: intent.status } });
  await limiter.admitSubmit(id, holder, request.ip);
  requireUnended(intent);
  const submitted = mpp.parse(credential.payload);
  if (!submitted.ok)
    throw new ApiError('transaction.malformed', {
      message: `The payload of the credential ${submitted.problem}.`,
      param: 'payload',
    });
  const hash = hashOf(submitted.value);
  // It may be, before its client tells of it: a watcher has found the payment.
  if (isPaidBy(intent, hash)) return answer(dependencies, holder, intent, mpp.name, hash);
  if (!isPastClaim(intent, hash) || intent.status !== 'pending')
    requireAllowed(refusalUnlessCreated(intent, 'it cannot be paid'));
  const isAway = new AbortController();
  const release = streams.open(holder, request.ip);
  const leave = (): void => isAway.abort();
  response.once('close', leave);
  try {
    await submitPayment(dependencies, {
      requested: { intent, adapter, named: null },
      call: { holder, request },
      submitted: submitted.value,
      senderOf: (signed) => mpp.senderOf(signed),
    });
    const waited = await confirmation(feeds, intent, AbortSignal.any([isAway.signal, AbortSignal.timeout(waitMs)]));
    const newest = waited ?? (await requireIntent(intents, intent.id, holder));
    return await answer(dependencies, holder, newest, mpp.name, hash);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'intent.already_fulfilled') throw error;
    // A watcher may have found the payment during this request.
    const newest = await requireIntent(intents, id, holder);
    if (!isPaidBy(newest, hash)) throw error;
    return await answer(dependencies, holder, newest, mpp.name, hash);
  } finally {
    release();
    response.off('close', leave);
  }
}

const isPaidBy = ({ status, txSignature }: PaymentIntent, hash: TransactionHash): boolean =>
  (status === 'confirmed' || status === 'finalized') && txSignature === hash;

/** The receipt of a payment is given once, whichever gateways are asked for it. */
async function answer(
  { database, keyring, now }: Pick<Dependencies, 'database' | 'keyring' | 'now'>,
  { accountId, livemode }: Holder,
  intent: PaymentIntent,
  method: string,
  hash: TransactionHash,
): ReturnType<Endpoint['handle']> {
  const body = { intent: view(intent), txSignature: hash };
  const { id, status, confirmedAt } = intent;
  if (isPaidBy(intent, hash) && confirmedAt !== null) {
    const key = { accountId, livemode, operation: `mpp ${id}`, idempotencyKey: hash };
    const { replayed } = await answerOnce(database, keyring, key, new Date(now()), async () => ({}));
    // What was answered is remembered for as long.
    if (replayed || now() - confirmedAt >= IDEMPOTENCY_WINDOW_MS)
      requireAllowed(refusalUnlessCreated(intent, 'it cannot be paid'));
    const receipt = {
      method,
      reference: hash,
      status: 'success',
      timestamp: new Date(confirmedAt).toISOString(),
    };
    const encoded = Buffer.from(JSON.stringify(receipt)).toString('base64url');
    return { status: 200, body, headers: { 'Payment-Receipt': encoded } };
  }
  if (status === 'failed')
    throw new ApiError('transaction.rejected', {
      message: 'The transaction landed without effect. Fetch the intent for what happened.',
      details: { intent_id: intent.id, reason: 'it failed on chain' },
    });
  return { status: 202, body };
}
